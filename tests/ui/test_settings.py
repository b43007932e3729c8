"""Settings from the page, a link or the API: brought into shape or refused in words."""

from dataclasses import replace

import pytest

from specviz.errors import SpecvizError
from specviz.ui import settings
from specviz.ui.options import Options


def read(values):
    return settings.read([values[name] for name in settings.FIELDS])


def test_settings_survive_the_page(values):
    values |= {"seed": str(2**63 - 1), "stop": "END\n\\n\\n", "top_p": 0.9, "chat": False}
    read_once = read(values)
    assert read_once.config.seed == 2**63 - 1
    assert read_once.config.stop == ("END", "\n\n")
    assert settings.read(read_once.values()) == read_once


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("k", 10**9, "errors.range_int"),
        ("k", -1, "errors.range_int"),
        ("k", "3", "errors.number"),
        ("k", True, "errors.number"),
        ("k", None, "errors.number"),
        ("k", [5], "errors.number"),
        ("temperature", float("nan"), "errors.range"),
        ("temperature", float("inf"), "errors.range"),
        ("top_p", 1.5, "errors.range"),
        ("seed", "2 or 3", "errors.number"),
        ("seed", "-1", "errors.number"),
        ("seed", str(2**63), "errors.range_int"),
        ("method", "telepathy", "errors.choice"),
        ("method", ["draft"], "errors.choice"),
        ("stop", ["a"], "errors.stop"),
        ("chat", "yes", "errors.boolean"),
        ("prompt", 5, "ui.not_text"),
        ("prompt", "x" * 10_000_000, "errors.prompt_huge"),
        ("pair", None, "ui.not_text"),
    ],
)
def test_wrong_values_are_named(values, name, value, key):
    with pytest.raises(SpecvizError) as caught:
        read(values | {name: value})
    assert caught.value.key == key
    assert len(str(caught.value)) < 400


def test_a_link_fills_in_what_it_says(values):
    base = read(values)
    link = {"prompt": "Hi <b>", "k": "7", "temperature": "1.5", "seed": "42", "chat": "0", "lang": "zh-CN", "x": "y"}
    found = settings.from_link(link, base)
    assert (found.prompt, found.config.k, found.config.temperature, found.config.seed) == ("Hi <b>", 7, 1.5, 42)
    assert found.config.chat is False
    assert found.config.max_new_tokens == base.config.max_new_tokens


@pytest.mark.parametrize(
    "link", [{"k": "1e9"}, {"k": "9" * 30}, {"temperature": "nan"}, {"chat": "maybe"}, {"seed": "x"}]
)
def test_a_wrong_link_is_refused(values, link):
    with pytest.raises(SpecvizError):
        settings.from_link(link, read(values))


def test_a_public_page_has_tighter_limits(values):
    config = read(values).config
    Options().check("x" * 5000, config)
    Options(public=True).check("short", config)
    for prompt, more in (("x" * 5000, {}), ("short", {"k": 17}), ("short", {"max_new_tokens": 1000})):
        with pytest.raises(SpecvizError):
            Options(public=True).check(prompt, read(values | more).config)


def test_public_pages_take_in_no_long_traces(sample):
    public, private = Options(public=True), Options()
    assert public.max_trace_bytes < private.max_trace_bytes
    public.check_trace(sample)
    long = replace(sample, prompt=replace(sample.prompt, tokens=sample.prompt.tokens * 100))
    for trace in (long, replace(sample, rounds=sample.rounds * 20)):
        private.check_trace(trace)
        with pytest.raises(SpecvizError):
            public.check_trace(trace)

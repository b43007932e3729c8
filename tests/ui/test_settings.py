"""Settings from the page, a link or the API: brought into shape or refused in words."""

import json
from dataclasses import replace

import pytest

from specviz.choices import of_profile
from specviz.errors import SpecvizError
from specviz.models.tree_presets import write_tree
from specviz.ui import settings, step_handlers
from specviz.ui.options import Options
from tests.trees import tree_trace


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
        ("k", None, "errors.empty_number"),
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
        ("verify", "magic", "errors.choice"),
        ("siblings", ["iid"], "errors.choice"),
        ("branch", 0, "errors.range_int"),
        ("eps", float("nan"), "errors.range"),
        ("delta", "0.3", "errors.number"),
        ("tree", 7, "ui.not_text"),
        ("tree", "{", "ui.tree_syntax"),
        ("tree", "[[0], [0, 0, 0]]", "errors.tree_prefix"),
        ("tree", "[[0], [0]]", "errors.tree_twice"),
        ("tree", "[[0.5]]", "errors.tree_form"),
        ("tree", "[[0]," + " " * 30_000 + "[1]]", "errors.tree_text"),
        ("tree", json.dumps([[i, j] for i in range(20) for j in range(20)]), "errors.tree_size"),
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


TREE = "[[0],[1],[0,0]]"


def test_a_tree_survives_the_page_and_a_link(values):
    values |= {"tree": TREE, "siblings": "iid", "verify": "typical", "eps": 0.2, "delta": 0.5}
    once = read(values)
    assert once.config.tree == ((0,), (1,), (0, 0))
    assert settings.read(once.values()) == once
    link = {"tree": TREE, "siblings": "iid", "verify": "typical", "eps": "0.2", "delta": "0.5"}
    base = read(values | {"tree": "", "siblings": "fixed", "verify": "lossless", "eps": 0.09, "delta": 0.3})
    assert settings.from_link(link, base) == once


@pytest.mark.parametrize(
    ("method", "tree", "nodes"),
    [("skip", TREE, 0), ("draft", TREE, 0), ("medusa", TREE, 0), ("eagle", "", 12), ("lookup", "", 0), ("none", "", 0)],
)
def test_a_tree_counts_only_for_those_who_can_draft_it(values, method, tree, nodes):
    config = read(values | {"method": method, "tree": TREE, "nodes": 12}).config
    assert (len(config.tree), config.nodes) == (3 if tree else 0, nodes)


def test_what_cannot_be_drafted_does_not_have_to_be_right(values):
    assert read(values | {"method": "none", "tree": "[[9,9]]"}).config.tree == ()


def test_a_tree_trace_goes_on_with_its_own_settings():
    trace = tree_trace([(0,), (1,), (0, 0)], path=(0,))
    shown = settings.of_trace(trace, "smollm2-135m")
    assert step_handlers.continues(trace, settings.read(shown.values()))
    chain = dict(zip(settings.FIELDS, shown.values(), strict=True)) | {"tree": ""}
    assert not step_handlers.continues(trace, read(chain))


@pytest.mark.parametrize(
    "link", [{"k": "1e9"}, {"k": "9" * 30}, {"temperature": "nan"}, {"chat": "maybe"}, {"seed": "x"}]
)
def test_a_wrong_link_is_refused(values, link):
    with pytest.raises(SpecvizError):
        settings.from_link(link, read(values))


def test_a_link_never_shortens_a_prompt(values):
    long = "long " * 401
    with pytest.raises(SpecvizError, match="has 2005 characters, and a link carries at most 2000"):
        settings.from_link({"prompt": long}, read(values))
    assert settings.from_link({"prompt": long[:2000]}, read(values)).prompt == long[:2000]


def test_a_public_page_has_tighter_limits(values):
    config = read(values).config
    Options().check("x" * 5000, config)
    Options(public=True).check("short", config)
    Options(public=True).check("short", read(values | {"branch": 9}).config)  # a chain: it does not count
    wide = {"method": "eagle", "nodes": 16, "branch": 9}
    for prompt, more in (("x" * 5000, {}), ("short", {"k": 17}), ("short", {"max_new_tokens": 1000}), ("short", wide)):
        with pytest.raises(SpecvizError):
            Options(public=True).check(prompt, read(values | more).config)


def test_public_trees_are_limited(values):
    public = Options(public=True)
    wide = read(values | {"tree": write_tree(of_profile((32, 33)))}).config
    with pytest.raises(SpecvizError, match="at most 64 nodes"):
        public.check("short", wide)
    Options().check("short", wide)
    with pytest.raises(SpecvizError):
        public.check("short", read(values | {"method": "eagle", "nodes": 65}).config)
    public.check("short", read(values | {"tree": write_tree(of_profile((32, 32)))}).config)


def test_no_trace_is_taken_in_that_no_run_could_make():
    trace = tree_trace([(0,), (1,)], path=(0,))
    draft = replace(trace.rounds[0].draft, tokens=(1,) * 300, parents=(-1,) * 300, q=(0.5,) * 300)
    huge = replace(trace, rounds=(replace(trace.rounds[0], draft=draft),))
    Options().check_trace(trace)
    for options in (Options(), Options(public=True)):
        with pytest.raises(SpecvizError) as caught:
            options.check_trace(huge)
        assert caught.value.key == "errors.tree_size"


def test_public_pages_take_in_no_long_traces(sample):
    public, private = Options(public=True), Options()
    assert public.max_trace_bytes < private.max_trace_bytes
    public.check_trace(sample)
    long = replace(sample, prompt=replace(sample.prompt, tokens=sample.prompt.tokens * 100))
    for trace in (long, replace(sample, rounds=sample.rounds * 20)):
        private.check_trace(trace)
        with pytest.raises(SpecvizError):
            public.check_trace(trace)

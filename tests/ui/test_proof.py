"""The Proof tab's handlers: what is refused, what a check shows, stopping, both languages; and the real pair."""

import json
import re
import time
from dataclasses import replace
from types import SimpleNamespace

import gradio as gr
import pytest

from specviz.coupling import FAULTS
from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES, t
from specviz.models import lab
from specviz.models.check import check_identity
from specviz.proof import Cached, Greedy, Identity, Parting, Report
from specviz.trace import Token
from specviz.ui import proof_handlers
from specviz.ui.fields import LanguageField
from specviz.ui.options import Options
from specviz.ui.runner import Runner
from specviz.views import proof_chart, proof_words
from tests.ui.conftest import loaded

P = [0.30, 0.25, 0.20, 0.15, 0.10]
Q = [0.10, 0.15, 0.05, 0.30, 0.40]
BARS = json.dumps({"p": P, "q": Q})
TOY = ("toy", "none", 400, BARS, "", "skip", 1.0, "0")


@pytest.fixture
def toy_runner():
    made = Runner(Options(), load=lambda _id, _progress: pytest.fail("the toy needs no models"))
    yield made
    made.close()


def changed(values, **changes):
    names = ("where", "fault", "runs", "bars", "prompt", "method", "temperature", "seed")
    return [changes.get(name, value) for name, value in zip(names, values, strict=True)]


def check(runner, *values, lang="en", session="s"):
    return list(proof_handlers.run(runner, values, session, {"lang": lang}))


def busy(update):
    run, stop = (button["interactive"] for button in update[-2:])
    assert run != stop
    return stop


@pytest.mark.parametrize("fault", ["always_accept", "resample_p"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_fault_in_the_toy_turns_the_check_red(toy_runner, fault, lang):
    updates = check(toy_runner, *changed(TOY, fault=fault, runs=1000), lang=lang)
    assert busy(updates[0])
    assert not busy(updates[-1])
    report, verdict, figure, details, identity, *_ = updates[-2]
    assert report.trial.verdict == "caught"
    assert "pf-caught" in verdict
    assert "✕" in verdict
    assert len(figure["value"].data) == 3  # p, what came out, the fault's exact law
    assert details.count("<tr") > 3
    assert identity == ""
    assert not re.search(r"\{\w+\}|proof\.", verdict + details)


def test_the_engine_as_it_is_turns_it_green_and_states_its_power(toy_runner):
    *_, last, _ = check(toy_runner, *TOY)
    report, verdict, _, details, *_ = last
    assert report.trial.verdict == "passed"
    assert "pf-passed" in verdict
    assert "✓ no difference" in details
    assert all(f"≥ {test.detectable:.3f}" in details for test in report.trial.tests)
    assert "50 / 100 / 200 / 400" in details


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_to_compare_is_neither_green_nor_red(toy_runner, lang):
    for p, some in (([1.0, 0, 0, 0, 0], {"en": "only one", "zh-CN": "只有一种"}), ([0.9999, 0.0001, 0, 0, 0], {})):
        *_, last, _ = check(toy_runner, *changed(TOY, runs=200, bars=json.dumps({"p": p, "q": Q})), lang=lang)
        assert last[0].trial.verdict == "untested"
        assert "pf-untested" in last[1]
        assert some.get(lang, "") in last[1].lower()
        assert not re.search(r"\{\w+\}|proof\.", last[1])


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_wrong_cache_is_told_apart_from_a_wrong_distribution(toy_runner, lang):
    *_, last, _ = check(toy_runner, *TOY)
    parted = replace(last[0].trial, caught=40, n=40, cached=Cached(40, 2, 1))
    report = replace(last[0], trial=parted)
    verdict, words = proof_words.verdict(report, lang), t(lang, "proof.about_caught_cache")
    assert "pf-caught" in verdict
    assert words in verdict
    assert t(lang, "proof.cached", runs=40, parted=2, allowed=1) in proof_words.details(report, lang)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"where": "moon"}, "errors.choice"), ({"fault": "gremlin"}, "errors.choice"),
        ({"fault": None}, "errors.choice"),
        ({"runs": 10**9}, "errors.range_int"), ({"runs": "many"}, "errors.number"), ({"runs": float("nan")}, None),
        ({"bars": "{"}, "proof.not_probs"), ({"bars": json.dumps({"p": P[:4], "q": Q})}, "proof.not_probs"),
        ({"bars": json.dumps({"p": [1, 1, 1, 1, 1], "q": Q})}, "proof.not_probs"), ({"bars": "[" * 900}, None),
        ({"bars": json.dumps({"p": [-1, 2, 0, 0, 0], "q": Q})}, "errors.range"), ({"bars": None}, "proof.not_probs"),
        ({"bars": json.dumps({"p": ["x"] * 5, "q": Q})}, "errors.number"), ({"seed": "0x1"}, "errors.number"),
        ({"where": "pair", "temperature": 0}, "proof.too_cold"), ({"where": "pair", "prompt": 3}, "ui.not_text"),
        ({"where": "pair", "method": "lookup", "fault": "hot_q"}, "errors.fault_method"),
        ({"where": "pair", "method": "magic"}, "errors.choice"),
        ({"where": "pair", "temperature": 1e9}, "errors.range"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(toy_runner, changes, key):
    values = changed(TOY, **changes)
    with pytest.raises(SpecvizError) as caught:
        proof_handlers.read(values)
    assert key is None or caught.value.key == key
    for lang in LANGUAGES:
        (update,) = check(toy_runner, *values, lang=lang)
        assert 'role="alert"' in update[1]
        assert not busy(update)


@pytest.mark.parametrize("lang", [None, 7, ["en"], "xx", "../en", {"en": 1}])
def test_a_language_that_does_not_exist_is_english(lang):
    assert LanguageField().preprocess(lang) == "en"
    assert [LanguageField().preprocess(known) for known in LANGUAGES] == list(LANGUAGES)


def test_a_public_page_has_its_limits():
    runner = Runner(Options(public=True), load=lambda _id, _progress: pytest.fail("refused before that"))
    (update,) = check(runner, *changed(TOY, where="pair", prompt="x" * 5000))
    assert 'role="alert"' in update[1]


def test_stop_ends_it_within_a_round(toy_runner):
    updates = proof_handlers.run(toy_runner, changed(TOY, runs=20_000), "stopper", {"lang": "en"})
    for update in updates:
        if update[0] is not None and isinstance(update[0], Report):
            break
    assert toy_runner.stop("stopper")
    *_, last, end = updates
    assert last[0].trial.verdict == "stopped"
    assert last[0].trial.n < 2000
    assert "pf-stopped" in last[1]
    assert not busy(end)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_fault_that_is_not_caught_is_no_green_tick(toy_runner, lang):
    same = json.dumps({"p": P, "q": P})  # everything is accepted anyway
    *_, last, _ = check(toy_runner, *changed(TOY, fault="always_accept", bars=same), lang=lang)
    assert last[0].trial.verdict == "passed"
    assert "pf-untested" in last[1]
    assert "✓" not in last[1]


def _until_stopped(job):
    while not job.stopped:
        time.sleep(0.01)
        yield 0


def test_stopped_before_its_first_run(toy_runner):
    """While it waits for others; another check of the session pushes it out just the same."""
    another = proof_handlers.run(toy_runner, TOY, "waits", {"lang": "en"})
    for end in (lambda: toy_runner.stop("waits"), lambda: next(another)):
        before = toy_runner.work("other", None, lambda job, _: _until_stopped(job), "main")
        updates = proof_handlers.run(toy_runner, TOY, "waits", {"lang": "en"})
        next(updates)
        end()
        *_, last, over = updates
        before.stop()
        assert last[0].trial.verdict == "stopped"
        assert "pf-stopped" in last[1]
        assert last[2]["visible"] is False
        assert last[3] == ""
        assert not busy(over)


def test_a_check_speaks_the_language_of_the_moment(toy_runner):
    spoken = {"lang": "en"}
    updates = proof_handlers.run(toy_runner, changed(TOY, runs=20_000), "s", spoken)
    assert "Preparing" in next(updates)[1]
    spoken["lang"] = "zh-CN"
    said = next(update for update in updates if isinstance(update[0], Report))
    assert "目前没有差别" in said[1]
    toy_runner.stop("s")
    *_, last, _ = updates
    assert "停止" in last[1]


def test_draws_for_the_toy():
    sent = json.loads(proof_handlers.draws(SimpleNamespace(id=3, p=P, q=Q, seed=1)))
    assert sent["id"] == 3
    assert len(sent["token"]) == len(sent["accepted"]) == proof_handlers.DRAWS
    assert set(sent["token"]) == set("01234")
    again = json.loads(proof_handlers.draws(SimpleNamespace(id=4, p=P, q=Q, seed=1)))
    assert again["token"] == sent["token"]
    for wrong in ({"p": None}, {"q": [1, 2, 3]}, {"seed": -1}, {"id": "x"}, {"p": [float("nan")] * 5}):
        with pytest.raises(SpecvizError):
            proof_handlers.draws(SimpleNamespace(**{"id": 3, "p": P, "q": Q, "seed": 1} | wrong))
    for sent in (None, 7, "pq", [], {}):  # by a script: an event with anything for its data
        with pytest.raises(SpecvizError):
            proof_handlers.draws(gr.EventData(None, sent))


def test_a_parting_is_told_with_its_gap():
    vocab = (Token(1, " red"), Token(2, "<img src=x>"), Token(3, " sea"))
    gaps = (2.0, 0.0004)
    for tie, gap in ((True, 0.0004), (False, 3.25)):
        parting = Parting("prompt", 1, 2, 3, gap, tie)
        one = Greedy("prompt <b>", (1, 2), (1, 3), gaps, parting)
        report = Report("pair", None, identity=Identity(tie, 2, (parting,), (one,)), vocab=vocab)
        for lang in LANGUAGES:
            html = proof_words.identity(report, lang)
            assert f"{gap:.2g}" in html
            assert "<img" not in html
            assert "<b>prompt <b>" not in html
            assert ("pf-passed" in html) == tie
    ended = Parting("prompt", 1, -1, 3, None, False)
    one = Greedy("prompt", (1,), (1, 3), (2.0,), ended)
    report = Report("pair", None, identity=Identity(False, 1, (ended,), (one,)), vocab=vocab)
    assert "ends at token 2" in proof_words.identity(report, "en")


def test_p_values_are_short():
    assert [proof_words.p_of(x) for x in (0, 0.5, 0.04, 6.21e-5, 3e-38)] == [
        "0", "0.500", "0.040", "6.2 × 10⁻⁵", "3.0 × 10⁻³⁸",
    ]  # fmt: skip


def test_nothing_yet():
    assert proof_chart.first_token(Report("toy", None), "en") is None
    assert "pf-running" in proof_words.verdict(Report("toy", None), "en")
    assert proof_handlers.show(None, "en")[0] == ""


def test_a_prompt_longer_than_the_context_is_refused_before_any_pass(tiny_pair, monkeypatch):
    monkeypatch.setattr(type(tiny_pair.target), "forward", lambda *_, **__: pytest.fail("a pass was made"))
    asked = lab.read("pair", "none", 200, None, None, "é" * 1000, "draft", 1.0, 0)
    with pytest.raises(SpecvizError) as caught:
        list(lab.reports(asked, tiny_pair, lambda: False))
    assert caught.value.key == "errors.prompt_long"
    with pytest.raises(SpecvizError, match="at most"):  # nor is there room for what it is to write
        check_identity(tiny_pair, asked.config, ["a"], tokens=tiny_pair.max_context)


@pytest.mark.pair
@pytest.mark.parametrize("fault", ["reuse_u", "stale_row"])
def test_a_fault_in_the_real_pair_is_caught(runner, fault):
    """The two that bend least on the first token; the rest: benchmarks and the command line."""
    asked = lab.read("pair", fault, 1000, None, None, "Invent a name for a cat.", "draft", 1.0, 0)
    assert fault in FAULTS
    *_, report = lab.reports(asked, loaded(runner.loader()), lambda: False)
    assert report.trial.verdict == "caught"
    assert report.trial.changed
    assert report.identity.passed == (fault == "reuse_u")  # at temperature 0 nothing is drawn
    assert {token.id for token in report.vocab} >= {cell.token for cell in report.trial.cells}


@pytest.mark.pair
def test_the_pair_as_it_is_passes(runner):
    asked = lab.read("pair", "none", 200, None, None, "Invent a name for a cat.", "draft", 1.0, 0)
    *_, report = lab.reports(asked, loaded(runner.loader()), lambda: False)
    assert report.trial.verdict == "passed"
    assert report.identity.passed
    assert len(report.identity.outputs) == 3
    assert all(len(one.gaps) == len(one.plain) for one in report.identity.outputs)

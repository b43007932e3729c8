"""The figures and sentences of one position, on a hand-made round and on the bundled runs."""

import json
import re
from dataclasses import replace

import pytest

from specviz.config import RunConfig
from specviz.trace import (
    Draft,
    Final,
    Kind,
    Models,
    Position,
    Prompt,
    Round,
    Rows,
    Status,
    Times,
    Token,
    Trace,
    Verdict,
)  # fmt: skip
from specviz.views import compare, distributions, words

NASTY = '"><img src=x onerror=alert(1)>'


@pytest.fixture
def trace():
    """p = [.3, .25, .2, .15, .1], q = [.1, .15, .05, .3, .4]; token 14 was rejected, 10 recovered."""
    ids = (10, 11, 12, 13, 14)
    p, q = (0.3, 0.25, 0.2, 0.15, 0.1), (0.1, 0.15, 0.05, 0.3, 0.4)
    judged = Position(ids, p, q, (4 / 9, 2 / 9, 3 / 9, 0.0, 0.0), 1.5, 1.4, 0.55)
    bonus = Position(ids, p, (), (), 1.5, None, None)
    verdicts = (Verdict(Status.REJECTED, 0.1, 0.4, 0.72),)
    final = Final(10, Kind.RECOVERED, 4 / 9, 0.2)
    times = Times((1.0,), 2.0, 0.1, 0.1)
    first = Round(
        0, 1, Draft((14,), (-1,), (0.4,)), verdicts, (), final, times, Rows(0, 2, 1), Rows(0, 1, 1), (judged, bonus)
    )
    vocab = (
        Token(1, "Hi"),
        Token(10, " sky"),
        Token(11, NASTY),
        Token(12, "<b>x</b>"),
        Token(13, "\u202e"),
        Token(14, " sea"),
    )
    return Trace(
        RunConfig("skip", k=1, temperature=1.0),
        Models("x", "t", "d", "cpu", "float32"),
        Prompt("Hi", (1,)),
        (first,),
        vocab=vocab,
    )


def parts(figure):
    return {bar["name"]: dict(zip(bar["x"], bar["y"], strict=True)) for bar in json.loads(figure.to_json())["data"]}


def test_what_p_and_q_share_and_what_either_has_more_of(trace):
    shown = parts(distributions.comparison(trace, 0, 0, "en"))
    assert shown["min(p, q): accepted"]["␣sky"] == pytest.approx(0.1)
    assert shown["p > q: leftover"]["␣sky"] == pytest.approx(0.2)
    assert shown["q > p: rejected"]["␣sea"] == pytest.approx(0.3)
    assert sum(shown["min(p, q): accepted"].values()) == pytest.approx(0.55)
    assert sum(shown["p > q: leftover"].values()) == pytest.approx(0.45)


def test_the_residual_and_the_token_drawn_from_it(trace):
    figure = distributions.residual(trace, 0, 0, "en")
    (shown,) = parts(figure).values()
    assert shown["␣sky"] == pytest.approx(4 / 9)
    assert "␣sea" not in shown
    assert any(text.startswith("↻") for text in figure.data[0].text)


def test_a_residual_that_was_not_drawn_from_is_worked_out(trace):
    judged = trace.rounds[0].detail[0]
    bare = replace(trace.rounds[0], detail=(replace(judged, r=()), trace.rounds[0].detail[1]))
    (shown,) = parts(distributions.residual(replace(trace, rounds=(bare,)), 0, 0, "en")).values()
    assert shown["␣sky"] == pytest.approx(4 / 9)
    equal = replace(judged, r=(), q=judged.p, alpha=1.0)
    same = replace(trace.rounds[0], detail=(equal, trace.rounds[0].detail[1]))
    assert distributions.residual(replace(trace, rounds=(same,)), 0, 0, "en") is None


def test_figures_are_small_finite_and_hold_no_markup(trace):
    for position in (0, 1):
        text = distributions.comparison(trace, 0, position, "zh-CN").to_json()
        assert len(text) < 6_000
        assert "NaN" not in text
        assert "<img" not in text
        assert "<b>" not in text
        assert "\u202e" not in text


def test_the_sentence_has_the_numbers(trace):
    told = words.verdict(trace, 0, 0, "en")
    assert "p/q = 0.25, u = 0.72, so it is rejected" in told
    assert "sky” was drawn instead" in told
    assert "p/q = 0.25" in words.verdict(trace, 0, 0, "zh-CN")


def test_at_temperature_0_nothing_is_said_to_be_drawn(trace):
    r = trace.rounds[0]
    greedy = replace(trace, config=replace(trace.config, temperature=0.0))
    bonus = replace(
        r, verdicts=(Verdict(Status.ACCEPTED, 1.0, 1.0, 0.5),), path=(0,), final=Final(10, Kind.BONUS, 1.0, 0.5)
    )
    plain = replace(r, draft=Draft((), (), ()), verdicts=(), final=Final(10, Kind.TARGET, 1.0, 0.5))
    shown = [(r, 0), (r, 1), (bonus, 0), (bonus, 1), (plain, 0), (replace(bonus, final=None), 1)]
    for one, position in shown:
        for lang, drawn in (("en", r"\bdrawn (instead|from)|\bu ="), ("zh-CN", "抽到|采样|u =")):
            told = words.verdict(replace(greedy, rounds=(one,)), 0, position, lang)
            assert not re.search(drawn, told)
            assert told.strip()
    assert "not the target’s own choice, so it is rejected" in words.verdict(greedy, 0, 0, "en")
    assert "taken instead" in words.verdict(greedy, 0, 0, "en")
    assert distributions.residual_title(greedy, 0, 0, "en").startswith("Taken")


def test_where_two_runs_part(trace):
    other = replace(trace.rounds[0], final=Final(11, Kind.RECOVERED, 2 / 9, 0.6))
    fork = replace(trace, rounds=(other,), forked_at=0)
    html = compare.comparison(trace, fork, "u = 0.6 <instead>", "en")
    assert "<img" not in html
    assert "<instead>" not in html
    assert "The texts part at token 1" in html
    assert "The texts are the same" in compare.comparison(trace, replace(trace, forked_at=0), "k", "en")

"""The Race tab: real races on the real pair, what is kept of them, sweeps that can be stopped, values from anywhere."""

import json

import pytest

from specviz.race import Race, result
from specviz.trace import Finish
from specviz.ui import race_handlers, settings
from specviz.ui.options import PUBLIC_SWEEP, Options
from specviz.ui.race_handlers import Entry
from specviz.ui.runner import Runner
from tests.unit.races import plain_of, race_of, round_of, trace_of

RUNS = pytest.mark.pair
TRACK, FIRST_PANEL, HISTORY, GO = 0, 1, 8, 9


def race(runner, values, auto=False, history=(), session="racer", **changes):
    given = values | changes
    row = [given[name] for name in settings.FIELDS]
    return race_handlers.race(runner, row, auto, history, session, {"lang": "en"})


def sweep(runner, values, tokens=8, session="sweeper", spoken=None, **changes):
    row = [(values | changes)[name] for name in settings.FIELDS]
    return race_handlers.sweep(runner, row, tokens, session, spoken or {"lang": "en"})


def entry(number=1, rounds=8):
    one = race_of([round_of(4, 3, (1.0,) * 4, 15.0)] * rounds)
    return Entry(number, one, result(one))


@RUNS
def test_a_race_runs_both_and_the_track_gets_their_own_clocks(runner, values):
    updates = list(race(runner, values, method="draft", k=3, temperature=0, max_new_tokens=16))
    told = [u[TRACK]["status"] for u in updates if "id" in u[TRACK]]
    kinds = [status["kind"] for status in told if status]
    assert "progress" in kinds
    last = updates[-1]
    assert [u["interactive"] for u in last[GO:]] == [True, True, True, False]
    (one,) = last[HISTORY]
    plain, fast = one.race.plain, one.race.fast
    assert plain.config.method == "none"
    assert plain.finish is Finish.LENGTH
    assert plain.generated == fast.generated  # greedy, float32
    assert all(r.detail is None for r in (*plain.rounds, *fast.rounds))
    shown = last[TRACK]["race"]
    for lane, trace in zip(shown["lanes"], (plain, fast), strict=True):
        assert [t for r in lane["rounds"] for t in r["tokens"]] == list(trace.generated)
        for told, r in zip(lane["rounds"], trace.rounds, strict=True):
            assert sum(told["parts"]) == pytest.approx(r.times.total, abs=0.01)
    assert {str(t) for t in fast.generated} <= shown["vocab"].keys()
    assert shown["speedup"] == pytest.approx(one.result.speedup)
    json.dumps(last[TRACK], allow_nan=False)
    assert "sv-race-tiles" in last[FIRST_PANEL]


@RUNS
def test_k_auto_and_a_tree(runner, values):
    auto = list(race(runner, values, auto=True, method="draft", k=4, temperature=0, max_new_tokens=12))[-1]
    assert auto[HISTORY][0].race.fast.config.adapt
    tree = list(race(runner, values, history=auto[HISTORY], method="medusa", tree="[[0],[1],[0,0]]", max_new_tokens=8))[
        -1
    ]
    assert [e.number for e in tree[HISTORY]] == [1, 2]
    assert tree[HISTORY][1].race.fast.config.is_tree
    assert tree[HISTORY][1].race.plain.config.tree == ()
    assert tree[HISTORY][1].result.best is None


@RUNS
def test_stop_ends_a_race_within_a_round_and_keeps_the_one_before(runner, values):
    stream = race(runner, values, history=(entry(),), session="stopper", max_new_tokens=400)
    updates = []
    for update in stream:
        updates.append(update)
        status = update[TRACK].get("status") if isinstance(update[TRACK], dict) else None
        if status and status["kind"] == "progress":
            assert runner.stop("stopper")
    told = [u[TRACK]["status"]["tokens"] for u in updates if (u[TRACK].get("status") or {}).get("kind") == "progress"]
    assert max(told) < 100
    assert updates[-1][TRACK]["status"]["kind"] == "stopped"
    assert not isinstance(updates[-1][HISTORY], tuple)  # skipped: what was there stays
    assert updates[-1][GO]["interactive"] is True


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"method": "none"}, "race.nothing_to_race"),
        ({"k": 0}, "race.nothing_to_race"),
        ({"k": 10**9}, "errors.range_int"),
        ({"temperature": float("nan")}, "errors.range"),
        ({"method": "<b>"}, "errors.choice"),
        ({"pair": "../../etc/passwd"}, "errors.choice"),
        ({"prompt": 7}, "ui.not_text"),
    ],
)
def test_wrong_values_are_said_on_the_track(runner, values, changes, key):
    *_, last = race(runner, values, **changes)
    assert last[TRACK]["status"]["kind"] == "error"
    assert last[TRACK]["status"]["key"] == key
    assert last[GO]["interactive"] is True


def test_k_auto_of_a_tree_is_refused(runner, values):
    *_, last = race(runner, values, auto=True, method="medusa", tree="[[0],[1]]")
    assert last[TRACK]["status"]["key"] == "errors.adapt_tree"


def test_a_public_page_keeps_its_limits(values):
    public = Runner(Options(public=True), load=lambda _id, _progress: pytest.fail("nothing may run"))
    *_, last = race(public, values, max_new_tokens=5000)
    assert last[TRACK]["status"]["key"] == "ui.public_limit"
    *_, last = sweep(public, values, tokens=PUBLIC_SWEEP + 1)
    assert "sv-wrong" in last[0]


@pytest.mark.parametrize("tokens", [0, "12", None, float("inf"), 10**9])
def test_a_sweep_of_nonsense_is_refused(runner, values, tokens):
    (last,) = sweep(runner, values, tokens)
    assert "sv-wrong" in last[0]
    assert last[4]["interactive"] is True


@RUNS
def test_a_sweep_fills_its_cells_and_stops(runner, values, monkeypatch):
    monkeypatch.setattr(race_handlers, "SWEEP_KS", (0, 2))
    monkeypatch.setattr(race_handlers, "SWEEP_TEMPERATURES", (0.0, 1.0))
    updates = list(sweep(runner, values, method="draft"))
    done = updates[-1][3]
    assert {(p.k, p.temperature) for p in done.points} == {(k, t) for k in (0, 2) for t in (0.0, 1.0)}
    assert done.speedup(0, 1.0) == 1
    assert updates[-1][1]["visible"] is True
    assert [u["interactive"] for u in updates[-1][4:]] == [True, True, True, False]

    partial, spoken = None, {"lang": "en"}
    for update in sweep(runner, values, session="impatient", spoken=spoken, method="draft"):
        partial = update
        if getattr(update[3], "points", ()) and len(update[3].points) == 1:
            spoken["lang"] = "zh-CN"  # the visitor's choice while it runs
            assert runner.stop("impatient")
    assert len(partial[3].points) < 4
    assert "完成了" in partial[2]
    assert partial[4]["interactive"] is True


def test_the_session_keeps_so_many_races_and_no_more():
    history = ()
    for number in range(1, 40):
        history = race_handlers.remembered(history, entry(number), Options().kept_rounds)
    assert len(history) == race_handlers.KEPT
    assert history[-1].number == 39
    huge = Race(plain_of(30_000), trace_of([round_of(4, 4, (1.0,) * 4)]))
    big = Entry(40, huge, result(huge))
    assert race_handlers.remembered(history, big, Options().kept_rounds) == (big,)
    public = Options(public=True).kept_rounds
    for number in range(1, 5):
        history = race_handlers.remembered(history, Entry(number, huge, result(huge)), public)
    assert [one.number for one in history] == [4]


def test_earlier_races_can_be_shown_again_and_unknown_ones_change_nothing():
    history = (entry(1), entry(2))
    *_, table, choose = race_handlers.panels(history, 1, "zh-CN")
    assert choose["value"] == 1
    assert [value for _, value in choose["choices"]] == [2, 1]
    assert "sv-p-on" in table
    for wrong in (None, 3, "1", [1], float("nan")):
        assert race_handlers.entry_of(history, wrong) is None
    assert race_handlers.panels((), None, "en")[0] == ""

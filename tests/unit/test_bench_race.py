"""Turns, dropping out, stopping early."""

import pytest

from specviz.bench.race import race
from specviz.errors import SpecvizError
from specviz.models.prepared import no_progress
from tests.unit.bench_fakes import Scripted

PROMPTS = [[7], [8], [9]]


def go(*contenders, repeats=2):
    return race(contenders, PROMPTS, 12, repeats, no_progress)


def test_all_take_turns_on_every_prompt_and_none_is_always_first():
    log = []
    lanes, interrupted = go(*(Scripted(f"ours_{name}", log) for name in ("plain", "draft", "lookup")))
    assert not interrupted
    turns = log[6:]  # after opening and warming up
    assert len(turns) == 3 * 3 * 2
    by_turn = [turns[i : i + 3] for i in range(0, len(turns), 3)]
    assert [turn[0][1] for turn in by_turn] == [(7,), (8,), (9,)] * 2
    assert all({key for key, _ in turn} == {"ours_plain", "ours_draft", "ours_lookup"} for turn in by_turn)
    assert len({turn[0][0] for turn in by_turn}) == 3
    assert all(set(lane.runs) == {(r, p) for r in range(2) for p in range(3)} for lane in lanes)
    assert all(lane.contender.closed for lane in lanes)


@pytest.mark.parametrize("fails_at", [0, 3])
def test_one_that_fails_is_left_with_its_reason_and_the_others_go_on(fails_at):
    log = []
    good, bad = Scripted("ours_plain", log), Scripted("hf_generate", log, fails_at)
    lanes, _ = go(good, bad)
    assert len(lanes[0].runs) == 6
    assert lanes[0].reason is None
    assert "worn out" in lanes[1].reason
    assert len(lanes[1].runs) == max(0, fails_at - 1)
    assert bad.calls == fails_at + 1  # it is not tried again
    assert bad.closed


def test_a_foreseen_failure_is_told_in_the_language():
    error = SpecvizError("bench.not_installed", package="flashspec")
    lanes, _ = race([Scripted("flashspec", [], 0, error)], PROMPTS, 12, 1, no_progress, "zh-CN")
    assert "没有安装 flashspec" in lanes[0].reason


def test_ctrl_c_leaves_what_is_there():
    log = []
    lanes, interrupted = go(Scripted("ours_plain", log), Scripted("ours_draft", log, 4, KeyboardInterrupt()))
    assert interrupted
    assert [len(lane.runs) for lane in lanes] in ([3, 3], [4, 3])
    assert all(lane.contender.closed for lane in lanes)

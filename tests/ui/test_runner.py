"""The runner: pairs loaded once, a visitor's jobs kept apart, Stop for what it is the button of."""

import threading
import time

import pytest

from specviz.errors import SpecvizError
from specviz.ui import job as job_module
from specviz.ui import lane as lane_module
from specviz.ui import runner as runner_module
from specviz.ui.loading import PairLoader
from specviz.ui.options import Options
from specviz.ui.proof_handlers import PLACE
from specviz.ui.runner import STAGES, Runner
from tests.ui.conftest import loaded
from tests.ui.test_lane import endless, finish


def test_a_pair_is_loaded_once_and_a_failure_can_be_tried_again():
    calls, fail = [], [True]

    def load(progress):
        calls.append(1)
        progress(0.5, "models.loading", model="x")
        time.sleep(0.05)
        if fail[0]:
            raise SpecvizError("errors.nan")
        return "pair"

    loader = PairLoader(load)
    loader.begin()
    loader.begin()
    with pytest.raises(SpecvizError):
        loaded(loader)
    assert len(calls) == 1
    fail[0] = False
    assert loaded(loader) == "pair"
    assert loaded(loader) == "pair"
    assert len(calls) == 2
    assert loader.loading.fraction == 0.5


def test_many_who_ask_at_once_load_a_pair_once_and_others_have_turns_meanwhile():
    go, calls, done = threading.Event(), [], []

    def load(_id, _progress):
        calls.append(1)
        go.wait(10)
        return "pair"

    def use(_job, pair):
        done.append(pair)
        yield 1

    runner = Runner(Options(), load=load)
    asking = [runner.work(f"v{i}", runner.default, use, "main", short=i % 2 == 0) for i in range(8)]
    toy = runner.work("toy", None, use, "proof")
    finish(toy)
    assert done == [None]
    go.set()
    for job in asking:
        finish(job)
    assert calls == [1]
    assert done == [None, *["pair"] * 8]
    runner.close()


def test_who_waits_until_other_models_are_loaded_keeps_no_processor_busy(monkeypatch):
    go, turns = threading.Event(), []

    def load(name, _progress):
        if name == runner.default:
            go.wait(10)
        return name

    def use(_job, pair):
        done.append(pair)
        yield 1

    turn, done, runner = job_module.Job.turn, [], Runner(Options(), load=load)
    monkeypatch.setattr(job_module.Job, "turn", lambda job, count: turns.append(1) or turn(job, count))
    other = runner.pairs()[1]
    runner.begin()
    job = runner.work("s", other, use, "main")
    time.sleep(0.3)
    assert 1 <= len(turns) <= 0.3 / runner_module.LOAD_TURN + 5
    go.set()
    finish(job)
    assert done == [other]
    runner.close()


def test_a_run_that_is_not_taken_leaves_the_visitors_earlier_one_alone(monkeypatch):
    monkeypatch.setattr(lane_module, "PLACES", 1)
    runner = Runner(Options(), load=lambda _id, _progress: object())
    first = runner.work("s", None, lambda job, _pair: endless(job), "main")
    with pytest.raises(SpecvizError, match="1 run"):
        runner.work("s", None, lambda job, _pair: endless(job), "main")
    assert runner.busy("s")
    assert not first.stopped
    assert runner.stop("s")
    finish(first)
    runner.close()


def test_stop_ends_what_it_is_the_button_of_and_nothing_else():
    runner = Runner(Options(), load=lambda _id, _progress: object())
    run, check = (runner.work("s", None, lambda job, _pair: endless(job), place) for place in ("main", PLACE))
    assert runner.stop("s", STAGES)
    finish(run)
    assert not check.stopped
    assert not runner.stop("s", STAGES)
    assert runner.stop("s")  # all of them: the visitor has left
    finish(check)
    runner.close()


def test_a_session_is_busy_while_any_of_its_jobs_is(sample):
    """A run and a fork do not push each other out; a newer run does; another trace ends both, but no check or race."""
    go = threading.Event()

    def make(pair):
        go.wait(10)
        raise SpecvizError("errors.nan")

    runner = Runner(Options(), load=lambda _id, _progress: object())
    pair = runner.default
    run, fork = runner.submit("s", pair, make), runner.submit("s", pair, make, place="fork")
    other = runner.submit("t", pair, make)
    assert not run.dropped
    newer = runner.submit("s", pair, make)
    assert (run.dropped, fork.dropped, other.dropped) == (True, False, False)
    assert runner.busy("s")
    check = runner.submit("s", pair, make, place=PLACE)
    runner.drop("s")
    assert (fork.dropped, newer.dropped, other.dropped, check.dropped) == (True, True, False, False)
    assert runner.busy("s")
    check.drop()
    assert not runner.busy("s")
    assert runner.busy("t")
    go.set()
    finish(other)
    assert not runner.busy("t")
    runner.close()

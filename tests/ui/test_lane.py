"""One lane: jobs in order, stopped within a round, never held by a visitor who has gone; models loaded once."""

import threading
import time

import pytest

from specviz.errors import SpecvizError
from specviz.ui import lane as lane_module
from specviz.ui.lane import Lane
from specviz.ui.loading import PairLoader
from specviz.ui.options import Options
from specviz.ui.runner import Runner


def finish(job):
    for _ in job.watch():
        pass


def test_jobs_run_in_order_and_know_their_place(sample):
    lane, go, order = Lane(), threading.Event(), []

    def work(name):
        def run(job):
            go.wait(10)
            order.append(name)
            job.post(sample)

        return run

    jobs = [lane.submit(work(name)) for name in "abc"]
    time.sleep(0.1)
    assert [lane.place(job) for job in jobs] == [0, 1, 2]
    go.set()
    for job in jobs:
        finish(job)
    assert order == ["a", "b", "c"]
    assert all(job.trace is sample and job.error is None for job in jobs)
    assert [lane.place(job) for job in jobs] == [0, 0, 0]


def test_a_stopped_job_ends_and_a_waiting_one_never_starts():
    lane, rounds = Lane(), []

    def endless(job):
        while not job.stopped:
            rounds.append(1)
            time.sleep(0.01)

    running, waiting = lane.submit(endless), lane.submit(endless)
    waiting.stop()
    time.sleep(0.05)
    running.stop()
    finish(running)
    before = len(rounds)
    finish(waiting)
    assert len(rounds) == before > 0


def test_a_job_that_nobody_watches_frees_the_lane(monkeypatch):
    monkeypatch.setattr(lane_module, "ABANDONED_AFTER", 0.1)
    lane = Lane()

    def endless(job):
        while not job.stopped:
            time.sleep(0.01)

    lane.submit(endless)
    job = lane.submit(lambda job: None)
    finish(job)
    assert job.done


def test_a_failure_stays_with_its_job(caplog):
    lane = Lane()

    def fail(error):
        def run(job):
            raise error

        return run

    known, unknown = lane.submit(fail(SpecvizError("errors.nan"))), lane.submit(fail(RuntimeError("boom")))
    finish(known)
    finish(unknown)
    assert known.error.key == "errors.nan"
    assert isinstance(unknown.error, RuntimeError)
    assert "boom" in caplog.text  # unforeseen, so it is logged


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
        loader.wait(lambda: False)
    assert len(calls) == 1
    fail[0] = False
    assert loader.wait(lambda: False) == "pair"
    assert loader.wait(lambda: False) == "pair"
    assert len(calls) == 2
    assert loader.loading.fraction == 0.5


def test_waiting_for_a_pair_can_be_given_up():
    go = threading.Event()
    loader = PairLoader(lambda progress: go.wait(10))
    assert loader.wait(lambda: True) is None
    go.set()


def test_a_dropped_job_shows_nothing_more(sample):
    lane, go = Lane(), threading.Event()

    def work(job):
        go.wait(10)
        job.post(sample)

    job = lane.submit(work)
    job.drop()
    assert list(job.watch()) == []
    go.set()
    assert job.stopped


def test_a_session_is_busy_while_any_of_its_jobs_is(sample):
    """A run and a fork do not push each other out; a newer run does; another trace ends both."""
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
    runner.drop("s")
    assert (fork.dropped, newer.dropped, other.dropped) == (True, True, False)
    assert not runner.busy("s")
    assert runner.busy("t")
    go.set()
    finish(other)
    assert not runner.busy("t")

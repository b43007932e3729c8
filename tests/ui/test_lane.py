"""One lane: jobs in order and by turns, stopped within a round, never held by a visitor who has gone."""

import gc
import threading
import time
import weakref

import pytest

from specviz.errors import SpecvizError
from specviz.ui import job as job_module
from specviz.ui import lane as lane_module
from specviz.ui.lane import Lane


def finish(job):
    for _ in job.watch():
        pass


@pytest.fixture
def lane():
    opened = Lane()
    yield opened
    opened.close()
    assert not opened._thread.is_alive()


def held(lane):
    """A job that has the lane until the event is set."""
    go = threading.Event()

    def work(_job):
        go.wait(10)
        yield 1

    return lane.submit(work), go


def until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def noting(log, name, rounds=1):
    def work(_job):
        for _ in range(rounds):
            log.append(name)
            yield 1

    return work


def test_jobs_run_in_order_and_know_their_place(lane, sample):
    first, go = held(lane)
    order = []

    def work(name):
        def run(job):
            order.append(name)
            job.post(sample)
            yield 1

        return run

    jobs = [lane.submit(work(name)) for name in "bc"]
    until(lambda: first.begun)
    assert [lane.place(job) for job in (first, *jobs)] == [0, 1, 2]
    go.set()
    for job in jobs:
        finish(job)
    assert order == ["b", "c"]
    assert all(job.news is sample and job.error is None for job in jobs)
    assert [lane.place(job) for job in jobs] == [0, 0]


def test_short_jobs_come_between_the_rounds_of_a_long_one(lane):
    _, go = held(lane)
    log = []
    long = lane.submit(noting(log, "long", 5))
    steps = [lane.submit(noting(log, name), short=True) for name in "abc"]
    go.set()
    for job in (*steps, long):
        finish(job)
    assert [log.index(name) for name in "abc"] == sorted(log.index(name) for name in "abc")
    assert max(log.index(name) for name in "abc") <= 2 * 3  # each waits for the steps before it and as many rounds
    assert log.count("long") == 5


def test_a_long_job_gives_way_after_its_slice(lane, monkeypatch):
    monkeypatch.setattr(lane_module, "SLICE", 0.0)
    _, go = held(lane)
    log = []
    jobs = [lane.submit(noting(log, name, 3)) for name in "ab"]
    go.set()
    for job in jobs:
        finish(job)
    assert log == ["a", "b"] * 3


def test_only_so_many_hold_an_engine_at_once(lane, monkeypatch):
    monkeypatch.setattr(lane_module, "SLICE", 0.0)
    _, go = held(lane)
    most = []

    def work(_job):
        for _ in range(3):
            most.append(sum(job.begun for job in lane._line))
            yield 1

    jobs = [lane.submit(work) for _ in range(3 * lane_module.OPEN)]
    go.set()
    for job in jobs:
        finish(job)
    assert max(most) == lane_module.OPEN


def test_who_works_with_other_models_waits_until_these_are_free(lane, monkeypatch):
    """And is not passed by those who came later."""
    monkeypatch.setattr(lane_module, "SLICE", 0.0)
    _, go = held(lane)
    log = []
    jobs = [lane.submit(noting(log, key + str(i), 3), key) for i, key in enumerate(("p", "q", "p"))]
    step = lane.submit(noting(log, "step of q"), "q", short=True)
    toy = lane.submit(noting(log, "toy"), None, short=True)
    go.set()
    for job in (*jobs, step, toy):
        finish(job)
    long = [entry for entry in log if entry[0] in "pq"]
    assert long == ["p0"] * 3 + ["q1"] * 3 + ["p2"] * 3
    inside = log[log.index("p0") : [*log, *log].index("p2")]
    assert "step of q" not in inside[: len(inside) - inside[::-1].index("p0")]
    assert log.index("toy") <= 2


def test_a_stopped_job_ends_and_a_waiting_one_never_starts(lane):
    rounds = []

    def endless(job):
        while not job.stopped:
            rounds.append(1)
            time.sleep(0.01)
            yield 1

    running, waiting = lane.submit(endless), lane.submit(endless)
    waiting.stop()
    time.sleep(0.05)
    running.stop()
    finish(running)
    before = len(rounds)
    finish(waiting)
    assert len(rounds) == before > 0


def test_a_stopped_job_need_not_wait_for_its_turn(lane):
    def endless(job):
        while not job.stopped:
            time.sleep(0.001)
            yield 1

    running, waiting = lane.submit(endless), lane.submit(endless)
    waiting.stop()
    finish(waiting)
    assert waiting.done
    assert not running.done
    running.stop()
    finish(running)


def endless(job):
    while not job.stopped:
        time.sleep(0.01)
        yield 1


def test_a_job_that_nobody_watches_frees_the_lane(lane, monkeypatch):
    monkeypatch.setattr(job_module, "ABANDONED_AFTER", 0.1)
    lane.submit(endless)
    job = lane.submit(lambda job: iter(()))
    finish(job)
    assert job.done


def test_a_job_whose_client_has_left_ends_though_its_handler_goes_on(lane, monkeypatch):
    monkeypatch.setattr(job_module, "ABANDONED_AFTER", 0.3)
    monkeypatch.setattr(job_module, "LOOK_EVERY", 0.02)
    there = [True]
    job = lane.submit(endless, present=lambda: there[0])
    watched = job.watch()
    for _ in range(3):
        next(watched)
    assert not job.stopped
    there[0] = False
    assert len(list(watched)) < 100
    assert job.done


def test_more_than_can_wait_are_told_so(lane, monkeypatch):
    monkeypatch.setattr(lane_module, "PLACES", 3)
    _, go = held(lane)
    jobs = [lane.submit(noting([], "x")) for _ in range(2)]
    with pytest.raises(SpecvizError, match="3 runs"):
        lane.submit(noting([], "x"))
    go.set()
    for job in jobs:
        finish(job)
    finish(lane.submit(noting([], "x")))  # there is room again
    assert (lane.counts.full, lane.counts.jobs, lane.counts.rounds, lane.counts.tokens) == (1, 4, 4, 4)


@pytest.mark.parametrize("way", ["over", "stopped", "failed"])
def test_what_a_job_held_is_free_when_it_is_over(lane, way, monkeypatch):
    monkeypatch.setattr(job_module.log, "disabled", True)  # what is logged holds the error, too

    class Engine:
        pass

    kept = []

    def work(job):
        engine = Engine()
        kept.append(weakref.ref(engine))
        yield 1
        if way == "failed":
            raise RuntimeError("boom") from ValueError("deep inside")
        while way == "stopped" and not job.stopped:
            time.sleep(0.001)
            yield 1

    job = lane.submit(work)
    if way == "stopped":
        until(lambda: kept)
        job.stop()
    finish(job)
    gc.collect()
    assert kept[0]() is None
    assert (job.error is not None) == (way == "failed")


def test_closing_ends_all_jobs_and_takes_no_more():
    lane = Lane()
    jobs = [lane.submit(endless) for _ in range(3)]
    until(lambda: jobs[0].begun)
    lane.close()
    assert all(job.done for job in jobs)
    assert not lane._thread.is_alive()
    with pytest.raises(SpecvizError, match="shut down"):
        lane.submit(endless)


def test_a_failure_stays_with_its_job(lane, caplog):
    def fail(error):
        def run(job):
            yield 1
            raise error

        return run

    known, unknown = lane.submit(fail(SpecvizError("errors.nan"))), lane.submit(fail(RuntimeError("boom")))
    finish(known)
    finish(unknown)
    assert known.error.key == "errors.nan"
    assert isinstance(unknown.error, RuntimeError)
    assert "boom" in caplog.text  # unforeseen, so it is logged
    assert (lane.counts.refused, lane.counts.failed) == (1, 1)


def test_a_dropped_job_shows_nothing_more(lane, sample):
    go = threading.Event()

    def work(job):
        go.wait(10)
        job.post(sample)
        yield 1

    job = lane.submit(work)
    job.drop()
    assert list(job.watch()) == []
    go.set()
    assert job.stopped

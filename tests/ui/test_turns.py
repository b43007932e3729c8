"""Runs that take turns, round by round, are the runs that they are alone: no cache, draw or text of another gets in."""

import itertools
import threading
import time

import pytest

from benchmarks.crowd import same
from specviz.config import RunConfig
from specviz.errors import SpecvizError
from specviz.models import run as run_module
from specviz.trace import Finish
from specviz.trace_json import dump_trace
from specviz.ui import files_panel, settings, step_handlers
from specviz.ui import lane as lane_module
from specviz.ui.options import Options
from specviz.ui.runner import Runner

TREE = ((0,), (1,), (0, 0), (1, 0))
CONFIGS = [
    RunConfig("draft", k=3, temperature=0.0, max_new_tokens=40),
    RunConfig("draft", k=4, temperature=0.9, seed=7, max_new_tokens=40),
    RunConfig("draft", tree=TREE, temperature=0.8, seed=3, max_new_tokens=40),
    RunConfig("skip", k=2, temperature=1.0, seed=5, max_new_tokens=40),
    RunConfig("lookup", k=3, temperature=0.0, max_new_tokens=40),
    RunConfig("none", temperature=1.1, seed=2**63 - 1, max_new_tokens=40),
]
PROMPTS = ["the quick brown fox", "12 apples", "hello world", "the lazy dog", "don't", "a"]


@pytest.fixture
def runner(tiny_pair):
    made = Runner(Options(target="toy", draft="toy"), load=lambda _id, _progress: tiny_pair)
    yield made
    made.close()


def run(runner, prompt, config, shown=None, session="s", **options):
    values = settings.Settings(prompt, config, runner.default).values()
    return step_handlers.run(runner, values, shown, session, **options)


def last(updates, trace=None):
    for update in updates:
        trace = update[1] if hasattr(update[1], "rounds") else trace
        assert not _error(update), _error(update)
    return trace


def _error(update):
    status = update[0].get("status") if isinstance(update[0], dict) else None
    return status["text"] if status and status["kind"] == "error" else None


def together(tasks):
    """All at once, each in a thread as Gradio does; their results in order."""
    out = [None] * len(tasks)

    def do(i):
        out[i] = tasks[i]()

    threads = [threading.Thread(target=do, args=(i,)) for i in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out


def test_runs_and_steps_by_turns_are_the_runs_alone(runner, monkeypatch):
    wishes = list(zip(PROMPTS, CONFIGS, strict=True))
    alone = [last(run(runner, *wish)) for wish in wishes]
    monkeypatch.setattr(lane_module, "SLICE", 0.0)  # every round is followed by another visitor's

    def steps(prompt, config, session):
        trace = None
        for _ in range(4):
            trace = last(run(runner, prompt, config, trace, session, one_round=True))
        return trace

    tasks = [lambda w=w, i=i: last(run(runner, *w, session=f"run {i}")) for i, w in enumerate(wishes)]
    tasks += [lambda w=w, i=i: steps(*w, f"step {i}") for i, w in enumerate(wishes)]
    for _ in range(2):
        found = together(tasks)
        for i, (whole, stepped) in enumerate(zip(alone, found[len(wishes) :], strict=True)):
            assert same(found[i], whole) is None
            assert same(stepped, whole.cut(4) if len(whole.rounds) > 4 else whole) is None
    assert runner.lane.size == 0


def test_a_step_waits_for_a_few_rounds_of_a_long_run_at_most(runner, tiny_pair):
    order = []

    def long(job, _pair):
        while not job.stopped:
            order.append("long")
            time.sleep(0.001)
            yield 1

    def make(pair):
        order.append("step")
        return run_module.start(pair, PROMPTS[0], CONFIGS[0])

    job = runner.work("long", runner.default, long, "main")
    while len(order) < 20:
        time.sleep(0.001)
    before = len(order)
    step = runner.submit("step", runner.default, make, rounds=1)
    *_, trace = step.watch()
    assert order.index("step") - before <= 3
    assert len(trace.rounds) == 1
    assert not job.done
    job.stop()


def test_stop_ends_a_run_that_has_given_way(runner, monkeypatch):
    monkeypatch.setattr(lane_module, "SLICE", 0.0)
    jobs = []
    for name in ("a", "b"):
        rounds = itertools.count()

        def endless(job, _pair, rounds=rounds):
            while not job.stopped:
                next(rounds)
                yield 1

        jobs.append(runner.work(name, runner.default, endless, "main"))
    runner.stop("a")
    for _ in jobs[0].watch():
        pass
    assert jobs[0].done
    assert not jobs[1].done
    runner.stop("b")


def test_run_goes_on_with_a_run_that_was_interrupted(runner, monkeypatch):
    """Stopped, or cut off with its connection: the same settings go on from its rounds, and end as one run would."""
    whole = last(run(runner, PROMPTS[1], CONFIGS[1]))
    assert len(whole.rounds) > 4
    for cut in (whole.cut(3), run_module.cancelled(whole.cut(3))):
        monkeypatch.setattr("specviz.models.run.start", lambda *_: pytest.fail("it must not begin anew"))
        assert same(last(run(runner, PROMPTS[1], CONFIGS[1], cut)), whole) is None
        monkeypatch.undo()
    other = last(run(runner, PROMPTS[1], CONFIGS[0], whole.cut(3)))
    assert other.config == CONFIGS[0]
    again = last(run(runner, PROMPTS[1], CONFIGS[1], whole))  # it was over: anew
    assert again is not whole
    assert same(again, whole) is None
    assert whole.finish in (Finish.LENGTH, Finish.STOP)


def test_what_the_browser_has_kept_of_a_run_is_taken_back_and_goes_on(runner):
    """As the browser sends it after the page was opened anew; anything else is refused, and nothing is shown."""
    whole = last(run(runner, PROMPTS[2], CONFIGS[2]))
    text = dump_trace(whole.cut(3))
    stage, trace, *filled = files_panel.resumed(text, runner)
    assert same(trace, whole.cut(3)) is None
    assert stage["at"] == 2
    assert (stage["status"]["key"], stage["status"]["values"]) == ("ui.resumed", {"n": 3})
    assert settings.read(filled) == settings.Settings(PROMPTS[2], CONFIGS[2], runner.default)
    assert same(last(step_handlers.run(runner, filled, trace, "s")), whole) is None
    public = Runner(Options(public=True), load=lambda _id, _progress: pytest.fail("nothing may run"))
    for wrong in ("{", "[]", "null", "\ud800", 7, None, text.replace('"k":', '"kk":'), " " * 10**7 + text):
        with pytest.raises(SpecvizError):
            files_panel.resumed(wrong, public)

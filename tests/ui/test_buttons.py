"""Run, Step and Stop after whatever can end a run: free where nothing of the visitor's runs any more, else not."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from specviz.config import VERIFIERS
from specviz.models.presets import CUSTOM, DEFAULT, PRESETS
from specviz.ui import message, settings, step_handlers, tree_handlers, whatif
from specviz.ui.build import build
from specviz.ui.options import DRAWING, Options
from specviz.ui.runner import Runner
from tests.trees import tree_trace
from tests.ui.conftest import loaded

S = "visitor"


class Scripted(Runner):
    """A runner without models: `script(job)` says what a job does."""

    def __init__(self, script):
        super().__init__(Options(), load=lambda _id, _progress: object())
        self.script = script

    def _run(self, job, pair, make, rounds, fresh):
        self.script(job)
        yield 0


@pytest.fixture
def trace():
    return tree_trace([(0,), (1,), (0, 0)], path=(0,), tried=(2,))


def place(trace):
    return f"{message.run_id(trace)}/0/"


def free(update):
    """Whether Run and Step can be pressed, and Stop cannot."""
    run, step, stop = (button["interactive"] for button in update[-3:])
    assert run == step != stop
    return run


def test_a_comparison_that_was_dropped_frees_the_buttons(trace):
    go = threading.Event()
    runner = Scripted(lambda job: go.wait(10))
    updates = tree_handlers.compare(runner, trace, place(trace), "en", S)
    assert not free(next(updates))
    next(updates)  # it runs
    runner.drop(S)
    *_, last = updates
    go.set()
    assert free(last)
    assert all(not isinstance(part, str | tuple) for part in last[:3])  # nothing of it is shown


def test_stop_keeps_the_rule_that_is_done_and_begins_no_other(trace):
    begun = []

    def script(job):
        begun.append(job)
        if len(begun) == 2:
            runner.stop(S)
        job.post(trace)

    runner = Scripted(script)
    *_, last = tree_handlers.compare(runner, trace, place(trace), "en", S)
    assert len(begun) == 2
    assert list(last[2][2]) == [rule for rule in VERIFIERS if rule != "block"][:2]
    assert free(last)


def test_stop_before_the_first_rule_is_done(trace):
    runner = Scripted(lambda job: runner.stop(S))
    *_, last = tree_handlers.compare(runner, trace, place(trace), "en", S)
    assert last[1] == ""
    assert free(last)


@pytest.mark.parametrize("what", ["run", "fork", "compare"])
def test_what_is_refused_while_a_run_goes_on_leaves_that_its_stop_button(what, trace, values):
    go = threading.Event()
    runner = Scripted(lambda job: go.wait(10))
    running = runner.submit(S, DEFAULT, lambda pair: trace)
    handlers = {
        "run": lambda: step_handlers.run(runner, [(values | {"k": -1})[n] for n in settings.FIELDS], trace, S),
        "fork": lambda: whatif.fork(runner, trace, 99, "seed", "1", 1, "en", S),
        "compare": lambda: tree_handlers.compare(runner, trace, "", "en", S),
    }
    (update,) = handlers[what]()
    assert not free(update)
    go.set()
    for _ in running.watch():
        pass
    (update,) = handlers[what]()
    assert free(update)


@pytest.fixture(scope="module")
def demo():
    async def page():  # where no event loop runs, Gradio makes some that nobody closes
        return build(Options(), Scripted(print)).demo

    # a thread of its own: after the browser tests this one has Playwright's event loop, still running
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(page())).result()


def test_drawing_the_panels_is_limited(demo):
    """What a visitor's browser asks for at every step of the cursor waits its turn."""
    drawn = [
        fn
        for fn in demo.fns.values()
        if fn.fn is not None and any(getattr(part, "elem_id", None) == "sv-p-mask" for part in fn.outputs)
    ]
    assert [(fn.queue, fn.concurrency_limit) for fn in drawn] == [(True, DRAWING)]


@pytest.mark.parametrize("button", ["sv-pf-run", "sv-race-go", "sv-sweep-go"])
def test_what_runs_in_another_tab_leaves_run_and_step_free_when_it_is_over(demo, button):
    """A run that ended meanwhile has left them shut, for something of the visitor's still ran."""
    clicked = next(b._id for b in demo.blocks.values() if getattr(b, "elem_id", None) == button)
    (ran,) = [fn for fn in demo.fns.values() if fn.fn is not None and (clicked, "click") in fn.targets]
    after = [fn for fn in demo.fns.values() if fn.trigger_after == ran._id]
    request = SimpleNamespace(session_hash=S)
    assert [free(fn.fn(request)) for fn in after if {"sv-run", "sv-step", "sv-stop"} == {c.elem_id for c in fn.outputs}]


def test_heads_go_to_the_pair_that_they_were_given_for(monkeypatch):
    given = []
    monkeypatch.setattr("specviz.models.load.load_pair", lambda **options: given.append(options) or "pair")
    other = next(name for name in PRESETS if name != DEFAULT)
    for options, own in (
        (Options(heads="h"), DEFAULT),
        (Options(pair=other, heads="h"), other),
        (Options(target="t", heads="h"), CUSTOM),
    ):
        runner = Runner(options)
        assert runner.default == own
        for pair in runner.pairs():
            assert loaded(runner.loader(pair)) == "pair"
            assert given.pop()["heads"] == ("h" if pair == own else None)

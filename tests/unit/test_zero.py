"""ZeroGPU: what crosses into the forked process and back is pickled, and the parent computes nothing."""

import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

import pytest

from specviz.config import RunConfig
from specviz.errors import SpecvizError
from specviz.models import check, lab, run, zero
from specviz.models.load import load_pair
from specviz.models.pair import Pair
from tests.unit.bench_pair import save_pair

ROOT = Path(__file__).parents[2]
FORK = multiprocessing.get_context("fork")
CONFIG = RunConfig("draft", k=3, temperature=0.8, max_new_tokens=12, chat=False)


class Spaces:
    """The package as its own wrappers are: a process is forked, and all that passes goes through a pipe of bytes."""

    def __init__(self):
        self.open = []

    def GPU(self, task, duration):
        assert 0 < duration <= 60

        def handler(*args):
            sent, (here, there) = pickle.dumps(args), FORK.Pipe(duplex=False)

            def work():
                here.close()
                with suppress(BrokenPipeError):  # nobody reads any more
                    for result in task(*pickle.loads(sent)):
                        there.send_bytes(pickle.dumps(result))
                there.close()

            process = FORK.Process(target=work, daemon=True)
            process.start()
            self.open.append(process)
            there.close()
            try:
                while True:
                    yield pickle.loads(here.recv_bytes())
            except EOFError:
                return
            finally:
                here.close()
                process.join(20)
                self.open.remove(process)
                assert process.exitcode == 0

        return handler


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    target, draft = save_pair(tmp_path_factory.mktemp("pair"))
    return load_pair(target=str(target), draft=str(draft), device="cpu", dtype="float32")


@pytest.fixture
def lent(monkeypatch):
    """ZeroGPU is there. The parent's models are out of reach: only a fork may open them."""
    spaces, opened, parent = Spaces(), Pair.opened, os.getpid()
    monkeypatch.setattr(zero, "spaces", spaces)
    monkeypatch.setattr(zero, "ACTIVE", True)

    def only_there(pair, role):
        assert os.getpid() != parent, "the parent has no GPU"
        return opened(pair, role)

    monkeypatch.setattr(Pair, "opened", only_there)
    yield spaces
    assert not spaces.open


def test_elsewhere_nothing_changes():
    assert not zero.ACTIVE
    assert zero.on_gpu(run.advance) is run.advance
    assert zero.as_visitor(print) is print


def timeless(trace):
    return [(r.draft, r.verdicts, r.path, r.final, r.detail) for r in trace.rounds], trace.finish, trace.vocab


def test_a_run_is_the_same_there(pair, lent, monkeypatch):
    begun = run.start(pair, "abc", CONFIG)  # reads no GPU
    there = list(zero.on_gpu(run.advance)(pair, begun, detail=True))
    monkeypatch.undo()
    here = list(run.advance(pair, begun))
    assert [timeless(one) for one in there] == [timeless(one) for one in here]
    assert len(there) > 2
    assert there[-1].finish is not None


def test_plain_steps_are_timed_there(pair, lent, monkeypatch):
    monkeypatch.setattr(run, "_step_times", zero.on_gpu(run._step_times))
    assert run.with_baseline(pair, run.start(pair, "abc", CONFIG)).baseline_ms > 0


def test_checks_run_there(pair, lent, monkeypatch):
    for name in ("pair_trial", "greedy_outputs"):
        monkeypatch.setattr(check, name, zero.on_gpu(getattr(check, name)))
    asked = lab.read("pair", "none", 200, None, None, "abc", "draft", 1.0, 0)
    reports = list(lab.reports(asked, pair, lambda: False))
    assert reports[-1].trial.over
    assert reports[-1].identity.passed


def test_who_leaves_ends_it(pair, lent):
    results = zero.on_gpu(run.advance)(pair, run.start(pair, "abc", CONFIG))
    next(results)
    assert len(lent.open) == 1
    del results
    gc.collect()
    assert not lent.open


def test_a_foreseen_failure_keeps_its_sentence(pair, lent):
    def fails(_pair):
        yield 1
        raise SpecvizError("errors.prompt_long", tokens=9, context=3)

    results = zero.on_gpu(fails)(pair)
    assert next(results) == 1
    with pytest.raises(SpecvizError) as raised:
        next(results)
    assert raised.value.key == "errors.prompt_long"
    assert raised.value.values == {"tokens": 9, "context": 3}


def test_no_gpu_to_be_had_is_said(pair, lent, monkeypatch):
    import gradio

    def none_left(*_args):
        raise gradio.Error("You have exceeded your free ZeroGPU quota (60s requested vs. 3s left).", title="ZeroGPU")
        yield

    monkeypatch.setattr(lent, "GPU", lambda task, duration: none_left)
    with pytest.raises(SpecvizError, match=r"60s requested vs\. 3s left") as raised:
        next(zero.on_gpu(run.advance)(pair))
    assert raised.value.key == "errors.zero_gpu"


def test_jobs_are_their_visitors(lent):
    request = ContextVar("request", default=None)

    def work(_job):
        yield request.get()
        yield request.get()

    token = request.set("Ada")
    job = zero.as_visitor(work)
    request.reset(token)
    assert list(job(None)) == ["Ada", "Ada"]


IMPORTED = """
import sys
EARLY = "torch" not in sys.modules
TASKS = []
def GPU(task, duration):
    TASKS.append(task)
    return task
"""
STARTED = """
import specviz.ui.build, spaces
from specviz.models import zero
assert zero.ACTIVE and spaces.EARLY and not spaces.TASKS
from specviz.models import check
import torch
assert not torch.cuda.is_initialized()
assert check.pair_trial.__wrapped__
print(len(spaces.TASKS))
"""


def test_where_it_is_installed_it_comes_before_torch_and_decorates(tmp_path):
    (tmp_path / "spaces.py").write_text(IMPORTED)
    found = os.environ | {"PYTHONPATH": str(tmp_path), "SPACES_ZERO_GPU": "true"}
    done = subprocess.run([sys.executable, "-c", STARTED], env=found, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr[-2000:]

"""Strangers learn the reason of a failure, and no place on this machine."""

import pytest

from specviz.errors import SpecvizError
from specviz.ui import step_handlers
from specviz.ui.discretion import unlocated
from specviz.ui.health import health
from specviz.ui.options import Options
from specviz.ui.runner import Runner

FOLDER = "/home/ada/.cache/specviz"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (FOLDER, "specviz"),
        ("~/models/my model/", "my model"),
        (r"C:\Users\ada\models", "models"),
        ("/home/ada lovelace/models", "models"),
        (f"[Errno 13] Permission denied: '{FOLDER}/x.json'", "[Errno 13] Permission denied: 'x.json'"),
        ("/", "…"),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct"),
        ("see https://huggingface.co/docs/hub", "see https://huggingface.co/docs/hub"),
        ("accepted / rounds, 3/4 and p/q", "accepted / rounds, 3/4 and p/q"),
    ],
)
def test_places(text, left):
    assert unlocated(text) == left


def loading(public):
    def load(_pair, progress):
        progress(0.5, "models.target_ready", path=FOLDER)
        raise SpecvizError("errors.cache_write", path=FOLDER, reason=f"read-only: {FOLDER}")

    runner = Runner(Options(public=public), load=load)
    runner.begin()
    assert runner.loader().over(10)
    return runner


@pytest.mark.parametrize("public", [False, True])
def test_a_model_that_cannot_be_kept(public):
    runner = loading(public)
    line, _ = step_handlers.pair_state(runner, runner.default, "en")
    told = line + str(health(runner)) + str(runner.loader().loading.values)
    assert "specviz" in told
    assert ("ada" in told) is not public


@pytest.mark.parametrize("public", [False, True])
def test_a_run_that_fails(public):
    def do(_job, _pair):
        raise SpecvizError("errors.heads_broken", path=FOLDER, target="t", reason=f"no {FOLDER}/a b")
        yield

    runner = Runner(Options(public=public), load=lambda _id, _progress: object())
    job = runner.work("visitor", runner.default, do, "main")
    for _ in job.watch():
        pass
    assert ("ada" in str(job.error)) is not public

"""What can break under a run: the visitor is told in a sentence, what was reached stays, and others go on."""

import shutil

import pytest
import torch

from specviz.config import RunConfig
from specviz.engine.decode import Decoder
from specviz.errors import SpecvizError
from specviz.models.load import load_pair
from specviz.models.prepared import is_whole, prepare
from specviz.ui import health, proof_handlers, settings, step_handlers
from specviz.ui.options import Options
from specviz.ui.runner import Runner
from tests.ui.test_turns import CONFIGS, PROMPTS, last, run

OUT_OF_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB."),
    RuntimeError("[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory"),
    MemoryError(),
]


@pytest.fixture
def runner(tiny_pair):
    made = Runner(Options(target="toy", draft="toy"), load=lambda _id, _progress: tiny_pair)
    yield made
    made.close()


def told(updates):
    """(what the stage was told is wrong, the last trace)."""
    said, trace = None, None
    for update in updates:
        trace = update[1] if hasattr(update[1], "rounds") else trace
        status = update[0].get("status") if isinstance(update[0], dict) else None
        said = status if status and status["kind"] == "error" else said
    return said, trace


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=lambda e: type(e).__name__)
def test_memory_that_runs_out_in_a_round_is_said_and_the_rounds_before_stay(runner, monkeypatch, error):
    whole = last(run(runner, PROMPTS[0], CONFIGS[1]))
    step, rounds = Decoder.step, []

    def failing(self):
        rounds.append(self.index)
        if self.index == 3:
            raise error
        return step(self)

    monkeypatch.setattr(Decoder, "step", failing)
    said, trace = told(run(runner, PROMPTS[0], CONFIGS[1]))
    assert said["key"] == "errors.memory_out"
    assert len(trace.rounds) == 3
    assert trace.can_go_on
    assert rounds[-1] == 3
    assert runner.lane.counts.refused == 1
    monkeypatch.undo()
    assert last(run(runner, PROMPTS[0], CONFIGS[1], trace)).generated == whole.generated  # it goes on from there


def test_numbers_that_are_none_end_one_run_and_no_other(tiny_pair, folders):
    """Weights with a NaN in them, as a damaged download leaves."""
    target, draft = map(str, folders)
    broken = load_pair(target=target, draft=draft, device="cpu", dtype="float32")
    broken.target.lm_head.weight.data[7] = torch.nan
    for pair, key in ((broken, "errors.nan"), (tiny_pair, None)):
        runner = Runner(Options(target="toy", draft="toy"), load=lambda _id, _progress, pair=pair: pair)
        for one_round in (False, True):
            said, trace = told(run(runner, PROMPTS[0], CONFIGS[0], one_round=one_round))
            assert (said and said["key"]) == key
            assert len(trace.rounds) > 0 if key is None else not trace.rounds
        runner.close()


@pytest.mark.parametrize("damage", ["truncated", "missing", "no header"])
def test_a_broken_model_folder_is_said_and_can_be_mended(folders, tmp_path, damage):
    target, draft = tmp_path / "target", tmp_path / "draft"
    for source, folder in zip(folders, (target, draft), strict=True):
        shutil.copytree(source, folder)
    weights = target / "model.safetensors"
    whole = weights.read_bytes()
    {
        "truncated": lambda: weights.write_bytes(whole[: len(whole) // 2]),
        "missing": weights.unlink,
        "no header": lambda: weights.write_bytes(b"\xff" * 100),
    }[damage]()
    runner = Runner(Options(target=str(target), draft=str(draft), device="cpu", dtype="float32"))
    said, trace = told(run(runner, PROMPTS[0], CONFIGS[0]))
    assert said["key"] in ("errors.model_broken", "errors.model_pickle")
    assert "\n" not in said["text"]
    assert trace is None
    status, answer = health.health(runner)
    assert (status, answer["status"]) == (503, "error")
    assert "target" in answer["reason"]
    values = ("toy", "none", 400, _bars(), "", "skip", 1.0, "0")
    *_, toy, _ = proof_handlers.run(runner, values, "other", {"lang": "en"})
    assert toy[0].trial.n > 0  # what needs no models works
    weights.write_bytes(whole)
    assert last(run(runner, PROMPTS[0], CONFIGS[0])).rounds
    assert health.health(runner)[0] == 200
    runner.close()


def _bars():
    return '{"p": [0.2, 0.2, 0.2, 0.2, 0.2], "q": [0.1, 0.1, 0.2, 0.3, 0.3]}'


def full_disk(made):
    """A disk that takes no byte more: /dev/full answers as one does."""
    (made / "model.safetensors").write_bytes(b"half")
    with open("/dev/full", "wb") as file:
        file.write(b"x" * 10**6)
    return {}


def test_a_disk_that_is_full_is_said_and_leaves_nothing(tmp_path, values):
    def load(_id, _progress):
        prepare(tmp_path / "cache" / "model", full_disk)

    runner = Runner(Options(), load=load)
    said, _ = told(step_handlers.run(runner, [values[n] for n in settings.FIELDS], None, "s"))
    assert said["key"] == "errors.cache_write"
    assert "No space left" in said["text"]
    assert [p.name for p in (tmp_path / "cache").iterdir() if p.suffix != ".lock"] == []
    runner.close()

    def build(made):
        (made / "config.json").write_text("{}", encoding="utf-8")
        return {}

    assert is_whole(prepare(tmp_path / "cache" / "model", build))  # room again


def test_an_unforeseen_failure_ends_its_own_run_only(runner, monkeypatch, caplog):
    step = Decoder.step

    def failing(self):
        if self.config.seed == 13 and self.index == 1:
            raise KeyError("no such thing")
        return step(self)

    monkeypatch.setattr(Decoder, "step", failing)
    said, trace = told(run(runner, PROMPTS[0], RunConfig("draft", k=2, temperature=1, seed=13, max_new_tokens=20)))
    assert said["key"] == "ui.unexpected"
    assert len(trace.rounds) == 1
    assert "no such thing" in caplog.text
    assert runner.lane.counts.failed == 1
    assert last(run(runner, PROMPTS[0], CONFIGS[0], session="other")).rounds


def test_an_error_raised_by_the_lane_is_a_sentence(runner):
    runner.close()
    said, _ = told(run(runner, PROMPTS[0], CONFIGS[0]))
    assert said["key"] == "ui.closing"
    with pytest.raises(SpecvizError):
        runner.submit("s", runner.default, lambda pair: None)

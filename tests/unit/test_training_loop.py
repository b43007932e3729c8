"""Training on a tiny target: the held-out loss falls, and an interrupted run ends at the same weights, to the bit."""

import pytest
import torch
from safetensors.torch import load_file

from specviz.errors import SpecvizError
from specviz.training import loop
from specviz.training.data import Data
from specviz.training.draft import DraftTask
from specviz.training.eagle import EagleTask
from specviz.training.labels import HIDDEN, TAPS, taps
from specviz.training.loop import Plan, train
from specviz.training.medusa import MedusaTask
from specviz.training.shards import shards, write_shard
from specviz.training.teacher import label
from tests.tiny import V, tiny_model

PLAN = Plan(steps=24, batch=8, rate=3e-3, every=8, warmup=4)
CHOSEN = torch.arange(0, V - 6)  # a reduced vocabulary
TASKS = {
    "draft": lambda target: DraftTask(target, "tiny", (0, 2), CHOSEN, None),
    "eagle": lambda target: EagleTask(target, "tiny", CHOSEN, None),
    "medusa": lambda target: MedusaTask(target, "tiny", CHOSEN, None),
}


@pytest.fixture(scope="module")
def target():
    return tiny_model("llama", seed=3).requires_grad_(False)


@pytest.fixture(scope="module")
def corpus(target, tmp_path_factory):
    """Two shards of texts that the tiny target wrote, with its labels."""
    folder = tmp_path_factory.mktemp("corpus")
    torch.manual_seed(0)
    texts = torch.randint(1, V, (120, 4))
    with torch.inference_mode():
        for _ in range(20):
            p = target(texts, use_cache=False).logits[:, -1].softmax(-1)
            texts = torch.cat([texts, torch.multinomial(p, 1)], 1)
    for i, part in enumerate(texts.chunk(2)):
        facts = [{"n": 24, "prompt": 4, "temp": 1.0, "magpie": False}] * len(part)
        write_shard(folder, f"part-{i}", part.tolist(), facts, V)
    label(target, shards(folder), lambda *_, **__: None)
    return shards(folder)


def go(name, target, corpus, out, stop=None):
    torch.manual_seed(7)
    task = TASKS[name](target)
    data = Data(corpus, 0, PLAN.batch, wants=(HIDDEN, TAPS))
    return train(task, data, PLAN, out, lambda *_, **__: None, {"target": "tiny"}, stop=stop)


@pytest.mark.parametrize("name", TASKS)
def test_the_held_out_loss_falls(name, target, corpus, tmp_path):
    report = go(name, target, corpus, tmp_path)
    first, last = report["held_out"][0], report["held_out"][-1]
    assert (first["step"], last["step"]) == (0, PLAN.steps)
    assert sum(last["loss"]) < sum(first["loss"]) - 0.05
    assert sum(last["alpha_at_most"]) > sum(first["alpha_at_most"])
    assert report["data"]["texts_held_back"] == 3


@pytest.mark.parametrize("name", TASKS)
def test_interrupted_and_resumed_ends_at_the_same_weights(name, target, corpus, tmp_path):
    go(name, target, corpus, tmp_path / "whole")
    go(name, target, corpus, tmp_path / "parts", stop=11)  # the last checkpoint is that of step 8
    go(name, target, corpus, tmp_path / "parts")
    (file,) = (tmp_path / "whole").glob("*.safetensors")
    whole, parts = load_file(file), load_file(tmp_path / "parts" / file.name)
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[key], parts[key]) for key in whole)


def test_a_checkpoint_of_other_settings_is_refused(target, corpus, tmp_path):
    go("medusa", target, corpus, tmp_path, stop=8)
    data = Data(corpus, 0, PLAN.batch, wants=(HIDDEN, TAPS))
    other = Plan(steps=24, batch=8, rate=1e-3, every=8, warmup=4)
    with pytest.raises(SpecvizError, match="rate"):
        train(TASKS["medusa"](target), data, other, tmp_path, lambda *_, **__: None, {"target": "tiny"})


def test_labels_are_the_targets_own_distribution(target, corpus):
    data = Data(corpus, 0, 4, wants=(HIDDEN, TAPS))
    batch = data.at(0)
    with torch.inference_mode():
        out = target(batch.tokens, use_cache=False, output_hidden_states=True)
    best = out.logits.softmax(-1).topk(16)
    assert torch.equal(batch.ids[..., :3], best.indices[..., :3])
    torch.testing.assert_close(batch.probs, best.values, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(batch.hidden, out.hidden_states[-1], atol=0.02, rtol=0.01)  # kept in bf16
    on_the_way = torch.cat([out.hidden_states[i] for i in taps(target)], -1)
    torch.testing.assert_close(batch.taps, on_the_way, atol=0.05, rtol=0.01)
    assert batch.counts[0].nonzero().flatten().tolist() == list(range(3, 23))  # the next token is the target's own


def test_no_text_is_both_trained_on_and_kept_back(corpus):
    data = Data(corpus, 0, 4, wants=())
    kept = {(id(place.labels), place.start) for place in data.held_back}
    assert len(kept) == 3
    assert kept.isdisjoint((id(place.labels), place.start) for place in data.places)
    assert torch.equal(data.at(5).tokens, Data(corpus, 0, 4, wants=()).at(5).tokens)


def test_a_loss_that_is_no_number_keeps_the_checkpoint(target, corpus, tmp_path, monkeypatch):
    go("medusa", target, corpus, tmp_path, stop=8)
    before = (tmp_path / "checkpoint.pt").read_bytes()
    real = loop.combined
    monkeypatch.setattr(loop, "combined", lambda task, batch, step, plan: real(task, batch, step, plan) * torch.nan)
    with pytest.raises(SpecvizError, match="not a number"):
        go("medusa", target, corpus, tmp_path)
    assert (tmp_path / "checkpoint.pt").read_bytes() == before

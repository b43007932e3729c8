"""The learned drafters in the engine, on a tiny target: exact whatever their weights, and evaluated as they run."""

from types import SimpleNamespace

import pytest
import torch

from specviz.config import RunConfig
from specviz.engine.decode import autoregressive, speculative
from specviz.engine.drafters import ModelDrafter
from specviz.engine.eagle import EagleDrafter
from specviz.engine.medusa import MedusaHeads
from specviz.engine.medusa_drafter import MedusaDrafter
from specviz.engine.model import CachedLM
from specviz.engine.reduced import ReducedHead
from specviz.models.text import TextCodec
from specviz.training.eagle import from_last_layer
from specviz.training.evaluate import evaluate
from specviz.training.labels import taps
from specviz.training.target import Parts, pruned
from tests.tiny import tiny_model
from tests.unit.tiny_tokenizers import byte_level

TOKENIZER = byte_level()
V = len(TOKENIZER)


@pytest.fixture(scope="module")
def target():
    return tiny_model("llama", seed=9, vocab_size=V).requires_grad_(False)


def drafter(name, target):
    """A fresh drafter with untrained weights and a reduced vocabulary."""
    parts = Parts.of(target, "tiny")
    head = ReducedHead(parts.head, torch.arange(0, V, 2))
    if name == "eagle":
        return EagleDrafter(from_last_layer(parts, taps(target)).eval(), target.get_input_embeddings(), head, V)
    if name == "medusa":
        return MedusaDrafter(MedusaHeads(4, parts.head.shape[1], V, lm_head=head), V)
    model = pruned(target, (0, 2))
    model.lm_head = head
    return ModelDrafter(CachedLM(model, V))


@pytest.mark.parametrize("prompt", [[5], [5, 9], list(range(3, 20))], ids=len)
@pytest.mark.parametrize("name", ["draft", "eagle", "medusa"])
def test_greedy_output_is_the_targets(name, prompt, target):
    config = RunConfig(method="none", k=4, max_new_tokens=40)
    plain = [t for r in autoregressive(CachedLM(target, V), prompt, config) for t in r.emitted]
    rounds = list(speculative(CachedLM(target, V), drafter(name, target), prompt, config))
    assert [t for r in rounds for t in r.emitted] == plain
    assert sum(len(r.draft.tokens) for r in rounds) > 40


@pytest.mark.parametrize("name", ["eagle", "medusa"])
def test_a_resumed_run_drafts_the_same(name, target):
    """A new drafter in the middle of a text reads the target's states of all of it."""
    config = RunConfig(method="none", k=3, temperature=1.0, max_new_tokens=24, seed=4)
    rounds = list(speculative(CachedLM(target, V), drafter(name, target), [4, 5, 6], config))
    text = [4, 5, 6] + [t for r in rounds[:3] for t in r.emitted]
    options = {"generated": len(text) - 3, "index": 3}
    again = list(speculative(CachedLM(target, V), drafter(name, target), text, config, **options))
    assert [(r.draft.tokens, r.path, r.final.token) for r in again] == [
        (r.draft.tokens, r.path, r.final.token) for r in rounds[3:]
    ]


def test_the_target_as_its_own_draft_is_evaluated_as_perfect(target):
    parts = {"codec": TextCodec(TOKENIZER, V), "eos": (), "vocab_size": V}
    pair = SimpleNamespace(target=target, opened=lambda role: CachedLM(target, V), **parts)
    prompts = {"one": ["hello world", "the dog"], "two": ["apples"]}

    def perfect():
        return ModelDrafter(CachedLM(pruned(target, (0, 1, 2)), V))

    found = evaluate(pair, perfect, k=3, tokens=20, prompts=prompts, progress=lambda *_, **__: None)
    for temperature in ("0", "0.7"):
        every = found["temperatures"][temperature]["all"]
        assert every["acceptance_rate"] == 1.0
        assert every["alpha"] > 0.999
        assert every["mean_acceptance_length"] == pytest.approx(4.0)
        assert found["temperatures"][temperature]["kinds"].keys() == prompts.keys()

"""The lean pass against transformers' own, on small models of the family, whatever is asked of the cache."""

import random

import pytest
import torch
from torch import nn
from transformers import PreTrainedModel

from specviz.engine import lean as lean_module
from specviz.engine.eagle_layer import EagleLayer, EagleSizes
from specviz.engine.lean import LeanLM, fits, lean
from specviz.engine.medusa import MedusaHeads
from specviz.engine.model import CachedLM
from specviz.engine.products import int8, packed, plain, prepacked
from specviz.engine.reduced import ReducedHead
from specviz.engine.tree import Branches, Tree
from specviz.errors import SpecvizError
from specviz.models.fast import fast
from specviz.models.skip import skip_layers
from tests.tiny import V, tiny_model

ROPE = {"factor": 4.0, "original_max_position_embeddings": 32, "rope_theta": 10000.0}
MODELS = {
    "llama": ("llama", {}),
    "biases": ("llama", {"attention_bias": True, "mlp_bias": True}),
    "tied": ("llama", {"tie_word_embeddings": True}),
    "wide heads": ("llama", {"head_dim": 16}),
    "all heads": ("llama", {"num_key_value_heads": 4}),
    "linear": ("llama", {"rope_parameters": {"rope_type": "linear", **ROPE}}),
    "yarn": ("llama", {"rope_parameters": {"rope_type": "yarn", **ROPE}}),
    "llama3": (
        "llama",
        {"rope_parameters": {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0, **ROPE}},
    ),
    "qwen2": ("qwen2", {}),
    "mistral": ("sliding", {"sliding_window": None}),
}


def model(name: str) -> PreTrainedModel:
    family, changes = MODELS[name]
    made = tiny_model(family, **changes)
    for part in made.modules():  # biases begin as zeros, norms as ones: a forgotten one would not be noticed
        if getattr(part, "bias", None) is not None:
            nn.init.normal_(part.bias, std=0.3)
        if type(part).__name__.endswith("RMSNorm"):
            nn.init.uniform_(part.weight, 0.5, 1.5)
    return made


def text(n: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(V, (n,), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("form", [packed, plain])
@pytest.mark.parametrize("name", MODELS)
def test_same_numbers_whatever_happens_to_the_cache(name, form, monkeypatch):
    """Passes over texts and trees, rollbacks and kept paths in random order; the cache has to grow, too."""
    monkeypatch.setattr(lean_module, "FIRST_ROWS", 16)
    made, moves = model(name), random.Random(name)
    assert fits(made)
    weights = lean(made, form)
    for run in range(2):
        ours, theirs = LeanLM(weights, V), CachedLM(made, V)
        for step in range(12):
            before, n = ours.length, moves.randint(1, 9)
            tokens, branches = text(n, 100 * run + step), None
            if before and moves.random() < 0.5:
                tree = Tree(tuple(moves.randint(-1, i - 1) for i in range(n)))
                branches = Branches.of(tree, before)
            rows = moves.randint(1, n)
            a, b = (lm.forward(tokens, rows, (0, 2, -1), branches) for lm in (ours, theirs))
            torch.testing.assert_close(a.logits, b.logits, atol=1e-4, rtol=0)
            torch.testing.assert_close(a.hidden, b.hidden, atol=1e-4, rtol=0)
            kept = tree.path(moves.randrange(n)) if branches else range(moves.randint(0, n))
            for lm in (ours, theirs):
                lm.keep(before, [before + node for node in kept])
                assert lm.length == before + len(kept)


@pytest.mark.parametrize("form", [packed, plain])
def test_the_model_stays_as_it_was(form):
    made, same = model("biases"), model("biases")
    weights, tokens = lean(made, form), text(9)
    LeanLM(weights).forward(tokens)
    before, after = same.state_dict(), made.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    # products that became one hold the weights once: what is changed in the model is changed in them
    if form is plain:
        with torch.no_grad():
            made.model.layers[1].mlp.up_proj.weight.mul_(2)
        torch.testing.assert_close(
            LeanLM(weights).forward(tokens).logits, CachedLM(made).forward(tokens).logits, atol=1e-4, rtol=0
        )


def test_without_layers_it_is_the_model_without_them():
    made = model("llama")
    shorter = skip_layers(made, (1,))
    ours, theirs = LeanLM(lean(made, packed).without((1,), shorter)), CachedLM(shorter)
    for tokens in (text(7), text(3, 1)):
        torch.testing.assert_close(ours.forward(tokens, 3).logits, theirs.forward(tokens, 3).logits, atol=1e-4, rtol=0)


def test_bfloat16_stays_near_its_own_precision():
    made = model("llama").bfloat16()
    ours, theirs = (lm.forward(text(9), 9).logits.float() for lm in (LeanLM(lean(made, packed)), CachedLM(made)))
    assert (ours - theirs).abs().max() < 0.05 * theirs.abs().max()


@pytest.mark.parametrize("biased", [False, True])
def test_int8_is_the_product_with_rounded_weights(biased):
    """In whole numbers of 8 bits times a scale; the step between two of them is what a weight is off by at most."""
    torch.manual_seed(0)
    weight, x = torch.randn(96, 64).bfloat16(), torch.randn(9, 64).bfloat16()
    bias = torch.randn(96).bfloat16() if biased else None
    scale = (weight.float().abs().amax(1, keepdim=True) / 127).bfloat16().float()
    rounded = (weight.float() / scale).round() * scale
    assert ((rounded - weight.float()).abs() <= 0.51 * scale).all()
    ours, whole = int8(weight, bias)(x), x.float() @ rounded.T + (bias.float() if biased else 0)
    torch.testing.assert_close(ours.float(), whole, atol=0.1, rtol=0.01)
    assert torch.equal(torch.cat([int8(weight, bias)(x[i : i + 1]) for i in range(9)]), ours)  # whatever stands beside


def test_int8_checks_several_tokens_as_it_would_one_by_one():
    weights, tokens = lean(tiny_model(hidden_size=64, seed=3).bfloat16(), int8), text(12)
    at_once, one_by_one = LeanLM(weights), LeanLM(weights)
    several = at_once.forward(tokens, 12).logits
    single = torch.cat([one_by_one.forward(token.view(1)).logits for token in tokens])
    assert (several - single).abs().max() < 0.05 * single.abs().max()


def test_prepacked_heads_say_the_same():
    """Of any depth and shape; a linear layer that is the target's own is left alone."""
    torch.manual_seed(0)
    layer, head = EagleLayer(EagleSizes(32, 4, 2, 8, 64, 10000.0, 1e-5, (0, 1))), nn.Linear(32, V, bias=False)
    heads = MedusaHeads(3, 32, V, layers=2, lm_head=head)
    for part in [*layer.modules(), *heads.modules()]:
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=0.3)
    reduced, x = ReducedHead(head.weight, torch.arange(0, V, 3)), torch.randn(2, 5, 32)

    def said() -> list[torch.Tensor]:
        return [
            layer.join(x, x),
            layer.hidden(torch.cat([x, x, x], -1)),
            layer.finish(x, torch.randn(2, 4, 5, 8, generator=seeded())),
            heads(x),
            reduced(x),
        ]

    def seeded() -> torch.Generator:
        return torch.Generator().manual_seed(1)

    with torch.inference_mode():
        before = said()
        for module in (layer, heads, reduced):
            assert prepacked(module) is module
        heads.read_by(prepacked(head))
        after = said()
    assert type(head) is nn.Linear
    assert not any(type(part) is nn.Linear for part in [*layer.modules(), *heads.modules()])
    for a, b in zip(before, after, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=0)


def test_what_does_not_fit_is_left_to_transformers():
    quantized = model("llama")
    quantized.model.layers[1].mlp.up_proj = type("Quantized", (nn.Linear,), {})(32, 64, bias=False)

    class Own(type(model("llama"))):
        pass

    dynamic = {"rope_parameters": {"rope_type": "dynamic", **ROPE}}
    for other in (
        tiny_model("gpt2"),
        tiny_model("sliding"),
        tiny_model("llama", hidden_act="gelu"),
        tiny_model("llama", **dynamic),
        quantized,
        Own(model("llama").config),
    ):
        assert not fits(other)
        assert fast(other) is None
    assert fast(model("llama")) is not None


def test_a_text_beyond_the_context_is_refused():
    lm = LeanLM(lean(model("llama"), packed))
    lm.prefill(text(120))
    with pytest.raises(SpecvizError, match="129"):
        lm.forward(text(9))
    assert lm.length == 120
    lm.forward(text(8))

"""Logits to probabilities to tokens, against transformers' own warpers and against arithmetic."""

import math

import pytest
import torch
from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from specviz.config import Override
from specviz.engine.sampling import draw, overridden, probabilities, round_draws

LOGITS = torch.tensor(
    [[2.0, 1.9, -1.0, 0.3, 5.0, 4.9], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [60000.0, -60000.0, 0, 1, 2, 3]]
)


@pytest.mark.parametrize("temperature", [0.0, 1e-320, 1e-8, 1e-4, 0.01, 1.0, 2.0, 100.0])
@pytest.mark.parametrize("top_p", [0.0, 1e-4, 0.5, 1.0])
@pytest.mark.parametrize("top_k", [0, 1, 3, 6, 7])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_any_setting_gives_a_distribution(temperature, top_p, top_k, dtype):
    p = probabilities(LOGITS.to(dtype), temperature, top_k, top_p, min_p=0.1)
    assert torch.isfinite(p).all()
    assert (p >= 0).all()
    torch.testing.assert_close(p.sum(-1), torch.ones(3))
    assert p.argmax(-1).tolist() == LOGITS.to(dtype).argmax(-1).tolist()


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p", "min_p"),
    [(0.7, 0, 1.0, 0.0), (1.3, 20, 1.0, 0.0), (1.0, 0, 0.8, 0.0), (0.9, 0, 1.0, 0.2), (0.8, 30, 0.9, 0.05)],
)
def test_same_as_transformers(temperature, top_k, top_p, min_p):
    logits = torch.randn(5, 200, generator=torch.Generator().manual_seed(0)) * 3
    scores = TemperatureLogitsWarper(temperature)(None, logits)
    if top_k:
        scores = TopKLogitsWarper(top_k)(None, scores)
    if top_p < 1:
        scores = TopPLogitsWarper(top_p)(None, scores)
    if min_p:
        scores = MinPLogitsWarper(min_p)(None, scores)
    torch.testing.assert_close(probabilities(logits, temperature, top_k, top_p, min_p), scores.softmax(-1))


def test_greedy_is_one_hot_at_the_first_argmax():
    assert probabilities(torch.tensor([1.0, 3.0, 3.0]), 0.0).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_nan_stays_visible(temperature):
    assert probabilities(torch.tensor([1.0, math.nan, 0.0]), temperature).isnan().any()


def test_draw_is_the_inverse_of_the_cumulative_distribution():
    weights = torch.tensor([0.0, 2.0, 0.0, 1.0, 1.0, 0.0])
    u = (torch.arange(4000, dtype=torch.float64) + 0.5) / 4000
    counts = torch.bincount(draw(weights.expand(4000, 6), u), minlength=6).div(4000)
    torch.testing.assert_close(counts, weights / 4)


@pytest.mark.parametrize("u", [0.0, math.nextafter(1.0, 0.0)])
@pytest.mark.parametrize("scale", [1.0, 0.7, 1e-6])
def test_draw_never_picks_weight_zero(u, scale):
    weights = torch.tensor([0.0, 0.3, 0.0, 0.7, 0.0]) * scale
    assert weights[draw(weights, u)] > 0


def test_draw_from_a_large_vocabulary_is_not_biased_by_rounding():
    weights = torch.full((50_000,), 1 / 50_000)
    u = torch.tensor([0.25, 0.5, 0.999], dtype=torch.float64)
    assert draw(weights.expand(3, -1), u).tolist() == [12_500, 25_000, 49_950]


def test_round_draws_depend_on_seed_and_round_only():
    assert round_draws(7, 3, 2).draft == round_draws(7, 3, 5).draft[:2]
    assert round_draws(7, 3, 2).gate == round_draws(7, 3, 5).gate[:2]
    assert round_draws(7, 3, 2).final == round_draws(7, 3, 5).final
    seeds = [0, 1, 2**31, 2**63 - 1]
    assert len({round_draws(s, r, 1) for s in seeds for r in range(50)}) == 200


def test_round_draws_are_uniform():
    rounds = [round_draws(1, r, 3) for r in range(2000)]
    values = torch.tensor([x for d in rounds for x in (*d.draft, *d.gate, d.final)])
    counts = torch.histc(values, 10, 0, 1)
    assert ((counts - 1400) ** 2 / 1400).sum() < 27.9  # chi-square, 9 degrees of freedom, p = .001


def test_override_sets_one_gate():
    draws = round_draws(0, 0, 3)
    changed = overridden(draws, [Override(0, 1, u=0.25)])
    assert changed.gate == (draws.gate[0], 0.25, draws.gate[2])
    assert (changed.draft, changed.final) == (draws.draft, draws.final)

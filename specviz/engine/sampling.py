"""Logits to probabilities, and one uniform draw to one token.

Every random choice of the engine is the inverse of a cumulative distribution at a uniform number that is handed
in. So a choice costs one draw, not one per vocabulary entry; it can be recorded, replayed, changed for a what-if,
and enumerated in a test.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor

from specviz.config import Override, RunConfig
from specviz.engine.send import send

NUCLEUS = 2048  # tokens looked at first for top-p
SMALLEST_TEMPERATURE = 1e-30  # below it a division in float32 would be one by zero


def probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, min_p: float = 0.0
) -> Tensor:
    """The distribution that tokens are drawn from: logits [..., V] -> probabilities [..., V] in float32.

    Temperature, then top-k, top-p and min-p, as in transformers. Temperature 0 puts all mass on the first argmax.
    The support is never empty. A row with NaN logits comes out as NaN, which the decoder refuses.
    """
    logits = logits.float()  # float16 logits of 60000 overflow in a float16 softmax
    if logits.device.type == "mps":
        logits = logits.cpu()  # MPS has no float64, which `draw` needs
    if temperature == 0:
        top = logits.argmax(-1, keepdim=True)
        one_hot = torch.zeros_like(logits).scatter_(-1, top, 1.0)
        return one_hot + 0.0 * logits.amax(-1, keepdim=True)  # keeps NaN visible; argmax alone would hide it
    logits = logits - logits.amax(-1, keepdim=True)  # so that no temperature can overflow
    p = torch.softmax(logits / max(temperature, SMALLEST_TEMPERATURE), dim=-1)
    if 0 < top_k < p.shape[-1]:
        p = p.where(p >= p.topk(top_k).values[..., -1:], 0.0)
        p = p / p.sum(-1, keepdim=True)
    if top_p < 1.0:
        ranked, order = _ranked(p, top_p)
        before = ranked.cumsum(-1) - ranked  # mass of all likelier tokens
        kept = torch.zeros_like(p).scatter_(-1, order, ranked.masked_fill(before >= top_p, 0.0))
        top = p.argmax(-1, keepdim=True)  # the likeliest always stays, also at top_p = 0
        p = kept.scatter_(-1, top, p.gather(-1, top))
        p = p / p.sum(-1, keepdim=True)
    if min_p > 0.0:
        p = p.where(p >= min_p * p.amax(-1, keepdim=True), 0.0)
        p = p / p.sum(-1, keepdim=True)
    return p


def _ranked(p: Tensor, top_p: float) -> tuple[Tensor, Tensor]:
    """The likeliest tokens by falling p, with at least `top_p` of the mass: their p and their ids."""
    if p.device.type == "cpu":  # a GPU sorts fast, and would have to be waited for to know whether these are enough
        ranked, order = p.topk(min(NUCLEUS, p.shape[-1]))  # sorted; nearly always enough, and 10x faster
        if ranked.sum(-1).min() >= top_p:
            return ranked, order
    return p.sort(dim=-1, descending=True)


def shape(logits: Tensor, config: RunConfig) -> Tensor:
    """`probabilities` with a run's settings: the same for p and for q."""
    return probabilities(logits, config.temperature, config.top_k, config.top_p, config.min_p)


def thought(logits: Tensor, config: RunConfig) -> Tensor:
    """What a drafter thinks of tokens that it names without drawing: at temperature 1 where the run is greedy."""
    return shape(logits, config if config.temperature else replace(config, temperature=1.0))


def draw(weights: Tensor, u: Tensor | float) -> Tensor:
    """One token per row: the first whose cumulative weight exceeds u x total. [..., V], [...] -> ids [...].

    Weights need not sum to 1. A weight of 0 is never drawn, not even at u = 0 or at the last u below 1.
    """
    cumulative = weights.cumsum(-1, dtype=torch.float64)  # float32 would lose 1e-3 of mass over 50,000 entries
    total = cumulative[..., -1:].contiguous()
    u = torch.as_tensor(u, dtype=torch.float64, device=weights.device)
    found = torch.searchsorted(cumulative, u.expand(total.shape[:-1]).unsqueeze(-1) * total, right=True)
    last = torch.searchsorted(cumulative, total)  # the last entry with weight
    return torch.minimum(found, last).clamp(max=weights.shape[-1] - 1).squeeze(-1)  # NaN rows: refused later


def pick(table: Tensor, at: Tensor) -> Tensor:
    """table[at] for a number [] that is on the device: plain indexing would wait for it. [n, ...], [] -> [...]."""
    return table.index_select(0, at.view(1)).squeeze(0)


@dataclass(frozen=True, slots=True)
class Draws:
    """The uniform numbers of one round: to draw each drafted token, to judge it, and for the final token."""

    draft: tuple[float, ...]
    gate: tuple[float, ...]
    final: float


def round_draws(seed: int, index: int, k: int) -> Draws:
    """The draws of round `index`. They depend on (seed, index) alone, so a round can be run again at any time.

    The first positions get the same numbers whatever k is. Python's generator, because its stream is the same on
    every device, platform and version.
    """
    rng = random.Random(f"specviz/{seed}/{index}")
    final = rng.random()
    pairs = [(rng.random(), rng.random()) for _ in range(k)]
    return Draws(tuple(d for d, _ in pairs), tuple(g for _, g in pairs), final)


@lru_cache(8)
def on_device(draws: Draws, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """The same numbers as tensors: draft [n], gate [n], final []. Sent once a round, however often they are wanted."""
    n = len(draws.draft)
    numbers = send([*draws.draft, *draws.gate, draws.final], device, torch.float64)
    return numbers[:n], numbers[n:-1], numbers[-1]


def overridden(draws: Draws, overrides: Sequence[Override]) -> Draws:
    """`draws` with the gates that a what-if sets by hand."""
    fixed = {o.position: o.u for o in overrides if o.u is not None}
    return replace(draws, gate=tuple(fixed.get(i, u) for i, u in enumerate(draws.gate)))

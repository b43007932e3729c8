"""How far a drafter's q is from the target's p, of which the likeliest tokens and the mass of the rest are known."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

TINY = 1e-6
SHARE = 0.5  # of the places of a batch that a training step judges: the LM head is half of what a step costs


class Vocabulary:
    """The ids that a drafter can put out, and where each stands among them."""

    def __init__(self, chosen: Tensor, size: int) -> None:
        self.chosen = chosen  # [W] rising ids
        self.place = torch.full((size,), -1, dtype=torch.long)
        self.place[chosen] = torch.arange(len(chosen))

    def soft_targets(self, ids: Tensor, probs: Tensor) -> tuple[Tensor, Tensor]:
        """ids, probs [..., TOP] -> places [..., TOP] among the chosen, probs with 0 for what is not among them."""
        places = self.place.to(ids.device)[ids]
        return places.clamp(min=0), torch.where(places >= 0, probs, 0.0)


def judged(counts: Tensor, step: int | None) -> Tensor:
    """Which of the places `counts` [B, S] are judged: some at random, or all of them to measure (step None)."""
    return counts if step is None else counts & (torch.rand(counts.shape) < SHARE).to(counts.device)


@dataclass(frozen=True, slots=True)
class Fit:
    """Sums over n positions."""

    n: int
    kl: Tensor  # forward KL(p || q), up to p's own entropy: the cross entropy, in nats
    tv: Tensor  # total variation, 1 - alpha
    agree: Tensor  # the likeliest token is the same


def fit(logits: Tensor, places: Tensor, probs: Tensor) -> Fit:
    """logits [n, W] of q; places, probs [n, TOP] of p, falling. What p has beyond its listed tokens counts as one more
    token, so 1 - tv is at most alpha's true value or above it, never below."""
    logits = logits.float()
    log_q_top = logits.gather(-1, places) - logits.logsumexp(-1, keepdim=True)  # [n, TOP]
    listed = probs > 0
    q_top = torch.where(listed, log_q_top.exp(), 0.0)
    p_rest = (1 - probs.sum(-1)).clamp(min=0)
    q_rest = (1 - q_top.sum(-1)).clamp(min=TINY)
    kl = -(torch.where(listed, probs * log_q_top, 0.0).sum(-1) + p_rest * q_rest.log())
    tv = 0.5 * ((probs - q_top).abs().sum(-1) + (p_rest - q_rest).abs())
    best = torch.where(listed[:, 0], places[:, 0], -1)  # the likeliest, unless it is not among those put out
    return Fit(len(logits), kl.sum(), tv.sum(), (logits.detach().argmax(-1) == best).sum())

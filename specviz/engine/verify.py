"""The heart of speculative decoding: accept or reject, as pure functions on probabilities.

Leviathan, Kalman, Matias, "Fast Inference from Transformers via Speculative Decoding", arXiv 2211.17192, Algorithm 1.
Chen et al., "Accelerating Large Language Model Decoding with Speculative Sampling", arXiv 2302.01318, Algorithm 2.
Drafts of any shape are judged in `verify_tree.py`, out of the same pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from specviz.engine.sampling import draw, probabilities

NO_MASS = 1e-9  # a residual lighter than this is rounding: p and q are the same distribution


def leftover(p: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """What p has more of than q: max(0, p - q), and its mass 1 - alpha. [..., V], [..., V] -> [..., V], [..., 1].

    Where p = q nothing is left over; a token is then drawn from p.
    """
    more = (p - q).clamp(min=0)  # max(0, p - q)
    mass = more.sum(-1, keepdim=True, dtype=torch.float64)  # = 1 - alpha
    return torch.where(mass > NO_MASS, more, p), torch.where(mass > NO_MASS, mass, 1.0)


def residual(p: Tensor, q: Tensor) -> Tensor:
    """The distribution of a recovered token: norm(max(0, p - q)). [..., V], [..., V] -> [..., V]."""
    more, mass = leftover(p, q)
    return (more / mass).to(p.dtype)


def gate(p: Tensor, q: Tensor, drafted: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Accept or reject one token at each position. Returns accepted, p(drafted), q(drafted), each [...].

    p, q [..., V] target and draft distribution; drafted [...] token ids, drawn from q; u [...] uniform in [0, 1).
    """
    p_x = p.gather(-1, drafted.unsqueeze(-1)).squeeze(-1)
    q_x = q.gather(-1, drafted.unsqueeze(-1)).squeeze(-1)
    return u * q_x < p_x, p_x, q_x  # u < min(1, p/q); strict, so that u = 0 cannot accept p = 0


@dataclass(frozen=True, slots=True)
class Judged:
    """The result at each position, all tensors of shape [...]."""

    accepted: Tensor  # bool
    drafted: Tensor
    recovered: Tensor  # the token that a rejection puts there
    prob: Tensor  # the probability that `recovered` was drawn with
    p: Tensor  # p(drafted token)
    q: Tensor  # q(drafted token)

    @property
    def token(self) -> Tensor:
        """The drafted token where it is accepted, else the recovered one."""
        return torch.where(self.accepted, self.drafted, self.recovered)


def judge(p: Tensor, q: Tensor, drafted: Tensor, u: Tensor, v: Tensor) -> Judged:
    """Accept or replace one drafted token at each position.

    p, q [..., V] target and draft distribution; drafted [...] token ids, drawn from q; u, v [...] uniform in [0, 1),
    independent of each other: u decides, v draws the recovered token.
    """
    accepted, p_x, q_x = gate(p, q, drafted, u)
    more, mass = leftover(p, q)
    recovered = draw(more, v)  # draw does not need its weights to sum to 1
    prob = (more.gather(-1, recovered.unsqueeze(-1)) / mass).squeeze(-1)
    return Judged(accepted, drafted, recovered, prob, p_x, q_x)


def speculative_sampling(
    draft_logits: Tensor,
    target_logits: Tensor,
    draft_token: Tensor | int,
    generator: torch.Generator | None = None,
    *,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
) -> Tensor:
    """Speculative sampling at one position, or at many: the drafted token if it is accepted, else a recovered one.

    draft_logits, target_logits [..., V]; draft_token [...], drawn from the draft's distribution at the same
    temperature, top_k, top_p and min_p. Returns token ids [...]. If draft_token ~ q, the result ~ p, exactly
    (2211.17192, appendix A.1). Two uniform numbers a position come from `generator` (the CPU's default one if None).
    """
    p = probabilities(target_logits, temperature, top_k, top_p, min_p)  # [..., V]
    q = probabilities(draft_logits, temperature, top_k, top_p, min_p)
    drafted = torch.as_tensor(draft_token, dtype=torch.long, device=p.device)  # [...]
    device = "cpu" if generator is None else generator.device
    u, v = torch.rand(2, *drafted.shape, dtype=torch.float64, generator=generator, device=device).to(p.device)
    return judge(p, q, drafted, u, v).token

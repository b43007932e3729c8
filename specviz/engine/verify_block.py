"""Block verification: a chain judged as a whole. Lossless, and never accepts fewer tokens in expectation.

Sun et al., "Block Verification Accelerates Speculative Decoding", arXiv 2403.10444, Algorithm 2. A token of little
promise can still stay when those after it are likely: all positions are judged, and the last that passes counts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.engine.sampling import pick
from specviz.engine.verify import NO_MASS
from specviz.engine.verify_tree import Walk


def walk_block(p: Tensor, q: Tensor, drafted: Tensor, u: Tensor, v: Tensor | float) -> Walk:
    """p [k+1, V] target, q [k, V] draft, drafted [k] drawn from q, u [k] for the gates, v for the final token."""
    k = len(drafted)
    p_x = p[:k].gather(-1, drafted.unsqueeze(-1)).squeeze(-1)  # [k]
    q_x = q.gather(-1, drafted.unsqueeze(-1)).squeeze(-1)
    weight = torch.ones(k + 1, dtype=torch.float64, device=p.device)  # p_0 = 1
    least = torch.finfo(torch.float64).tiny  # a what-if may force a token of q = 0: then any p > 0 is enough
    for i in range(k):  # p_i = min(1, p_{i-1} p(x_i) / q(x_i)): what is left of the budget of this prefix
        weight[i + 1] = (weight[i] * p_x[i] / q_x[i].double().clamp(min=least)).clamp(max=1.0)
    more = (weight[:k, None] * p[:k] - q).clamp(min=0)  # [k, V] max(0, p_i p - q) after each prefix
    mass = more.sum(-1, dtype=torch.float64)  # [k]
    # h_i = mass_i / (mass_i + 1 - p_i), h_k = p_k; where p and q are one and p_i = 1, all that follows passes too.
    below = mass[1:] + 1 - weight[1:k]
    limit = torch.cat([torch.where(below > NO_MASS, mass[1:] / below, 1.0), weight[k:]])  # [k]
    accepted = u < limit
    order = torch.arange(1, k + 1, device=p.device)
    end = (order * accepted).amax() if k else torch.zeros((), dtype=torch.long, device=p.device)  # the last that passes
    kept = order <= end
    rest = pick(p, end)
    if k:
        at = end.clamp(max=k - 1)
        rest = torch.where((end < k) & (pick(mass, at) > NO_MASS), pick(more, at), rest)
    return Walk.ended(torch.ones_like(kept), kept, p_x, q_x, limit, end, rest, v)

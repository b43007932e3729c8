"""What the screen wants to know of the distributions: their likeliest tokens, entropies, and how alike they are.

Bounded, whatever the vocabulary: at most 3 x TOP ids a position.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.engine.verify import residual
from specviz.trace import Position

TOP = 32  # likeliest tokens recorded of each of p, q and the residual
DIGITS = 6


def positions(p: Tensor, q: Tensor, recovered: int | None) -> tuple[Position, ...]:
    """p [k+1, V], q [k, V] -> k+1 records. `recovered`: the position where a token was drawn from the residual."""
    k = len(q)
    rest = residual(p[recovered], q[recovered]) if recovered is not None else None  # [V]
    alpha = torch.minimum(p[:k], q).sum(-1, dtype=torch.float64).tolist()
    p_entropy, q_entropy = entropy(p), entropy(q)
    p_top, q_top = _top(p), _top(q)
    out = []
    for i in range(k + 1):
        r = rest if i == recovered else None
        chosen = torch.cat([p_top[i], *([q_top[i]] if i < k else []), *([_top(r)] if r is not None else [])])
        ids = torch.unique(chosen)
        rows = [p[i][ids].tolist(), q[i][ids].tolist() if i < k else [], r[ids].tolist() if r is not None else []]
        heights = [max(values) for values in zip(*(row for row in rows if row), strict=True)]
        order = sorted(range(len(ids)), key=lambda j: -heights[j])
        order = [j for j in order if round(heights[j], DIGITS) > 0]  # one-hot rows have but one entry
        listed = ids.tolist()
        out.append(
            Position(
                tuple(listed[j] for j in order),
                *(tuple(round(row[j], DIGITS) for j in order) if row else () for row in rows),
                p_entropy=p_entropy[i],
                q_entropy=q_entropy[i] if i < k else None,
                alpha=min(1.0, round(alpha[i], DIGITS)) if i < k else None,
            )
        )
    return tuple(out)


def entropy(p: Tensor) -> list[float]:
    """Entropy in nats: [n, V] -> n numbers. 0 log 0 = 0."""
    return [round(h, 4) for h in torch.special.entr(p).sum(-1).tolist()]


def _top(p: Tensor) -> Tensor:
    """Ids of the TOP largest entries: [..., V] -> [..., TOP]."""
    return p.topk(min(TOP, p.shape[-1]), dim=-1).indices

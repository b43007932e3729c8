"""What the screen wants to know of the distributions: their likeliest tokens, entropies, and how alike they are.

Bounded, whatever the vocabulary: the likeliest tokens of p, q and the residual, and the tokens that were drafted.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.engine.drafters import Proposal
from specviz.engine.tree import Tree
from specviz.trace import Position

TOP = 32  # likeliest tokens recorded of each of p, q and the residual
FEW = 8  # at least so many, in the many contexts of a large tree
DIGITS = 6


def contexts(
    p: Tensor, proposal: Proposal | None, tree: Tree, recovered: int | None, rest: Tensor
) -> tuple[Position, ...]:
    """p [n+1, V] -> n+1 records. `recovered`: the context where a token was drawn from the residual, `rest` [V]."""
    source = [None] * len(p)  # the row of q that the children of a context came from
    for node, row in enumerate(proposal.rows.tolist() if proposal else ()):
        source[tree.parents[node] + 1] = row
    q = proposal.q.to(p.device) if proposal else p[:0]
    drafted = proposal.tokens.tolist() if proposal else []
    top = TOP if tree.is_chain else max(FEW, min(TOP, 16 * TOP // len(p)))
    p_entropy, q_entropy = entropy(p), entropy(q)
    out = []
    for c, row in enumerate(source):
        r = rest / rest.sum() if c == recovered else None
        children = torch.tensor([drafted[node] for node in tree.children[c]], dtype=torch.long, device=p.device)
        known = [p[c], None if row is None else q[row], r]  # p, q and the residual, where there are such
        chosen = [_top(one, top) for one in known if one is not None]
        ids = torch.unique(torch.cat([*chosen, children]))
        rows = [[] if one is None else one[ids].tolist() for one in known]
        heights = [max(values) for values in zip(*(one for one in rows if one), strict=True)]
        order = sorted(range(len(ids)), key=lambda j: -heights[j])
        listed, kept = ids.tolist(), set(children.tolist())
        order = [j for j in order if round(heights[j], DIGITS) > 0 or listed[j] in kept]  # one-hot rows have one entry
        alpha = float(torch.minimum(p[c], q[row]).sum(dtype=torch.float64)) if row is not None else None
        out.append(
            Position(
                tuple(listed[j] for j in order),
                *(tuple(round(one[j], DIGITS) for j in order) if one else () for one in rows),
                p_entropy=p_entropy[c],
                q_entropy=q_entropy[row] if row is not None else None,
                alpha=None if alpha is None else min(1.0, round(alpha, DIGITS)),
            )
        )
    return tuple(out)


def entropy(p: Tensor) -> list[float]:
    """Entropy in nats: [n, V] -> n numbers. 0 log 0 = 0."""
    return [round(h, 4) for h in torch.special.entr(p).sum(-1).tolist()]


def _top(p: Tensor, n: int) -> Tensor:
    """Ids of the n largest entries: [..., V] -> [..., n]."""
    return p.topk(min(n, p.shape[-1]), dim=-1).indices

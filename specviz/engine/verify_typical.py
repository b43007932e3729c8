"""Typical acceptance, Medusa's rule. LOSSY: the output does not have the target's distribution.

Cai et al., "Medusa", arXiv 2401.10774, section 2.3.1, after Hewitt et al., "Truncation Sampling as Language Model
Desmoothing", arXiv 2210.15191. A token stays when the target does not think it too unlikely, the less strictly the
less sure the target is; no draw is made. The longest path counts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.engine.sampling import pick
from specviz.engine.tree import Tree
from specviz.engine.verify_tree import Walk, path_of


def walk_typical(
    p: Tensor, q: Tensor, source: Tensor, drafted: Tensor, tree: Tree, eps: float, delta: float, v: Tensor | float
) -> Walk:
    """p [n+1, V]; q [m, V], of which row source[i] gave node i; drafted [n]; v for the final token, drawn from p."""
    tree = tree.on(p.device)
    at = tree.contexts
    p_x = p[at, drafted]  # [n]
    limit = typical_limit(p, eps, delta)[at]
    kept, end = path_of(tree, p_x > limit)
    came = torch.cat([kept.new_ones(1), kept])[at]
    tried = kept | (came & (p_x <= limit))  # what passes beside the path was not refused
    return Walk.ended(tried, kept, p_x, q[source, drafted], limit, end, pick(p, end), v)


def typical_limit(p: Tensor, eps: float, delta: float) -> Tensor:
    """min(eps, delta exp(-H(p))), H the entropy in nats. [..., V] -> [...]."""
    return (delta * torch.exp(-torch.special.entr(p).sum(-1))).clamp(max=eps)

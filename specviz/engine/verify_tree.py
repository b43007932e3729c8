"""Judging a whole draft, chain or tree, against the target's rows of one pass: which path stays, what ends the round.

In every context the siblings are tried in their order. Each is a gate against what the target still has left there;
a refused one changes what is left; the first that passes is the next node of the path. Where none passes, the round's
last token is drawn from what is left, which makes the output exactly the target's. How the siblings were chosen
decides what a refusal leaves:

iid       drawn independently from q, duplicates and all: p <- norm(max(0, p - q)). SpecInfer, arXiv 2305.09781
distinct  drawn from q without replacement: likewise, and q(x) <- 0, renormalised. Sequoia, arXiv 2402.12374
fixed     the likeliest tokens, or a table's: a point mass each, so p(x) <- 0, renormalised

A chain is a tree with one child everywhere; then the first two rules are Leviathan's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from specviz.engine.sampling import draw, pick
from specviz.engine.tree import Tree
from specviz.engine.verify import NO_MASS, gate, residual


class Siblings(StrEnum):
    """How the children of a node were chosen."""

    IID = "iid"
    DISTINCT = "distinct"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Walk:
    """A draft of n nodes, judged. All on the target's device: nothing here waits for it.

    tried     [n] bool: the walk came to this gate
    kept      [n] bool: on the accepted path
    p, q      [n]: p and q of the node's token: where it was tried what the gate compared, elsewhere the target's own p
    limit     [n]: what decided instead of p / q, for rules that have such a thing (block, typical); else None
    end       []: the context where the path ends
    token, prob  []: the final token and the probability it was drawn with
    rest      [V]: the weights that it was drawn from
    """

    tried: Tensor
    kept: Tensor
    p: Tensor
    q: Tensor
    limit: Tensor | None
    end: Tensor
    token: Tensor
    prob: Tensor
    rest: Tensor

    @classmethod
    def ended(
        cls,
        tried: Tensor,
        kept: Tensor,
        p: Tensor,
        q: Tensor,
        limit: Tensor | None,
        end: Tensor,
        rest: Tensor,
        v: Tensor | float,
    ) -> Walk:
        """With the final token drawn from `rest` at v."""
        token = draw(rest, v)
        return cls(tried, kept, p, q, limit, end, token, pick(rest, token) / rest.sum(), rest)


def walk_tree(
    p: Tensor, q: Tensor, source: Tensor, drafted: Tensor, tree: Tree, siblings: Siblings, u: Tensor, v: Tensor | float
) -> Walk:
    """Lossless: the emitted tokens have exactly the target's distribution.

    p [n+1, V] the target's distribution in each context; q [m, V] the draft's, of which row source[i] gave node i;
    drafted [n] token ids; u [n] a uniform number for each gate, v for the final token, all independent.
    """
    tree = tree.on(p.device)
    at = tree.contexts  # [n]
    judged = (
        _fixed(p, drafted, tree, u) if siblings is Siblings.FIXED else _drawn(p, q, source, drafted, tree, siblings, u)
    )
    passes, p_x, q_x, left = judged
    open_still = ~(tree.earlier & passes).any(-1)  # [n] none of the siblings before has passed
    kept, end = path_of(tree, passes & open_still)
    came = torch.cat([kept.new_ones(1), kept])[at]  # [n] the walk came to the context
    tried = came & open_still
    # Where the path ends no child has passed: what all refusals have left of p; at a leaf p itself.
    return Walk.ended(tried, kept, torch.where(tried, p_x, p[at, drafted]), q_x, None, end, left(end), v)


Gates = tuple[Tensor, Tensor, Tensor, Callable[[Tensor], Tensor]]  # passes, p, q, each [n]; context -> rest [V]


def _fixed(p: Tensor, drafted: Tensor, tree: Tree, u: Tensor) -> Gates:
    """Point masses, all at once: a refusal takes the token out of p, so the next has p(x) / (1 - what is gone)."""
    at, earlier = tree.contexts, tree.earlier  # [n], [n, n]
    repeated = (earlier & (drafted == drafted[:, None])).any(-1)  # a token that was refused once is gone
    p_x = p[at, drafted].double().masked_fill(repeated, 0.0)  # [n]
    mass = p.sum(-1, dtype=torch.float64)[at] - earlier.double() @ p_x  # [n] what the siblings before have left
    share = torch.where(mass > NO_MASS, p_x / mass.clamp(min=NO_MASS), 0.0)

    def left(end: Tensor) -> Tensor:
        gone = torch.where(at == end, 0.0, torch.inf).to(p.dtype)  # [n]
        here = pick(p, end)
        rest = here.scatter_reduce(0, drafted, gone, "amin")
        return torch.where(rest.sum(dtype=torch.float64) > NO_MASS, rest, here)

    return u < share, share.to(p.dtype), torch.ones_like(p_x, dtype=p.dtype), left


def _drawn(p: Tensor, q: Tensor, source: Tensor, drafted: Tensor, tree: Tree, siblings: Siblings, u: Tensor) -> Gates:
    """First children, then second ones, and so on; all contexts at once."""
    n, p_left, q_left = len(tree), p.clone(), q.clone()
    passes = torch.zeros(n, dtype=torch.bool, device=p.device)
    p_x, q_x = p.new_zeros(n), p.new_zeros(n)
    for nodes in tree.by_rank:  # [m], each in a context of its own
        at, rows, x = tree.contexts[nodes], source[nodes], drafted[nodes]
        here, drawn = p_left[at], q_left[rows]  # [m, V]
        passes[nodes], p_x[nodes], q_x[nodes] = gate(here, drawn, x, u[nodes])
        p_left[at] = residual(here, drawn)  # p <- norm(max(0, p - q))
        if siblings is Siblings.DISTINCT:
            q_left[rows] = without(drawn, x)  # q(x) <- 0, renormalised
    return passes, p_x, q_x, lambda end: pick(p_left, end)


def path_of(tree: Tree, accepted: Tensor) -> tuple[Tensor, Tensor]:
    """The longest path of accepted nodes, the first of equally long ones: kept [n] bool, and its last context []."""
    if not len(tree):
        return accepted, torch.zeros((), dtype=torch.long, device=accepted.device)
    tree = tree.on(accepted.device)
    reached = ~(tree.sees & ~accepted).any(-1)  # itself and all its ancestors are accepted
    last = (tree.levels * reached).argmax()  # the first of the deepest
    some = reached.any()
    return pick(tree.sees, last) & some, torch.where(some, last + 1, 0)


def without(q: Tensor, x: Tensor) -> Tensor:
    """q [m, V] once x [m] cannot be drawn any more. Where nothing is left it stays 0: no further sibling can exist."""
    rest = q.scatter(-1, x.unsqueeze(-1), 0.0)
    return rest / rest.sum(-1, keepdim=True).clamp(min=torch.finfo(q.dtype).tiny)

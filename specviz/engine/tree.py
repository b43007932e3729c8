"""The shape of a draft as tensors: which nodes see each other, who is judged where.

Nodes and contexts are numbered as in `specviz.shape`; every context has a row of target probabilities.

Tree attention: Miao et al., "SpecInfer", arXiv 2305.09781; Cai et al., "Medusa", arXiv 2401.10774, section 2.1.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from specviz.choices import Choices
from specviz.engine.send import send
from specviz.shape import Shape

KEPT = 64  # trees whose tensors are remembered


@dataclass(frozen=True)
class Tree(Shape):
    """A shape with its tensors, which are made when first asked for, on `device`."""

    device: torch.device = field(default=torch.device("cpu"), compare=False, repr=False)

    @staticmethod
    @lru_cache(KEPT)
    def chain(k: int) -> Tree:
        return Tree(tuple(range(-1, k - 1)))

    def on(self, device: torch.device) -> Tree:
        """The same tree with its tensors there. They stay there, so a tree used again is not moved again."""
        return self if self.device == device else _moved(self, device)

    @cached_property
    def contexts(self) -> Tensor:
        """[n]: the context that each node is judged in."""
        return send([parent + 1 for parent in self.parents], self.device)

    @cached_property
    def levels(self) -> Tensor:
        """[n]: the depth of each node."""
        return send(self.depths, self.device)

    @cached_property
    def by_rank(self) -> tuple[Tensor, ...]:
        """The first children, the second ones, and so on."""
        places: list[list[int]] = [[] for _ in range(max(self.ranks, default=-1) + 1)]
        for node, rank in enumerate(self.ranks):
            places[rank].append(node)
        return tuple(send(nodes, self.device) for nodes in places)

    @cached_property
    def earlier(self) -> Tensor:
        """[n, n] bool: node j is a sibling of node i that is tried before it."""
        return (self.contexts == self.contexts[:, None]).tril(-1)

    @cached_property
    def sees(self) -> Tensor:
        """[n, n] bool: node i may look at node j, which is an ancestor of it or itself."""
        pairs = [(node, seen) for node in range(len(self)) for seen in self.path(node)]
        rows, columns = send(pairs, self.device).view(-1, 2).T
        sees = torch.zeros(len(self), len(self), dtype=torch.bool, device=self.device)
        return sees.index_put_((rows, columns), torch.ones_like(rows, dtype=torch.bool))


@lru_cache(KEPT)
def _moved(tree: Tree, device: torch.device) -> Tree:
    return Tree(tree.parents, device)


@lru_cache(KEPT)
def from_choices(choices: Choices, depth: int | None = None) -> tuple[Tree, tuple[int, ...]]:
    """Choices as Medusa writes them, paths of ranks such as (0, 2), -> the tree, and each node's own rank.

    depth: leave out what is deeper. Nodes are ordered by depth, then by their ranks. Choices are expected to be valid:
    see `specviz.choices`.
    """
    short = {choice for choice in choices if depth is None or len(choice) <= depth}
    ordered = sorted(short, key=lambda choice: (len(choice), choice))
    at = {choice: node for node, choice in enumerate(ordered)}
    return Tree(tuple(at.get(choice[:-1], -1) for choice in ordered)), tuple(choice[-1] for choice in ordered)


def grown(sees: Tensor, at: Tensor) -> Tensor:
    """[m, r] bool, what the nodes of a level see of r nodes; node i of the next level continues number at[i] of it.

    -> [n, r + n]: what the n nodes of the next level see, which is what their parents see, and themselves.
    """
    return torch.cat([sees[at], torch.eye(len(at), dtype=torch.bool, device=sees.device)], dim=1)


@dataclass(frozen=True, slots=True)
class Branches:
    """How the tokens of one pass hang together: what they see of each other, and where in the text they stand.

    sees      [n, m + n] bool: of the m latest rows of the cache, then of each other. Older rows are seen by all
    position  [n]: position ids; siblings share theirs
    """

    sees: Tensor
    position: Tensor

    @classmethod
    def of(cls, tree: Tree, start: int, chain: int = 0) -> Branches:
        """A pass over `chain` tokens that follow each other, the last one at position `start` - 1, then the nodes.

        `sees` is where the tree's tensors are; `position` is on the host, which has to know how far the text goes.
        """
        n = chain + len(tree)
        sees = torch.ones(n, n, dtype=torch.bool, device=tree.device).tril()
        sees[chain:, chain:] = tree.sees
        return cls(sees, torch.tensor([*range(start - chain, start), *(start - 1 + depth for depth in tree.depths)]))

    def mask(self, before: int, dtype: torch.dtype, columns: int | None = None) -> Tensor:
        """Additive mask [1, 1, n, before + n] over `before` cached rows: 0 where it may look, else the lowest number.

        Of numbers, for a mask of bools is ignored by transformers' eager attention without a word. `columns`: so many,
        the last of which are rows of a static cache that are not filled yet.
        """
        seen = self.whole(before)
        if columns is not None:
            seen = torch.nn.functional.pad(seen, (0, columns - seen.shape[1]))
        lowest = torch.finfo(dtype).min
        return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, lowest)[None, None]

    def whole(self, before: int) -> Tensor:
        """[n, before + n] bool: what each token sees, the older rows included."""
        older = before + len(self.sees) - self.sees.shape[1]
        return torch.nn.functional.pad(self.sees, (older, 0), value=True)

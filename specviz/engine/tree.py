"""The shape of a draft: who continues whom. A chain is the tree in which every node has one child.

Nodes are numbered so that a parent comes before its children; -1 is the root, the last token of the text. A *context*
is a place where a next token is wanted: 0 the root, i + 1 node i. So a node is judged in context parent + 1, and a
draft of n nodes has n + 1 contexts, each with a row of target probabilities.

Tree attention: Miao et al., "SpecInfer", arXiv 2305.09781; Cai et al., "Medusa", arXiv 2401.10774, section 2.1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Tree:
    """`parents[i] < i` is the node that node i continues; -1 the root. Siblings are tried in rising order."""

    parents: tuple[int, ...]

    @classmethod
    def chain(cls, k: int) -> Tree:
        return cls(tuple(range(-1, k - 1)))

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def is_chain(self) -> bool:
        return self.parents == tuple(range(-1, len(self) - 1))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each context its nodes, in order."""
        found: list[list[int]] = [[] for _ in range(len(self) + 1)]
        for node, parent in enumerate(self.parents):
            found[parent + 1].append(node)
        return tuple(map(tuple, found))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """1 for the root's children."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 if parent < 0 else depths[parent] + 1)
        return tuple(depths)

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """How many siblings stand before each node."""
        return tuple(self.children[parent + 1].index(node) for node, parent in enumerate(self.parents))

    @cached_property
    def contexts(self) -> Tensor:
        """[n]: the context that each node is judged in."""
        return torch.tensor(self.parents, dtype=torch.long) + 1

    @cached_property
    def by_rank(self) -> tuple[Tensor, ...]:
        """The first children, the second ones, and so on."""
        ranks = torch.tensor(self.ranks, dtype=torch.long)
        return tuple((ranks == rank).nonzero()[:, 0] for rank in range(max(self.ranks, default=-1) + 1))

    @cached_property
    def earlier(self) -> Tensor:
        """[n, n] bool: node j is a sibling of node i that is tried before it."""
        return (self.contexts == self.contexts[:, None]).tril(-1)

    @cached_property
    def sees(self) -> Tensor:
        """[n, n] bool: node i may look at node j, which is an ancestor of it or itself."""
        seen = torch.eye(len(self), dtype=torch.bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                seen[node] |= seen[parent]
        return seen

    def path(self, node: int) -> tuple[int, ...]:
        """The nodes from the root's child down to `node`; none for -1."""
        found: list[int] = []
        while node >= 0:
            found.append(node)
            node = self.parents[node]
        return tuple(reversed(found))

    def cut(self, depth: int) -> tuple[int, ...]:
        """The nodes that are at most `depth` deep, in order."""
        return tuple(node for node, at in enumerate(self.depths) if at <= depth)


def from_choices(choices: Sequence[Sequence[int]]) -> tuple[Tree, tuple[int, ...]]:
    """Choices as Medusa writes them, paths of ranks such as (0, 2), -> the tree, and each node's own rank.

    Nodes are ordered by depth, then by their ranks. Choices are expected to be valid: see `specviz.choices`.
    """
    ordered = sorted({tuple(choice) for choice in choices}, key=lambda choice: (len(choice), choice))
    at = {choice: node for node, choice in enumerate(ordered)}
    return Tree(tuple(at.get(choice[:-1], -1) for choice in ordered)), tuple(choice[-1] for choice in ordered)


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
        """A pass over `chain` tokens that follow each other, the last one at position `start` - 1, then the nodes."""
        n = chain + len(tree)
        sees = torch.ones(n, n, dtype=torch.bool).tril()
        sees[chain:, chain:] = tree.sees
        depths = torch.tensor(tree.depths, dtype=torch.long)
        return cls(sees, torch.cat([torch.arange(start - chain, start), start - 1 + depths]))

    def mask(self, before: int, dtype: torch.dtype, columns: int | None = None) -> Tensor:
        """Additive mask [1, 1, n, before + n] over `before` cached rows: 0 where it may look, else the lowest number.

        Of numbers, for a mask of bools is ignored by transformers' eager attention without a word. `columns`: so many,
        the last of which are rows of a static cache that are not filled yet.
        """
        seen = self.whole(before)
        if columns is not None:
            seen = torch.nn.functional.pad(seen, (0, columns - seen.shape[1]))
        return torch.zeros(seen.shape, dtype=dtype).masked_fill(~seen, torch.finfo(dtype).min)[None, None]

    def whole(self, before: int) -> Tensor:
        """[n, before + n] bool: what each token sees, the older rows included."""
        n = len(self.sees)
        return torch.cat([torch.ones(n, before + n - self.sees.shape[1], dtype=torch.bool), self.sees], dim=1)

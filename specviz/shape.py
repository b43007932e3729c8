"""Who continues whom in a draft: its shape, without its tokens. A chain is the shape in which every node has one child.

Nodes are numbered so that a parent comes before its children; -1 is the root, the last token of the text. A *context*
is a place where a next token is wanted: 0 the root, i + 1 node i. So a node is judged in context parent + 1, and a
draft of n nodes has n + 1 contexts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Shape:
    """`parents[i] < i` is the node that node i continues; -1 the root. Siblings are tried in rising order."""

    parents: tuple[int, ...]

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

    def path(self, node: int) -> tuple[int, ...]:
        """The nodes from the root's child down to `node`; none for -1."""
        found: list[int] = []
        while node >= 0:
            found.append(node)
            node = self.parents[node]
        return tuple(reversed(found))

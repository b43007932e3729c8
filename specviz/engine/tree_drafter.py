"""A draft model that can draft a tree: level by level, all nodes of a level in one pass with a tree attention mask.

Miao et al., "SpecInfer", arXiv 2305.09781 (children drawn independently, or the likeliest); Chen et al., "Sequoia",
arXiv 2402.12374 (drawn without replacement). The shape is that of `config.tree`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.drafters import ModelDrafter, Proposal
from specviz.engine.model import CachedLM
from specviz.engine.sampling import Draws, draw, shape, thought
from specviz.engine.send import send
from specviz.engine.tree import Branches, Tree, from_choices, grown
from specviz.engine.verify_tree import Siblings, without


class TreeDrafter(ModelDrafter):
    """Its cache holds, behind the text, a row for each node that has children."""

    def __init__(self, lm: CachedLM) -> None:
        super().__init__(lm)
        self.text = 0  # rows of the text
        self.row_of: dict[int, int] = {}  # node -> row

    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        if not config.tree:
            return super().propose(tokens, k, draws, forced, config, clock)
        wanted, ranks = from_choices(config.tree, k)
        siblings = Siblings(config.siblings)
        logits = self.lm.forward(send(tokens[self.lm.length :], self.lm.device)).logits  # [1, V]
        self.text, self.row_of = self.lm.length, {}
        ids, parents, source, q, times = [], [], [], [], []  # q: a row for each node with children, the root's first
        node_of: dict[int, int] = {-1: -1}  # wanted node -> drafted node; some wanted ones cannot be drawn
        level, sees = [-1], torch.zeros(1, 0, dtype=torch.bool, device=self.lm.device)
        for depth in range(1, k + 1):
            rows = (thought if siblings is Siblings.FIXED else shape)(logits, config)  # [len(level), V]
            below = [wanted.children[node + 1] for node in level]
            new: list[tuple[int, int]] = []  # nodes with children, and the place of their parent in the level
            for at, found in enumerate(children(logits, rows, below, ranks, draws.draft, siblings)):
                for node, token in zip(below[at], found, strict=False):
                    node_of[node] = len(ids)
                    ids.append(forced.get(len(ids), token))
                    parents.append(node_of[level[at]])
                    source.append(sum(map(len, q)) + at)
                    if wanted.children[node + 1]:
                        new.append((node, at))
            q.append(rows)
            times.append(clock.lap())
            if not new:
                break
            level = [node for node, _ in new]
            sees = grown(sees, send([at for _, at in new], sees.device))
            drafted = [node_of[node] for node in level]
            logits = self._read(drafted, [ids[node] for node in drafted], sees, len(tokens) - 1 + depth)
        tree, on = Tree(tuple(parents)), rows.device
        return Proposal(send(ids, on), torch.cat(q), tuple(times), tree, send(source, on), siblings)

    def commit(self, length: int, hidden: Tensor | None, path: Sequence[int] = ()) -> None:
        kept = [self.row_of[node] for node in path if node in self.row_of]  # the last node of a path may be a leaf
        if self.row_of:
            self.lm.keep(self.text, kept)
        self.lm.rollback(length)
        self.row_of = {}

    def _read(self, nodes: list[int], tokens: list[int], sees: Tensor, position: int) -> Tensor:
        """Logits [m, V] after the m nodes of a level, which all stand at `position`; a row of the cache for each."""
        for node in nodes:
            self.row_of[node] = self.text + len(self.row_of)
        branches = Branches(sees, torch.full((len(nodes),), position))
        return self.lm.forward(send(tokens, self.lm.device), len(nodes), branches=branches).logits


def children(
    logits: Tensor,
    q: Tensor,
    below: Sequence[Sequence[int]],
    ranks: Sequence[int],
    u: Sequence[float],
    siblings: Siblings,
) -> list[list[int]]:
    """Tokens for the children of all nodes of a level, with one wait for the device.

    logits, q [m, V] after each of the m nodes; below: the children wanted of each; ranks, u: rank and uniform number of
    each node of the tree. Fixed children are the likeliest whatever is filtered out of q; distinct ones may run out.
    """
    if siblings is Siblings.FIXED:
        most = 1 + max(ranks[node] for nodes in below for node in nodes)
        likeliest = logits.topk(min(most, logits.shape[-1])).indices.tolist()
        pairs = zip(likeliest, below, strict=True)
        return [[row[ranks[node]] for node in nodes if ranks[node] < len(row)] for row, nodes in pairs]
    numbers = [[u[nodes[i]] if i < len(nodes) else 0.0 for nodes in below] for i in range(max(map(len, below)))]
    drawn = []
    for each in send(numbers, q.device, torch.float64):  # the first children of all, then the second ones, ...
        token = draw(q, each)  # [m]
        drawn.append(torch.where(q.any(-1), token, -1))
        if siblings is Siblings.DISTINCT:
            q = without(q, token)
    found = torch.stack(drawn, 1).tolist()
    return [[token for token in row[: len(nodes)] if token >= 0] for row, nodes in zip(found, below, strict=True)]

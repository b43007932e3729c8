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
from specviz.engine.tree import Branches, Tree, from_choices
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
        wanted, ranks = from_choices([choice for choice in config.tree if len(choice) <= k])
        siblings = Siblings(config.siblings)
        feed = torch.tensor(tokens[self.lm.length :], dtype=torch.long, device=self.lm.device)
        logits = self.lm.forward(feed).logits  # [1, V]
        self.text, self.row_of = self.lm.length, {}
        ids, parents, source, times = [], [], [], []
        q = logits[:0].float()  # [m, V]: one row for each node with children, the root's first
        node_of: dict[int, int] = {-1: -1}  # wanted node -> drafted node; some wanted ones cannot be drawn
        level = [-1]
        while level:
            rows = (thought if siblings is Siblings.FIXED else shape)(logits, config)  # [len(level), V]
            grown = []
            for at, parent in enumerate(level):
                nodes = wanted.children[parent + 1]
                found = children(rows[at], [ranks[n] for n in nodes], [draws.draft[n] for n in nodes], siblings)
                for node, token in zip(nodes, found, strict=False):
                    node_of[node] = len(ids)
                    ids.append(forced.get(len(ids), token))
                    parents.append(node_of[parent])
                    source.append(len(q) + at)
                    grown.append(node)
            q = torch.cat([q, rows.to(q)])
            times.append(clock.lap())
            level = [node for node in grown if wanted.children[node + 1]]
            if level:
                logits = self._read([node_of[node] for node in level], ids, Tree(tuple(parents)), len(tokens))
        on = q.device
        drafted = torch.tensor(ids, dtype=torch.long, device=on)
        return Proposal(drafted, q, tuple(times), Tree(tuple(parents)), torch.tensor(source, device=on), siblings)

    def commit(self, length: int, hidden: Tensor | None, path: Sequence[int] = ()) -> None:
        kept = [self.row_of[node] for node in path if node in self.row_of]  # the last node of a path may be a leaf
        if self.row_of:
            self.lm.keep(self.text, kept)
        self.lm.rollback(length)
        self.row_of = {}

    def _read(self, nodes: list[int], ids: list[int], tree: Tree, start: int) -> Tensor:
        """Logits [len(nodes), V] after these nodes, which see the text, their ancestors and themselves."""
        rows = [*self.row_of, *nodes]
        sees = tree.sees[nodes][:, rows]
        position = torch.tensor([start - 1 + tree.depths[node] for node in nodes])
        for node in nodes:
            self.row_of[node] = self.text + len(self.row_of)
        feed = torch.tensor([ids[node] for node in nodes], dtype=torch.long)
        return self.lm.forward(feed, len(nodes), branches=Branches(sees, position)).logits


def children(q: Tensor, ranks: Sequence[int], u: Sequence[float], siblings: Siblings) -> list[int]:
    """Tokens for the children of one node. q [V]; distinct ones may run out."""
    if not ranks:
        return []
    if siblings is Siblings.FIXED:
        likeliest = q.topk(min(max(ranks) + 1, len(q))).indices.tolist()
        return [likeliest[rank] for rank in ranks if rank < len(likeliest)]
    if siblings is Siblings.IID:
        return draw(q.expand(len(u), -1), torch.tensor(u, dtype=torch.float64, device=q.device)).tolist()
    found: list[int] = []
    for one in u:
        if not q.any():
            break
        token = draw(q, one)
        found.append(int(token))
        q = without(q[None], token[None])[0]
    return found

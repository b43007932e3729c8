"""A dynamic tree from the EAGLE-style layer: it grows where the draft is sure of itself.

Li et al., "EAGLE-2", arXiv 2406.16858. A node's confidence is the product of q along its path. On each level the
`branch` most confident nodes are expanded by their `branch` likeliest children; of all nodes the `nodes` most
confident are kept. Children never beat their parents, so what is kept is a tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.drafters import Proposal
from specviz.engine.eagle import EagleDrafter
from specviz.engine.sampling import Draws, thought
from specviz.engine.tree import Branches, Tree
from specviz.engine.verify_tree import Siblings


class EagleTreeDrafter(EagleDrafter):
    """A chain, or with `config.nodes` a tree. Its guesses are forgotten after every round either way."""

    @torch.inference_mode()
    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        if not config.nodes:
            return super().propose(tokens, k, draws, forced, config, clock)
        guess = self._read_text(tokens)  # [1, d]
        ids: list[int] = []
        parents: list[int] = []
        source: list[int] = []
        sure: list[float] = []  # log of the product of q along the path
        q, level, rows, times = [], [-1], [], []
        for depth in range(1, k + 1):
            here = thought(self.lm_head(guess)[:, : self.vocab_size], config)  # [m, V], m nodes of the level before
            best = here.topk(min(config.branch, here.shape[-1]))
            for at, parent in enumerate(level):
                for token, p in zip(best.indices[at].tolist(), best.values[at].log().tolist(), strict=True):
                    ids.append(token)
                    parents.append(parent)
                    source.append(len(q) + at)
                    sure.append(p + (sure[parent] if parent >= 0 else 0.0))
            q += list(here)
            times.append(clock.lap())
            if depth == k:
                break
            new = range(len(ids) - len(level) * best.values.shape[1], len(ids))
            chosen = sorted(sorted(new, key=lambda node: -sure[node])[: config.branch])
            tree, states = Tree(tuple(parents)), guess[[level.index(parents[node]) for node in chosen]]
            rows += chosen
            position = torch.full((len(chosen),), self.length + depth - 1)  # the text's last row is number length - 1
            feed = torch.tensor([ids[node] for node in chosen], device=self.device)
            guess = self._step(states, feed, Branches(tree.sees[chosen][:, rows], position))
            level = chosen
        kept = sorted(sorted(range(len(ids)), key=lambda node: (-sure[node], node))[: config.nodes])
        at = {node: i for i, node in enumerate(kept)} | {-1: -1}
        drafted = torch.tensor([ids[node] for node in kept], device=self.device)
        for node, token in forced.items():
            if node < len(drafted):
                drafted[node] = token
        tree = Tree(tuple(at[parents[node]] for node in kept))
        return Proposal(
            drafted, torch.stack(q), tuple(times), tree, torch.tensor([source[n] for n in kept]), Siblings.FIXED
        )

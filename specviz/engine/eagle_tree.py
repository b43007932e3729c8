"""A dynamic tree from the EAGLE-style layer: it grows where the draft is sure of itself.

Li et al., "EAGLE-2", arXiv 2406.16858. A node's confidence is the product of the layer's probabilities along its path,
whatever the temperature and the filters of the run. On each level the `branch` most confident nodes are expanded by
their `branch` likeliest children; of all nodes the `nodes` most confident are kept. Children never beat their parents,
so what is kept is a tree, and what once fell out can be forgotten at once: it and its children never come back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.drafters import Proposal
from specviz.engine.eagle import EagleDrafter
from specviz.engine.sampling import Draws, thought
from specviz.engine.send import send
from specviz.engine.tree import Branches, Tree, grown
from specviz.engine.verify_tree import Siblings


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A token that may become a node."""

    token: int
    parent: Candidate | None  # None: it continues the text
    place: int  # of its parent in the level before
    depth: int
    sure: float  # log of its confidence

    def order(self) -> tuple[int, int, float]:
        """Nodes are numbered level by level, the children of a node by falling confidence."""
        return self.depth, self.place, -self.sure


class EagleTreeDrafter(EagleDrafter):
    """A chain, or with `config.nodes` a tree. Its guesses are forgotten after every round either way.

    A what-if puts its token at a node of the finished tree, and cuts off what hung below it. Nodes behind it get lower
    numbers; a second what-if in the same round counts in the tree that the first one left.
    """

    @torch.inference_mode()
    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        if not config.nodes:
            return super().propose(tokens, k, draws, forced, config, clock)
        guess = self._read_text(tokens)  # [1, d]
        branch = min(config.branch, config.nodes, self.vocab_size)
        level: list[Candidate | None] = [None]
        kept: list[Candidate] = []
        known, owners = guess.new_zeros(0, self.vocab_size), []  # logits after the parents of those
        sees, times = torch.zeros(1, 0, dtype=torch.bool, device=self.device), []
        for depth in range(1, k + 1):
            logits = self.lm_head(guess)[:, : self.vocab_size]  # [m, V] after the m nodes of the level before
            kept += candidates(level, logits, branch, config.nodes, depth)
            kept = sorted(kept, key=lambda one: -one.sure)[: config.nodes]  # of equals the first stays first
            known, owners = needed(torch.cat([known, logits]), owners + level, kept)
            times.append(clock.lap())
            level = sorted([one for one in kept if one.depth == depth][:branch], key=Candidate.order)
            if depth == k or not level:
                break
            at = send([one.place for one in level], self.device)
            sees = grown(sees, at)
            here = self.length + depth - 1  # the text's last row is number length - 1
            branches = Branches(sees, torch.full((len(level),), here, device=self.device))
            guess = self._step(guess[at], send([one.token for one in level], self.device), branches)
        kept = sorted(kept, key=Candidate.order)
        for node, token in forced.items():
            kept = with_token(kept, node, token)
        known, owners = needed(known, owners, kept)
        number = {one: node for node, one in enumerate(kept)} | {None: -1}
        row = {owner: i for i, owner in enumerate(owners)}
        return Proposal(
            tokens=send([one.token for one in kept], self.device),
            q=thought(known, config),
            times=tuple(times),
            tree=Tree(tuple(number[one.parent] for one in kept)),
            source=send([row[one.parent] for one in kept], self.device),
            siblings=Siblings.FIXED,
        )


def candidates(
    level: Sequence[Candidate | None], logits: Tensor, branch: int, nodes: int, depth: int
) -> list[Candidate]:
    """The `branch` likeliest children of each node of a level, and of all of them the `nodes` most confident.

    logits [m, V] after the m nodes. Waits for the device, once.
    """
    likely, tokens = logits.float().log_softmax(-1).topk(branch)  # [m, branch]
    above = send([parent.sure if parent else 0.0 for parent in level], logits.device, torch.float32)
    sure = (above[:, None] + likely).nan_to_num(nan=-math.inf, neginf=-math.inf)  # NaN is refused where it is used
    best, at = sure.flatten().topk(min(nodes, sure.numel()))
    found = torch.stack([tokens.flatten()[at].float(), (at // branch).float(), best]).T.tolist()  # ids below 2^24
    return [Candidate(int(token), level[int(place)], int(place), depth, log) for token, place, log in found]


def needed(
    logits: Tensor, owners: Sequence[Candidate | None], kept: Sequence[Candidate]
) -> tuple[Tensor, list[Candidate | None]]:
    """Of the rows of `logits`, each after its owner, those whose owner has children that are kept."""
    parents = {one.parent for one in kept}
    rows = [i for i, owner in enumerate(owners) if owner in parents]
    return logits.index_select(0, send(rows, logits.device)), [owners[i] for i in rows]


def with_token(kept: Sequence[Candidate], node: int, token: int) -> list[Candidate]:
    """A what-if puts another token at a node. What hangs below goes: the layer has never read this token there."""
    if node >= len(kept):
        return list(kept)
    gone, left = {kept[node]}, []
    for one in kept:
        if one.parent in gone:
            gone.add(one)
        else:
            left.append(one)
    left[node] = replace(kept[node], token=token)  # at its old place, for what has gone came after it
    return left

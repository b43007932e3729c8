"""Medusa heads as a drafter: a chain of drawn tokens, or a tree of the heads' likeliest ones.

Cai et al., "Medusa", arXiv 2401.10774. The heads read the target's hidden state before the text's last token; a head
does not know what the heads before it chose, so all nodes of a depth share one q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.drafters import Proposal
from specviz.engine.medusa import MedusaHeads, check_depth
from specviz.engine.sampling import Draws, draw, on_device, shape, thought
from specviz.engine.send import send
from specviz.engine.tree import from_choices
from specviz.engine.verify_tree import Siblings
from specviz.errors import SpecvizError


class MedusaDrafter:
    """One token a head; with `config.tree`, the tokens that its choices name."""

    layers = (-1,)
    rows = None

    def __init__(self, heads: MedusaHeads, vocab_size: int) -> None:
        self.heads, self.vocab_size = heads, vocab_size
        self.hidden: Tensor | None = None  # [d]

    def room(self, length: int) -> int:
        return len(self.heads) if length > 1 else 0  # before a text's only token there is no hidden state

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None) -> None:
        if hidden is not None and len(hidden):
            self.hidden = hidden[-1]

    @torch.inference_mode()
    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        assert self.hidden is not None
        logits = self.heads(self.hidden, k)[:, : self.vocab_size]  # [k, V]
        if not config.tree:
            q = shape(logits, config)  # [k, V]
            u, _, _ = on_device(draws, q.device)
            ids = draw(q, u[:k])
            return Proposal(replaced(ids, forced), q, (clock.lap(),))
        check_depth(max(map(len, config.tree)), len(self.heads))
        tree, ranks = from_choices(config.tree, k)
        if max(ranks) >= self.vocab_size:  # of a model of letters
            entry = next(list(path) for path in config.tree if max(path) >= self.vocab_size)
            raise SpecvizError("errors.tree_rank", entry=entry, limit=self.vocab_size - 1)
        head = tree.on(logits.device).levels - 1  # [n]
        ids = logits.topk(max(ranks) + 1).indices[head, send(ranks, logits.device)]  # [n]
        return Proposal(replaced(ids, forced), thought(logits, config), (clock.lap(),), tree, head, Siblings.FIXED)

    def commit(self, length: int, hidden: Tensor | None, path: Sequence[int] = ()) -> None:
        if hidden is not None:
            self.hidden = hidden[-1]


def replaced(ids: Tensor, forced: Mapping[int, int]) -> Tensor:
    """ids [n] with the tokens of a what-if in their places."""
    for i, token in forced.items():
        if i < len(ids):
            ids[i] = token
    return ids

"""Medusa heads: one small block each, which guesses a token further ahead from the target's last hidden state.

Cai et al., "Medusa", arXiv 2401.10774. Head i reads the hidden state at t and predicts token t + 2 + i (the target's
own head predicts t + 1). Here the heads draft a chain: head i does not know what the heads before it chose.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.drafters import Proposal
from specviz.engine.sampling import Draws, draw, shape
from specviz.training.modules.reduced import ReducedHead

WEIGHTS = "medusa_lm_head.safetensors"


class ResBlock(nn.Module):
    """x + SiLU(Wx + b)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, size)
        nn.init.zeros_(self.linear.weight)  # begins as the identity: every head as the target's own
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        return x + nn.functional.silu(self.linear(x))


class MedusaHeads(nn.ModuleList):
    """Heads of `layers` blocks each; names as in Medusa's v2 files: `{head}.{block}.linear.weight`."""

    def __init__(self, heads: int, size: int, layers: int = 1) -> None:
        super().__init__(nn.Sequential(*(ResBlock(size) for _ in range(layers))) for _ in range(heads))

    def forward(self, hidden: Tensor) -> Tensor:
        """hidden [..., d] -> [heads, ..., d], each to be read by the LM head."""
        return torch.stack([head(hidden) for head in self])


def load_medusa(folder: Path, lm_head: nn.Module) -> tuple[MedusaHeads, nn.Module]:
    """The heads of `folder` and what reads them: the target's LM head, or the part of it that they were trained for."""
    tensors = load_file(folder / WEIGHTS)
    chosen = tensors.pop("draft_vocab_ids", None)
    layers = json.loads((folder / "config.json").read_text(encoding="utf-8"))["medusa_num_layers"]
    count = 1 + max(int(name.partition(".")[0]) for name in tensors)  # config files are known to be wrong about it
    heads = MedusaHeads(count, lm_head.weight.shape[1], layers)
    heads.load_state_dict(tensors)
    heads = heads.to(lm_head.weight.device, lm_head.weight.dtype).eval().requires_grad_(False)
    return heads, lm_head if chosen is None else ReducedHead(lm_head.weight, chosen)


class MedusaDrafter:
    """Drafts a chain, one token a head, from the target's hidden state before the text's last token."""

    layers = (-1,)
    rows = None

    def __init__(self, heads: MedusaHeads, lm_head: nn.Module, vocab_size: int) -> None:
        self.heads, self.lm_head, self.vocab_size = heads, lm_head, vocab_size
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
        states = torch.stack([head(self.hidden) for head in list(self.heads)[:k]])  # [k, d]
        q = shape(self.lm_head(states)[:, : self.vocab_size], config)  # [k, V]
        ids = draw(q, torch.tensor(draws.draft[:k], dtype=torch.float64, device=q.device))
        for i, token in forced.items():
            if i < k:
                ids[i] = token
        return Proposal(ids, q, (clock.lap(),))

    def commit(self, length: int, hidden: Tensor | None) -> None:
        if hidden is not None:
            self.hidden = hidden[-1]

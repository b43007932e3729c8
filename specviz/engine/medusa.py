"""Medusa heads: small blocks that guess tokens further ahead, all of them from the target's last hidden state.

Cai et al., "Medusa: Simple LLM Inference Acceleration Framework with Multiple Decoding Heads", arXiv 2401.10774,
section 2.1. With h_t the target's hidden state at position t, as its LM head sees it (after the final norm), head
i = 0, 1, ... guesses token t + 2 + i; token t + 1 is the target's own guess:

    x_0 = h_t,    x_l = x_{l-1} + SiLU(W_l x_{l-1} + b_l)  for l = 1..L,    logits_i = U x_L

U [V, d] is the head's own ("v1" of the published files) or the target's LM head, shared by all ("v2").
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from specviz.errors import SpecvizError


class MedusaBlock(nn.Module):
    """x + SiLU(Wx + b), x [..., d]; without the residual, as some textbooks have it, SiLU(Wx + b)."""

    def __init__(self, size: int, residual: bool = True) -> None:
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.residual = residual
        if residual:  # begins as the identity, as in the paper: every head as the LM head that reads it
            nn.init.zeros_(self.linear.weight)
            nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        step = nn.functional.silu(self.linear(x))
        return x + step if self.residual else step


class MedusaHead(nn.Sequential):
    """One head: `layers` blocks, then its own LM head (no bias), if it has one.

    hidden [..., d] -> logits [..., V] of a head with its own LM head; else [..., d], for the shared one to read.
    Its parameters are named as in the published files: `{block}.linear.weight`, `{layers}.weight`.
    """

    def __init__(
        self, size: int, vocab_size: int, layers: int = 1, residual: bool = True, own_lm_head: bool = True
    ) -> None:
        last = [nn.Linear(size, vocab_size, bias=False)] if own_lm_head else []
        super().__init__(*(MedusaBlock(size, residual) for _ in range(layers)), *last)


class MedusaHeads(nn.ModuleList):
    """`count` heads and what reads them: `reader(heads[i](hidden))` are the logits of head i, whatever its kind.

    lm_head: the LM head that all share, [..., d] -> [..., V]: the target's, or a ReducedHead made of it. It stays the
    target's (not a part of this module: not saved, moved or trained with it). None: every head has its own.
    """

    def __init__(
        self,
        count: int,
        size: int,
        vocab_size: int,
        layers: int = 1,
        residual: bool = True,
        lm_head: nn.Module | None = None,
    ) -> None:
        own = lm_head is None
        super().__init__(MedusaHead(size, vocab_size, layers, residual, own) for _ in range(count))
        self.layers, self.residual, self.own_lm_heads = layers, residual, own
        self._reader = (nn.Identity() if own else lm_head,)  # in a tuple, so that it does not become a part

    @property
    def reader(self) -> nn.Module:
        """Turns what a head gives into logits: the shared LM head, or nothing to do."""
        return self._reader[0]

    def read_by(self, reader: nn.Module) -> None:
        """From now on `reader` turns what the heads give into logits: the same LM head in another form."""
        self._reader = (reader,)

    def forward(self, hidden: Tensor, count: int | None = None) -> Tensor:
        """hidden [..., d], from any pass of the target -> logits [count, ..., V] of the first `count` heads (or all).

        A shared LM head reads all of them in one product.
        """
        return self.reader(torch.stack([head(hidden) for head in [*self][:count]]))


class MedusaModel(nn.Module):
    """Any causal LM of transformers with Medusa heads on it; one pass gives both.

    What a few models do to their logits behind the LM head (Gemma's soft cap, a scale) is done to the model's own
    logits only: the heads' are those of the LM head.
    """

    def __init__(self, base: PreTrainedModel, heads: MedusaHeads) -> None:
        super().__init__()
        self.base, self.heads = base, heads

    def forward(self, input_ids: Tensor, **inputs: object) -> tuple[Tensor, list[Tensor]]:
        """input_ids [B, S] -> the model's logits [B, S, V], and for each head its logits [B, S, V].

        At position t the model guesses token t + 1, head i token t + 2 + i. `inputs` (attention mask, positions, cache
        ...) go to the model as they are. Heads for states that another pass has made: `model.heads(hidden)`.
        """
        out = self.base(input_ids=input_ids, output_hidden_states=True, **inputs)
        return out.logits, list(self.heads(out.hidden_states[-1]))


def check_depth(depth: int, heads: int) -> None:
    """Raises SpecvizError("errors.medusa_depth") for a tree (or chain) of more levels than there are heads.

    Level d below the root, d = 1, 2, ..., is what head d - 1 guesses.
    """
    if depth > heads:
        raise SpecvizError("errors.medusa_depth", depth=depth, heads=heads)

"""An LM head for some of the vocabulary: a draft need not be able to say every word, and the head is its dearest part.

Ids outside get a logit of minus infinity, so q = 0 there: such tokens come from the residual, and decoding stays exact.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


class ReducedHead(nn.Module):
    """weight [V, d] of the target's LM head, ids [W] -> logits [..., V] with numbers at `ids` only.

    Raises ValueError where `ids` are not W different rows of the head.
    """

    def __init__(self, weight: Tensor, ids: Tensor) -> None:
        super().__init__()
        if ids.dim() != 1 or not len(ids) or ids.dtype not in (torch.int16, torch.int32, torch.int64):
            kind = str(ids.dtype).removeprefix("torch.")
            raise ValueError(f"the ids of the vocabulary are {list(ids.shape)} numbers of the kind {kind}, not a list")
        if ids.min() < 0 or ids.max() >= len(weight) or len(ids.unique()) < len(ids):
            raise ValueError(f"the ids of the vocabulary are not different ones below {len(weight)}")
        self.size = weight.shape[0]
        self.register_buffer("ids", ids.to(weight.device, torch.long), persistent=False)
        self.weight = nn.Parameter(weight.detach()[self.ids].clone(), requires_grad=False)  # [W, d]
        self.product: Callable[[Tensor], Tensor] | None = None  # the same from prepacked weights

    def small(self, hidden: Tensor) -> Tensor:
        """Logits [..., W] of the ids alone."""
        return self.product(hidden) if self.product else nn.functional.linear(hidden, self.weight)

    def forward(self, hidden: Tensor) -> Tensor:
        logits = self.small(hidden)
        full = logits.new_full((*logits.shape[:-1], self.size), -torch.inf)
        return full.index_copy_(-1, self.ids, logits)

"""(c) Training of Medusa heads on the target's hidden states ("Medusa-1": the target stays as it is).

The paper trains on the next tokens themselves; here on the target's distribution at their place, which says more.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel

from specviz.engine.medusa import MedusaHeads
from specviz.engine.reduced import ReducedHead
from specviz.errors import SpecvizError
from specviz.models.medusa_files import load_medusa, save_medusa
from specviz.training.data import Labelled
from specviz.training.losses import Fit, Vocabulary, fit, judged
from specviz.training.target import Parts

HEADS = 4
DECAY = 0.8  # weight of each head, relative to the one before, as in the paper


class MedusaTask:
    """HEADS heads for `target`, putting out the ids `chosen`; or those of the folder `weights`, to be trained on.

    Raises SpecvizError("train.own_lm_heads") for weights that do not share the target's LM head.
    """

    name = "medusa"

    def __init__(self, target: PreTrainedModel, name: str, chosen: Tensor, weights: Path | None) -> None:
        parts = Parts.of(target, name)
        self.target_name = name
        self.head = ReducedHead(parts.head, chosen)
        self.vocabulary = Vocabulary(chosen, len(parts.head))
        count, layers, residual, begun = HEADS, 1, True, None
        if weights is not None:
            begun = load_medusa(weights, target.get_output_embeddings(), torch.float32)
            if begun.own_lm_heads:
                raise SpecvizError("train.own_lm_heads", path=str(weights))
            count, layers, residual = len(begun), begun.layers, begun.residual
        rows, size = parts.head.shape
        self.module = MedusaHeads(count, size, rows, layers, residual, lm_head=self.head)
        if begun is not None:
            self.module.load_state_dict(begun.state_dict())

    def fits(self, batch: Labelled, step: int | None) -> list[tuple[float, Fit]]:
        fits = []
        for i, head in enumerate(self.module):
            ahead = 1 + i  # head i at t is right if it gives p after token t + 1 + i
            wanted = judged(batch.counts[:, ahead:], step)
            places, probs = self.vocabulary.soft_targets(batch.ids[:, ahead:][wanted], batch.probs[:, ahead:][wanted])
            fits.append((DECAY**i, fit(self.head.small(head(batch.hidden[:, :-ahead][wanted])), places, probs)))
        return fits

    def save(self, out: Path) -> dict:
        """`medusa_lm_head.safetensors` and `config.json` in Medusa's v2 layout."""
        facts = {"output_vocabulary": len(self.vocabulary.chosen)}
        save_medusa(out, self.module, self.target_name, dtype=torch.bfloat16, facts=facts)
        return {"parameters": sum(p.numel() for p in self.module.parameters())}

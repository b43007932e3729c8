"""(c) Training of Medusa heads on the target's hidden states ("Medusa-1": the target stays as it is).

The paper trains on the next tokens themselves; here on the target's distribution at their place, which says more.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from specviz.training.data import Labelled
from specviz.training.losses import Fit, Vocabulary, fit
from specviz.training.modules.medusa import WEIGHTS, MedusaHeads
from specviz.training.modules.reduced import ReducedHead
from specviz.training.target import Parts

HEADS = 4
DECAY = 0.8  # weight of each head, relative to the one before, as in the paper
SHARE = 0.5  # of the positions of a batch that a training step uses: the LM head is what costs


class MedusaTask:
    """HEADS heads for `target`, putting out the ids `chosen`."""

    name = "medusa"

    def __init__(self, target: PreTrainedModel, name: str, chosen: Tensor, weights: Path | None) -> None:
        parts = Parts.of(target, name)
        self.target_name = name
        self.head = ReducedHead(parts.head, chosen)
        self.vocabulary = Vocabulary(chosen, len(parts.head))
        self.module: nn.Module = MedusaHeads(HEADS, parts.head.shape[1])
        if weights is not None:
            begun = load_file(weights / WEIGHTS)
            begun.pop("draft_vocab_ids", None)
            self.module.load_state_dict({name: tensor.float() for name, tensor in begun.items()})

    def fits(self, batch: Labelled, step: int | None) -> list[tuple[float, Fit]]:
        fits = []
        for i, head in enumerate(self.module):
            ahead = 1 + i  # head i at t is right if it gives p after token t + 1 + i
            wanted = batch.counts[:, ahead:]
            if step is not None:
                wanted = wanted & (torch.rand(wanted.shape) < SHARE).to(wanted.device)
            places, probs = self.vocabulary.soft_targets(batch.ids[:, ahead:][wanted], batch.probs[:, ahead:][wanted])
            fits.append((DECAY**i, fit(self.head.small(head(batch.hidden[:, :-ahead][wanted])), places, probs)))
        return fits

    def save(self, out: Path) -> dict:
        """`medusa_lm_head.safetensors` and `config.json` in Medusa's v2 layout."""
        tensors = {n: p.detach().to("cpu", torch.bfloat16).contiguous() for n, p in self.module.state_dict().items()}
        save_file(tensors | {"draft_vocab_ids": self.vocabulary.chosen.int()}, out / WEIGHTS)
        facts = {"base_model_name_or_path": self.target_name, "medusa_num_heads": HEADS, "medusa_num_layers": 1}
        facts |= {"output_vocabulary": len(self.vocabulary.chosen)}
        (out / "config.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        return {"parameters": sum(p.numel() for p in self.module.parameters())}

"""(a) A draft model: some of the target's layers, distilled. Embeddings and LM head stay the target's.

Forward KL on the target's likeliest tokens, as in Hinton et al., arXiv 1503.02531; optionally part total variation,
which is 1 - alpha itself (Zhou et al., "DistillSpec", arXiv 2310.08461).
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn
from transformers import PreTrainedModel

from specviz.engine.reduced import ReducedHead
from specviz.errors import SpecvizError
from specviz.models.heads import fitting
from specviz.models.local import LAYERS
from specviz.training.data import Labelled
from specviz.training.files import put
from specviz.training.losses import Fit, Vocabulary, fit, judged
from specviz.training.shards import replace
from specviz.training.target import Parts, load_layers, pruned


class DraftTask:
    """Layers `layers` of `target`, putting out the ids `chosen`."""

    name = "draft"

    def __init__(
        self, target: PreTrainedModel, name: str, layers: tuple[int, ...], chosen: torch.Tensor, weights: Path | None
    ) -> None:
        parts = Parts.of(target, name)
        self.target_name, self.layers = name, layers
        self.model = pruned(target, layers)
        self.model.base_model.embed_tokens.weight = nn.Parameter(parts.embedding, requires_grad=False)
        self.module: nn.Module = self.model.base_model
        self.head = ReducedHead(parts.head, chosen)
        self.vocabulary = Vocabulary(chosen, len(parts.head))
        if weights is not None:
            with fitting(weights, name):
                made_of = tuple(json.loads((weights / "config.json").read_text(encoding="utf-8"))["layers_from_target"])
                if made_of != layers:
                    told = {"made_of": ",".join(map(str, made_of)), "layers": ",".join(map(str, layers))}
                    raise SpecvizError("train.other_layers", path=str(weights), **told)
                load_layers(self.module, weights)

    def fits(self, batch: Labelled, step: int | None) -> list[tuple[float, Fit]]:
        wanted = judged(batch.counts, step)
        states = self.module(input_ids=batch.tokens, use_cache=False).last_hidden_state[wanted]  # [n, d]
        places, probs = self.vocabulary.soft_targets(batch.ids[wanted], batch.probs[wanted])
        return [(1.0, fit(self.head.small(states), places, probs))]

    def save(self, out: Path) -> dict:
        """`draft_layers.safetensors` and `config.json`, as `models/compose.py` reads them."""
        learned = {name: p for name, p in self.module.named_parameters() if p.requires_grad}
        tensors = {f"model.{name}": p.detach().to("cpu", torch.bfloat16).contiguous() for name, p in learned.items()}
        tensors["draft_vocab_ids"] = self.vocabulary.chosen.int()
        put(out / LAYERS, lambda part: save_file(tensors, part))
        facts = {
            "target": self.target_name,
            "layers_from_target": list(self.layers),
            "num_hidden_layers": len(self.layers),
            "shares_with_target": ["model.embed_tokens.weight", "lm_head.weight"],
            "output_vocabulary": len(self.vocabulary.chosen),
        }
        replace(out / "config.json", (json.dumps(facts, indent=1) + "\n").encode())
        return {"parameters": sum(p.numel() for p in learned.values())}

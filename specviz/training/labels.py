"""What the target thinks at every position of the corpus, kept beside it: found once, learned from many times.

For each token: the target's 16 likeliest next tokens with their probabilities at temperature 1, and in bf16 its last
hidden state (what Medusa and EAGLE begin with) and those of three layers on the way (which EAGLE-3 adds). About 4.7 KB
a token for hidden size 576.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel

from specviz.training.files import put, reading

TOP = 16
HIDDEN, TAPS = "hidden", "taps"  # names of the last hidden states, and of those on the way


def taps(model: PreTrainedModel) -> tuple[int, ...]:
    """Which hidden states on the way are kept: a low, a middle and a high one, as in EAGLE-3 (arXiv 2503.01840)."""
    layers = model.config.get_text_config(decoder=True).num_hidden_layers
    return min(2, layers - 1), layers // 2, max(layers - 3, 0)


def states(hidden_states: Sequence[Tensor], layers: Sequence[int]) -> dict[str, Tensor]:
    """All hidden states [..., d] of a pass -> the last ones and those of `layers`, side by side, in bf16."""
    on_the_way = torch.cat([hidden_states[i] for i in layers], -1)
    return {HIDDEN: hidden_states[-1].to("cpu", torch.bfloat16), TAPS: on_the_way.to("cpu", torch.bfloat16)}


def no_states(*shape: int, depth: int, layers: Sequence[int]) -> dict[str, Tensor]:
    """Room for what `states` gives: [*shape, depth] and [*shape, len(layers) * depth], zeros."""
    sizes = {HIDDEN: depth, TAPS: len(layers) * depth}
    return {name: torch.zeros(*shape, size, dtype=torch.bfloat16) for name, size in sizes.items()}


def likeliest(logits: Tensor) -> tuple[Tensor, Tensor]:
    """logits [n, V] -> ids [n, TOP] int32 of the likeliest tokens, falling, and their probabilities in float16."""
    logits = logits.float()
    best = logits.topk(min(TOP, logits.shape[-1]))
    return best.indices.int(), (best.values - logits.logsumexp(-1, keepdim=True)).exp().half()


def labels_of(shard: Path) -> Path:
    """The file of labels of a shard."""
    return shard.parent / "teacher" / f"{shard.stem}.safetensors"


def write_labels(shard: Path, labels: dict[str, Tensor]) -> None:
    """ids, probs [N, TOP], hidden [N, d], taps [N, 3 d] of the shard's N tokens. The file is whole or not there."""
    path = labels_of(shard)
    path.parent.mkdir(exist_ok=True)
    put(path, lambda part: save_file(labels, part))


class Labels:
    """The labels of one shard, read piece by piece. Raises SpecvizError("train.damaged") where they do not fit it."""

    def __init__(self, shard: Path) -> None:
        self.path = labels_of(shard)
        with reading(self.path):
            self.file = safe_open(self.path, framework="pt")
            places, size = self.file.get_slice("ids").get_shape()[0], shard.stat().st_size
            if size not in (2 * places, 4 * places):
                raise ValueError(f"labels of {places} tokens, and {shard.name} has {size} bytes")

    def read(self, name: str, start: int, end: int) -> Tensor:
        with reading(self.path):
            return self.file.get_slice(name)[start:end]

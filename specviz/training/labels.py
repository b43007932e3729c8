"""What the target thinks at every position of the corpus, kept beside it: found once, learned from many times.

For each token: the target's 16 likeliest next tokens with their probabilities at temperature 1, and its last hidden
state in bf16 (what EAGLE and Medusa begin with). About 1.2 KB a token for hidden size 576.
"""

from __future__ import annotations

from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

TOP = 16


def likeliest(logits: Tensor) -> tuple[Tensor, Tensor]:
    """logits [n, V] -> ids [n, TOP] int32 of the likeliest tokens, falling, and their probabilities in float16."""
    logits = logits.float()
    best = logits.topk(min(TOP, logits.shape[-1]))
    return best.indices.int(), (best.values - logits.logsumexp(-1, keepdim=True)).exp().half()


def labels_of(shard: Path) -> Path:
    """The file of labels of a shard."""
    return shard.parent / "teacher" / f"{shard.stem}.safetensors"


def write_labels(shard: Path, labels: dict[str, Tensor]) -> None:
    """ids [N, TOP], probs [N, TOP] and hidden [N, d] of the shard's N tokens. The file is whole or not there."""
    path = labels_of(shard)
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    save_file(labels, part)
    part.replace(path)


class Labels:
    """The labels of one shard, read piece by piece."""

    def __init__(self, shard: Path) -> None:
        self.file = safe_open(labels_of(shard), framework="pt")

    def read(self, name: str, start: int, end: int) -> Tensor:
        return self.file.get_slice(name)[start:end]

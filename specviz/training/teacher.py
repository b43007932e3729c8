"""What the target thinks at every position of the corpus, kept beside it: read once, learned from many times.

Shards that `corpus.py` wrote bring their labels with them; this is for others.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel

from specviz.errors import SpecvizError
from specviz.models.prepared import Progress
from specviz.training.files import alone
from specviz.training.labels import TOP, labels_of, likeliest, no_states, states, taps, write_labels
from specviz.training.shards import Text, read_shard

PASS = 4096  # tokens of one forward pass
ROWS = 512  # positions whose logits are held at once


def label(model: PreTrainedModel, paths: list[Path], progress: Progress) -> None:
    """Writes the labels of those shards that have none yet; each file is whole or not there."""
    missing = [path for path in paths if not labels_of(path).is_file()]
    if not missing:
        return
    with alone(labels_of(missing[0]).parent):
        for done, path in enumerate(missing):
            write_labels(path, label_texts(model, read_shard(path)))
            progress((done + 1) / len(missing), "train.labelling", done=done + 1, total=len(missing))


@torch.inference_mode()
def label_texts(model: PreTrainedModel, texts: list[Text]) -> dict[str, Tensor]:
    """For the N tokens of `texts`, in order: ids, probs [N, TOP] (float16), hidden [N, d] and taps [N, 3 d] (bf16)."""
    head = model.get_output_embeddings()
    size = head.weight.shape[0]
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text.tokens))
    top = min(TOP, size)
    ids = torch.empty(starts[-1], top, dtype=torch.int32)
    probs = torch.empty(starts[-1], top, dtype=torch.float16)
    layers = taps(model)
    kept = no_states(starts[-1], depth=head.weight.shape[1], layers=layers)
    for group in by_length(texts):
        width = max(len(texts[i].tokens) for i in group)
        batch = torch.zeros(len(group), width, dtype=torch.long)
        for row, i in enumerate(group):
            batch[row, : len(texts[i].tokens)] = torch.from_numpy(texts[i].tokens.astype("int64"))
        if int(batch.max()) >= size:
            raise SpecvizError(
                "train.corpus_vocabulary", token=int(batch.max()), size=size, target=type(model).__name__
            )
        # Padding is on the right, where a causal model's earlier tokens cannot see it.
        out = model.base_model(input_ids=batch.to(model.device), use_cache=False, output_hidden_states=True)
        for row, i in enumerate(group):
            real = [x[row, : len(texts[i].tokens)] for x in out.hidden_states]
            for name, state in states(real, layers).items():
                kept[name][starts[i] : starts[i + 1]] = state
            for at in range(0, len(real[-1]), ROWS):
                logits = head(real[-1][at : at + ROWS])
                where = slice(starts[i] + at, starts[i] + at + len(logits))
                ids[where], probs[where] = (x.cpu() for x in likeliest(logits))
    return {"ids": ids, "probs": probs} | kept


def by_length(texts: list[Text]) -> list[list[int]]:
    """Groups of texts of similar length, each of at most PASS tokens with padding."""
    groups: list[list[int]] = []
    for i in sorted(range(len(texts)), key=lambda i: len(texts[i].tokens)):
        if not groups or (len(groups[-1]) + 1) * len(texts[i].tokens) > PASS:
            groups.append([])
        groups[-1].append(i)
    return groups

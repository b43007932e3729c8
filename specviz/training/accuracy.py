"""How often a head's rank-r candidate is the token that was written, on texts that were never trained on; and the
candidate trees that follow from it (Cai et al., "Medusa", arXiv 2401.10774, section 2.3.3).
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor, nn

from specviz.choices import best_tree, expected_length
from specviz.engine.medusa import MedusaHeads
from specviz.engine.reduced import ReducedHead
from specviz.training.data import Data
from specviz.training.shards import replace

TREES = "trees.json"
RANKS = 10  # candidates of a head that are looked at
NODES = (8, 16, 32, 64)
WARM = (0.5, 0.9)  # the sampled texts that stand for temperature 0.7


@torch.no_grad()
def accuracy(heads: MedusaHeads, data: Data, low: float, high: float) -> tuple[list[list[float]], int]:
    """On the kept-back texts written at temperatures low .. high: [heads][RANKS] shares, and how many positions."""
    hits, seen = torch.zeros(len(heads), RANKS), 0
    device = next(heads.parameters()).device
    for batch in data.held_back_batches(low, high):
        batch = batch.to(device)
        ahead = len(heads) + 1  # head i at t names token t + 2 + i; only places where all heads can be judged
        # `counts` [t]: token t + 1 was written, not given
        wanted = batch.counts[:, : batch.counts.shape[1] - ahead] & batch.counts[:, ahead - 1 : -1]
        hidden = batch.hidden[:, : wanted.shape[1]][wanted]  # [n, d]
        for i, head in enumerate(heads):  # one after the other: the logits of all at once take gigabytes
            named = candidates(heads.reader, head(hidden))
            wrote = batch.tokens[:, 2 + i : 2 + i + wanted.shape[1]][wanted]  # [n]
            hits[i, : named.shape[1]] += (named == wrote[:, None]).float().sum(0).cpu()
        seen += int(wanted.sum())
    return [[round(x / max(seen, 1), 4) for x in row] for row in hits.tolist()], seen


def candidates(reader: nn.Module, states: Tensor) -> Tensor:
    """What a head gives, [n, d] or [n, V] -> ids [n, RANKS] of its likeliest tokens (fewer where it knows fewer)."""
    if isinstance(reader, ReducedHead):
        logits = reader.small(states)  # [n, W]
        return reader.ids[logits.topk(min(RANKS, logits.shape[1])).indices]
    return reader(states).topk(RANKS).indices


def write_trees(heads: MedusaHeads, data: Data, out: Path) -> dict:
    """`trees.json`: the accuracy tables at T = 0 and about .7, the best trees of the first, and what they forecast."""
    cold, cold_seen = accuracy(heads, data, 0.0, 0.0)
    warm, warm_seen = accuracy(heads, data, *WARM)
    trees = {str(n): best_tree(cold, n) for n in NODES}
    forecast = {
        n: {"0": round(expected_length(cold, tree), 3), "0.7": round(expected_length(warm, tree), 3)}
        for n, tree in trees.items()
    }
    about = {"accuracy": cold, "positions": cold_seen, "accuracy_0.7": warm, "positions_0.7": warm_seen}
    text = json.dumps(about | {"forecast": forecast, "trees": trees}, separators=(",", ":"))
    replace(out / TREES, (text.replace('],"', '],\n"').replace(',"trees"', ',\n"trees"') + "\n").encode())
    return {"forecast_tokens_per_round": forecast}

"""The accuracy table of Medusa heads, position by position against a plain loop over the texts."""

import json

import pytest
import torch

from specviz.choices import best_tree
from specviz.engine.medusa import MedusaHeads
from specviz.engine.reduced import ReducedHead
from specviz.training import accuracy as module
from specviz.training.accuracy import accuracy, write_trees
from specviz.training.data import Labelled

V, D, HEADS = 16, 16, 3


class Kept:
    """Stands where `Data` stands: two batches of random texts, the first written at T = 0, the second warmer."""

    def __init__(self):
        rng = torch.Generator().manual_seed(3)
        self.batches = []
        for temperature in (0.0, 0.7):
            tokens = torch.randint(V, (2, 12), generator=rng)
            counts = torch.zeros(2, 12, dtype=torch.bool)
            counts[0, 3:11] = True
            counts[1, 2:8] = True
            hidden = torch.randn(2, 12, D, generator=rng)
            same = tokens[..., None]
            self.batches.append((temperature, Labelled(tokens, same, same, hidden, hidden[..., :0], counts)))

    def held_back_batches(self, low, high):
        return [batch for temperature, batch in self.batches if low <= temperature <= high]


@pytest.fixture(params=[V, 12, 6], ids=["whole", "reduced", "fewer than ranks"])
def heads(request):
    torch.manual_seed(0)
    reader = torch.nn.Linear(D, V, bias=False)
    if request.param < V:
        reader = ReducedHead(reader.weight, torch.randperm(V)[: request.param].sort().values)
    made = MedusaHeads(HEADS, D, V, lm_head=reader)
    for weight in made.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return made


@pytest.mark.parametrize("span", [(0.0, 0.0), (0.5, 0.9), (0.0, 1.0)])
def test_table_is_a_plain_count(heads, span):
    hits, seen = torch.zeros(HEADS, module.RANKS), 0
    for batch in Kept().held_back_batches(*span):
        for row in range(2):
            for t in range(12 - HEADS - 1):
                if not (batch.counts[row, t] and batch.counts[row, t + HEADS]):
                    continue  # the target wrote token t + 1, and all that the heads name from here
                seen += 1
                for i, head in enumerate(heads):
                    logits = heads.reader(head(batch.hidden[row, t]))
                    named = logits.topk(module.RANKS).indices.tolist()
                    token = int(batch.tokens[row, t + 2 + i])
                    if token in named and logits[token] > -torch.inf:
                        hits[i, named.index(token)] += 1
    table, positions = accuracy(heads, Kept(), *span)
    assert positions == seen > 0
    assert torch.allclose(torch.tensor(table), hits / seen, atol=1e-4)


def test_the_logits_of_one_head_are_held_at_once(heads):
    """And of a head for some of the ids, of these alone."""
    shapes = []
    heads.reader.register_forward_hook(lambda *call: shapes.append(call[-1].shape))
    accuracy(heads, Kept(), 0.0, 1.0)
    reduced = isinstance(heads.reader, ReducedHead)
    assert [len(shape) for shape in shapes] == ([] if reduced else [2] * 2 * HEADS)


def test_trees_are_the_best_ones_of_the_table(heads, tmp_path):
    write_trees(heads, Kept(), tmp_path)
    held = json.loads((tmp_path / module.TREES).read_text())
    for n, tree in held["trees"].items():
        assert tuple(map(tuple, tree)) == best_tree(held["accuracy"], int(n))
        assert len(tree) == int(n)
    assert held["forecast"]["64"]["0"] >= held["forecast"]["8"]["0"] >= 1

"""The checks' model, which never runs a pass twice, decodes trees as the engine's own does."""

import pytest

from specviz.config import RunConfig
from specviz.engine.decode import Decoder
from specviz.engine.model import CachedLM
from specviz.engine.tree_drafter import TreeDrafter
from specviz.models.remembered import Remembered
from tests.tiny import V, tiny_model

TREE = ((0,), (1,), (2,), (0, 0), (0, 1), (1, 0), (0, 0, 0))


def rounds(target, draft, seed, siblings):
    config = RunConfig("draft", tree=TREE, siblings=siblings, temperature=1.5, seed=seed, max_new_tokens=12)
    decoder = Decoder(target, TreeDrafter(draft), [3, 1, 4, 1, 5], config)
    found = []
    while decoder.finish is None:
        done = decoder.step()
        found.append((done.draft.tokens, done.draft.parents, done.path, done.final.token))
    return found


@pytest.mark.parametrize("siblings", ["fixed", "iid", "distinct"])
def test_trees_are_decoded_alike(siblings):
    target, draft = tiny_model(seed=0), tiny_model(seed=0, num_hidden_layers=2)
    remembered = Remembered(target, V), Remembered(draft, V)
    gathered = False
    for seed in (0, 1, 0):
        plain = rounds(CachedLM(target, V), CachedLM(draft, V), seed, siblings)
        gathered |= any(path != tuple(range(len(path))) for _, _, path, _ in plain)
        assert rounds(*(lm.again() for lm in remembered), seed, siblings) == plain
    known = len(remembered[0].known)
    rounds(*(lm.again() for lm in remembered), 1, siblings)
    assert len(remembered[0].known) == known  # nothing was run a second time
    assert gathered  # kept rows had to move

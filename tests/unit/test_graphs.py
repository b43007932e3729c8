"""The pass with fixed shapes that CUDA graphs replay, on the CPU: the work is run anew where a GPU would replay it."""

import gc
import random

import pytest
import torch

from specviz.engine import graphs
from specviz.engine import lean as lean_module
from specviz.engine.graphs import GraphedLM
from specviz.engine.lean import LeanLM, lean
from specviz.engine.tree import Branches, Tree
from tests.tiny import V, tiny_model


def again(work):
    """In place of a recording: the work itself, which has run once, as before a recording."""
    work()
    return work


def text(n: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(V, (n,), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("seed", range(3))
def test_same_numbers_as_without_graphs(seed, monkeypatch):
    monkeypatch.setattr(lean_module, "FIRST_ROWS", 16)
    monkeypatch.setattr(graphs, "STEP", 8)
    monkeypatch.setattr(graphs, "LONGEST", 8)
    monkeypatch.setattr(graphs, "KEPT", 3)
    weights, moves = lean(tiny_model()), random.Random(seed)
    ours, theirs = GraphedLM(weights, V, recorded=again), LeanLM(weights, V)
    for step in range(20):
        before, n = ours.length, moves.randint(1, 10)
        tokens, tree, branches = text(n, step), None, None
        if before and moves.random() < 0.5:
            tree = Tree(tuple(moves.randint(-1, i - 1) for i in range(n)))
            branches = Branches.of(tree, before)
        rows = moves.randint(1, n)
        a, b = (lm.forward(tokens, rows, (0, -1), branches) for lm in (ours, theirs))
        torch.testing.assert_close(a.logits, b.logits, atol=1e-4, rtol=0)
        torch.testing.assert_close(a.hidden, b.hidden, atol=1e-4, rtol=0)
        kept = tree.path(moves.randrange(n)) if tree else range(moves.randint(0, min(n, 100 - before)))
        for lm in (ours, theirs):
            lm.keep(before, [before + node for node in kept])
        assert len(ours.memory.steps) <= 3


def test_a_result_outlives_the_next_replay():
    lm = GraphedLM(lean(tiny_model()), V, recorded=again)
    first = lm.forward(text(4), 4, (-1,))
    logits, hidden = first.logits.clone(), first.hidden.clone()
    lm.rollback(0)
    lm.forward(text(4, 1), 4, (-1,))
    assert len(lm.memory.steps) == 1
    assert torch.equal(first.logits, logits)
    assert torch.equal(first.hidden, hidden)


def test_the_next_run_takes_over_the_memory_and_its_graphs():
    """Each step on the screen is a run of its own, and recording anew would cost more than the step."""

    def once(work):
        work()
        recorded.append(1)
        return lambda: None  # as a replay it keeps nothing of the run that recorded it alive

    weights, spare, recorded = lean(tiny_model()), [], []
    first, second = (GraphedLM(weights, V, spare, recorded=once) for _ in range(2))
    for lm in (first, second):
        lm.forward(text(4), 4)
    assert first.memory is not second.memory  # both are under way
    kept = first.memory
    del first, lm
    gc.collect()
    assert spare == [kept]
    third = GraphedLM(weights, V, spare, recorded=once)
    assert third.memory is kept
    assert third.length == 0
    third.forward(text(4), 4)
    assert len(recorded) == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_recorded_on_a_gpu():
    weights = lean(tiny_model().cuda())
    ours, theirs = GraphedLM(weights, V), LeanLM(weights, V)
    for n in (9, 1, 1, 4, 4, 2, 1):
        a, b = (lm.forward(text(n, n).cuda(), n, (-1,)) for lm in (ours, theirs))
        torch.testing.assert_close(a.logits, b.logits, atol=1e-3, rtol=0)
        torch.testing.assert_close(a.hidden, b.hidden, atol=1e-3, rtol=0)

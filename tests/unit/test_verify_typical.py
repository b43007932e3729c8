"""Typical acceptance: the published rule, the longest path, and that it is lossy, by the enumeration of the others."""

import math

import pytest
import torch

from specviz.config import RunConfig
from specviz.engine.decode import speculative
from specviz.engine.tree import Tree
from specviz.engine.tree_drafter import TreeDrafter
from specviz.engine.verify_typical import typical_limit, walk_typical
from specviz.trace import Kind, Status

from .round_law import distance, iid, law, random_rule, rows
from .table_lm import TableLM

P = (0.30, 0.25, 0.20, 0.15, 0.10)  # fixture F
Q = (0.10, 0.15, 0.05, 0.30, 0.40)
SURE = torch.tensor([0.87, 0.07, 0.06])


def walk(p, drafted, parents, eps=0.09, delta=0.3):
    p = torch.as_tensor(p)
    n = len(drafted)
    q = torch.full((1, p.shape[-1]), 1 / p.shape[-1])
    return walk_typical(p, q, torch.zeros(n).long(), torch.tensor(drafted), Tree(parents), eps, delta, 0.5)


@pytest.mark.parametrize(("eps", "delta", "accepted"), [(0.09, 0.3, [0]), (0.3, 0.09, [0, 1, 2])])
def test_the_published_example(eps, delta, accepted):
    """Swapping the two settings would accept everything."""
    kept = [walk(SURE.expand(2, -1), [token], (-1,), eps, delta).kept.item() for token in range(3)]
    assert [token for token in range(3) if kept[token]] == accepted


@pytest.mark.parametrize("p", [SURE.tolist(), P, (1.0, 0.0, 0.0), (0.25,) * 4, (0.02,) * 50])
def test_the_limit_is_the_papers_with_natural_logarithms(p):
    entropy = -sum(x * math.log(x) for x in p if x)
    expected = min(0.09, 0.3 * math.exp(-entropy))
    assert typical_limit(torch.tensor([p]), 0.09, 0.3).item() == pytest.approx(expected)


def test_a_token_exactly_at_the_limit_is_refused():
    p = torch.tensor([[0.5, 0.25, 0.25]] * 2, dtype=torch.float64)
    assert not walk(p, [1], (-1,), eps=0.25, delta=1.0).kept.item()
    assert walk(p, [1], (-1,), eps=0.25 - 2**-54, delta=1.0).kept.item()


def test_the_longest_path_counts():
    """Nodes 0 and 1 both pass; only below node 1 does another."""
    p = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.4, 0.3, 0.3], [1.0, 0, 0], [1.0, 0, 0]])
    judged = walk(p, [0, 1, 0, 2], (-1, -1, 0, 1))
    assert judged.kept.tolist() == [False, True, False, True]
    assert judged.tried.tolist() == [False, True, False, True]  # node 0 passed, so it was not refused
    assert judged.end == 4
    assert judged.token == 0


def test_of_equally_long_paths_the_first():
    p = torch.full((7, 3), 1 / 3)
    judged = walk(p, [2, 1, 0, 1, 2, 0], (-1, -1, 0, 0, 1, 1))
    assert judged.kept.tolist() == [True, False, True, False, False, False]
    assert not judged.tried[1:2].any()
    judged = walk(p, [2, 1, 0, 1], (-1, -1, 1, 1))  # the first of the longest, not of all
    assert judged.kept.tolist() == [False, True, True, False]


def test_nothing_that_passes_below_what_does_not():
    p = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    judged = walk(p, [1, 1], (-1, 0))
    assert not judged.kept.any()
    assert judged.tried.tolist() == [True, False]
    assert (judged.end, judged.token) == (0, 0)


def typical_law(p_rule, q_rule, tree, eps=0.09, delta=0.3):
    def judge(drafted, u):
        tokens = [token or 0 for token in drafted]
        p, q = rows(tree, tokens, p_rule), rows(tree, tokens, q_rule)
        return tokens, walk_typical(p, q, tree.contexts, torch.tensor(tokens), tree, eps, delta, 0.5)

    found = []
    for chance, tokens in iid(q_rule(()), len(tree)):  # one level: no gate draws anything
        _, judged = judge(tokens, ())
        accepted = tuple(tokens[i] for i in tree.path(int(judged.end) - 1))
        found.append((chance, accepted, (judged.rest / judged.rest.sum()).tolist()))
    return found


def test_it_is_lossy_on_the_fixture():
    """All of F is likely enough, so whatever is drafted stays: the text has the draft's distribution."""
    rule = lambda prefix: P  # noqa: E731
    found = typical_law(rule, lambda prefix: Q, Tree((-1,)))
    mass = law(found, rule, 1)
    assert [mass[(token,)] for token in range(5)] == pytest.approx(Q)
    assert distance(found, rule, 1) == pytest.approx(0.30)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(("eps", "delta"), [(0.09, 0.3), (0.3, 1.0), (0.5, 1.0)])
def test_it_is_lossy_at_other_settings_and_with_siblings(n, eps, delta):
    rule = lambda prefix: P  # noqa: E731
    found = typical_law(rule, lambda prefix: Q, Tree((-1,) * n), eps, delta)
    assert sum(chance for chance, *_ in found) == pytest.approx(1)
    accepts = any(accepted for _, accepted, _ in found)
    assert (distance(found, rule, 1) > 0.02) == accepts
    assert accepts == (min(eps, delta / math.e**1.5445) < 0.3)


# ---- through the decoder ----

TREE = ((0,), (1,), (0, 0), (0, 1), (1, 0))


def rounds(temperature, seed=0, **changes):
    p_rule, q_rule = random_rule(30, 8, zeros=0.3), random_rule(31, 8)
    config = RunConfig(
        tree=TREE, temperature=temperature, seed=seed, max_new_tokens=30, **{"verify": "typical"} | changes
    )
    return list(speculative(TableLM(p_rule, 8), TreeDrafter(TableLM(q_rule, 8)), [0], config, detail=True))


def test_verdicts_show_the_limit_and_no_draw():
    done = rounds(1.0)
    verdicts = [(v, r) for r in done for v in r.verdicts]
    assert {v.status for v, _ in verdicts} == set(Status)
    assert all(v.u is None and 0 < v.limit < 0.0901 for v, _ in verdicts)
    assert all(v.p > v.limit for v, _ in verdicts if v.status is Status.ACCEPTED)
    assert all(v.p <= v.limit for v, _ in verdicts if v.status is Status.REJECTED)
    assert {r.final.kind for r in done if r.final} <= {Kind.BONUS, Kind.TARGET}  # nothing comes from a residual
    assert not any(position.r for r in done for position in r.detail)
    for r in done:  # a bonus only where nothing was drafted after the path
        end = r.path[-1] if r.path else -1
        assert (r.final.kind is Kind.TARGET) == (end in r.draft.parents or not r.draft.tokens)


def test_at_temperature_0_it_is_greedy():
    greedy = [r.emitted for r in rounds(0.0, verify="lossless")]
    assert [r.emitted for r in rounds(0.0)] == greedy
    assert any(len(emitted) > 1 for emitted in greedy)


def test_settings_know_that_it_is_lossy():
    assert not RunConfig(verify="typical", temperature=1.0).lossless
    assert not RunConfig(verify="greedy", temperature=1.0).lossless
    assert all(RunConfig(verify=verify).lossless for verify in ("lossless", "greedy", "block"))

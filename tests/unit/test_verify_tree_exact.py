"""Trees judged losslessly, by exact enumeration; and proof that the enumeration catches the faults trees invite."""

from itertools import cycle

import pytest
import torch

from specviz.engine import verify_tree
from specviz.engine.tree import Tree
from specviz.engine.verify_tree import Siblings, path_of, walk_tree

from .round_law import LAST, distance, distinct, fixed, iid, outcomes, random_rule, rows

P = (0.30, 0.25, 0.20, 0.15, 0.10)  # fixture F: its residual is not one-hot
Q = (0.10, 0.15, 0.05, 0.30, 0.40)
CHOOSE = {Siblings.IID: iid, Siblings.DISTINCT: distinct, Siblings.FIXED: fixed}
ACCEPTED = {
    (Siblings.IID, 2): 0.685,
    (Siblings.IID, 3): 0.76475,
    (Siblings.DISTINCT, 2): 0.75595,
    (Siblings.DISTINCT, 3): 0.87778,
    (Siblings.FIXED, 2): 0.25,
    (Siblings.FIXED, 3): 0.50,
}


def judge_with(tree, p_rule, q_rule, siblings, walk=walk_tree, seed=0):
    """The engine's walk over any drafted tokens; those that do not matter yet are random."""
    anything = torch.randint(len(p_rule(())), (len(tree),), generator=torch.Generator().manual_seed(seed)).tolist()

    def judge(drafted, u):
        tokens = [other if token is None else token for token, other in zip(drafted, anything, strict=True)]
        p, q = rows(tree, tokens, p_rule), rows(tree, tokens, q_rule)
        u = torch.tensor(u, dtype=torch.float64)
        return tokens, walk(p, q, tree.contexts, torch.tensor(tokens), tree, siblings, u, 0.5)

    return judge


def on_fixture(siblings, n, walk=walk_tree, choose=None, **options):
    """Outcomes of n siblings on fixture F, and the rule of the target: F first, then something else."""
    later = random_rule(1, 5)
    p_rule, q_rule = (lambda prefix: later(prefix) if prefix else P), (lambda prefix: Q)
    tree, choose = Tree((-1,) * n), choose or CHOOSE[siblings]
    judge = judge_with(tree, p_rule, q_rule, siblings, walk)
    return list(outcomes(tree, lambda _, m: choose(Q, m), judge, **options)), p_rule


# ---- the three rules are exact ----


@pytest.mark.parametrize(("siblings", "n"), ACCEPTED)
def test_siblings_on_the_fixture(siblings, n):
    found, rule = on_fixture(siblings, n, edges=True)
    assert sum(weight for weight, *_ in found) == pytest.approx(1)
    assert sum(weight for weight, accepted, _ in found if accepted) == pytest.approx(ACCEPTED[siblings, n], abs=5e-6)
    assert distance(found, rule, 1) < 1e-12
    assert distance(found, rule, 2) < 1e-12  # with the bonus from the right row


@pytest.mark.parametrize("siblings", Siblings)
@pytest.mark.parametrize(("n", "zeros"), [(2, 0.0), (2, 0.4), (3, 0.2)])
def test_two_levels(siblings, n, zeros):
    """n siblings everywhere on two levels; the law of the next three tokens."""
    tree = Tree((-1,) * n + tuple(parent for parent in range(n) for _ in range(n)))
    size = 3 if siblings is Siblings.IID else n + 1  # so that not every token is a sibling
    p_rule, q_rule = random_rule(n, size, zeros), random_rule(n + 10, size)
    judge = judge_with(tree, p_rule, q_rule, siblings)
    found = list(outcomes(tree, lambda prefix, m: CHOOSE[siblings](q_rule(prefix), m), judge))
    assert {len(accepted) for _, accepted, _ in found} == {0, 1, 2}
    assert distance(found, p_rule, 3) < 1e-12


@pytest.mark.parametrize("siblings", Siblings)
def test_an_uneven_tree_whose_siblings_are_not_next_to_each_other(siblings):
    tree = Tree((-1, 0, -1, 0, 1, 2, 3))
    p_rule, q_rule = random_rule(5, 3), random_rule(6, 3)
    judge = judge_with(tree, p_rule, q_rule, siblings)
    found = list(outcomes(tree, lambda prefix, m: CHOOSE[siblings](q_rule(prefix), m), judge))
    assert {len(accepted) for _, accepted, _ in found} == {0, 1, 2, 3}
    assert distance(found, p_rule, 4) < 1e-12


@pytest.mark.parametrize("siblings", Siblings)
def test_a_gate_is_strict(siblings):
    """p / q = 1/2, or p = 1/2 for a point mass: u = 1/2 is refused; and u = 0 does not accept p = 0."""
    p, q = torch.tensor([[0.5, 0.5, 0.0]] * 2).double(), torch.tensor([[1.0, 0.0, 0.0]]).double()
    for token, u, kept in ((0, 0.5, False), (0, 0.5 - 2**-54, True), (2, 0.0, False)):
        tokens, gate = torch.tensor([token]), torch.tensor([u], dtype=torch.float64)
        walk = walk_tree(p, q.roll(token, -1), torch.tensor([0]), tokens, Tree((-1,)), siblings, gate, 0.5)
        assert walk.kept.item() is kept


@pytest.mark.parametrize("siblings", [Siblings.IID, Siblings.DISTINCT])
def test_equal_distributions_accept_the_first_child(siblings):
    p = torch.tensor(P).expand(4, -1)
    for first in range(5):
        tokens = torch.tensor([first, (first + 1) % 5, (first + 2) % 5])
        u = torch.full((3,), LAST, dtype=torch.float64)
        walk = walk_tree(p, p, torch.zeros(3).long(), tokens, Tree((-1,) * 3), siblings, u, 0.5)
        assert walk.kept.tolist() == [True, False, False]
        assert torch.isfinite(torch.stack([walk.p, walk.q])).all()


@pytest.mark.parametrize("siblings", Siblings)
def test_children_that_the_target_rules_out_are_all_refused(siblings):
    p, q = torch.tensor([[0.5, 0.5, 0, 0, 0]] * 3), torch.tensor([[0, 0, 0.2, 0.4, 0.4]])
    u = torch.zeros(2, dtype=torch.float64)
    walk = walk_tree(p, q, torch.zeros(2).long(), torch.tensor([2, 4]), Tree((-1, -1)), siblings, u, 0.75)
    assert not walk.kept.any()
    assert walk.token == 1
    assert walk.prob == pytest.approx(0.5)


# ---- planted faults: each bends the law, so the enumeration would catch it ----


def resorted(p, q, source, drafted, tree, *rest):
    """Siblings tried by falling p instead of in the order they were drawn."""
    drafted.copy_(drafted[p[0, drafted].argsort(descending=True, stable=True)])
    return walk_tree(p, q, source, drafted, tree, *rest)


def merged(p, q, source, drafted, tree, siblings, u, v):
    """Duplicates drafted once."""
    first = [i for i, token in enumerate(drafted.tolist()) if token not in drafted.tolist()[:i]]
    walk = walk_tree(p, q, source[first], drafted[first], Tree((-1,) * len(first)), siblings, u[first], v)
    wide = {}
    for name in ("tried", "kept", "p", "q"):
        wide[name] = torch.zeros(len(drafted), dtype=getattr(walk, name).dtype)
        wide[name][first] = getattr(walk, name)
    end = first[int(walk.end) - 1] + 1 if walk.end else 0
    return verify_tree.Walk(**wide, limit=None, end=torch.tensor(end), token=walk.token, prob=walk.prob, rest=walk.rest)


def judged_with_q(p, q, source, drafted, tree, siblings, u, v):
    """Children that were not drawn, judged as if they had been."""
    return walk_tree(p, q, source, drafted, tree, Siblings.IID, u, v)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(
    ("siblings", "fault"),
    [
        (Siblings.IID, resorted),
        (Siblings.DISTINCT, resorted),
        (Siblings.IID, merged),
        (Siblings.FIXED, judged_with_q),
    ],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_planted_faults_in_the_order_and_kind_of_siblings(siblings, fault, n):
    found, rule = on_fixture(siblings, n, fault)
    assert sum(weight for weight, *_ in found) == pytest.approx(1)
    assert distance(found, rule, 1) > 0.005


@pytest.mark.parametrize("siblings", [Siblings.IID, Siblings.DISTINCT])
def test_planted_fault_target_not_replaced_by_the_residual_between_siblings(siblings, monkeypatch):
    last, right = cycle([False, True]), verify_tree.residual  # the final token still comes from a residual
    monkeypatch.setattr(verify_tree, "residual", lambda p, q: right(p, q) if next(last) else p)
    found, rule = on_fixture(siblings, 2)
    assert distance(found, rule, 1) > 0.005


@pytest.mark.parametrize(
    "fault",
    [lambda q, x: q.scatter(-1, x.unsqueeze(-1), 0.0), lambda q, x: q],
    ids=["not renormalised", "token left in"],
)
def test_planted_fault_q_of_the_later_siblings(fault, monkeypatch):
    monkeypatch.setattr(verify_tree, "without", fault)
    found, rule = on_fixture(Siblings.DISTINCT, 2)
    assert distance(found, rule, 1) > 0.005


def test_planted_fault_a_pad_that_matches_token_0():
    """Candidate paths padded with 0 to one length: where the target says 0 after a leaf, the pad counts as accepted."""
    tree, drafted = Tree((-1, -1, 0)), torch.tensor([3, 2, 1])
    says = torch.tensor([2, 4, 0, 0])  # the target's argmax after the text and after each node
    candidates = torch.tensor([[3, 1], [2, 0]])  # the paths (0, 2) and (1,), the latter padded
    contexts = torch.tensor([[0, 1], [0, 2]])  # where each of their tokens is judged
    padded = (candidates == says[contexts]).long().cumprod(1).sum(1)
    assert padded.tolist() == [0, 2]  # one too many: only the token 2 was drafted there
    kept, end = path_of(tree, drafted == says[tree.contexts])
    assert (kept.tolist(), end.item()) == ([False, True, False], 2)
    p = torch.nn.functional.one_hot(says, 5).double()
    u = torch.zeros(3, dtype=torch.float64)
    walk = walk_tree(p, p, tree.contexts, drafted, tree, Siblings.FIXED, u, 0.5)
    assert (walk.kept.tolist(), walk.token.item()) == ([False, True, False], 0)  # 0 is the bonus, once

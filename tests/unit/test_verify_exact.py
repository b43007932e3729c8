"""The accept/reject rule by exact enumeration, and proof that the enumeration catches the classic faults."""

from itertools import product

import pytest
import torch

import specviz
from specviz.engine import verify, verify_tree
from specviz.engine.sampling import draw
from specviz.engine.tree import Tree
from specviz.engine.verify import Judged, judge, residual
from specviz.engine.verify_tree import Siblings

P = torch.tensor([0.30, 0.25, 0.20, 0.15, 0.10], dtype=torch.float64)  # fixture F: its residual is not one-hot
Q = torch.tensor([0.10, 0.15, 0.05, 0.30, 0.40], dtype=torch.float64)


def midpoints(n: int) -> torch.Tensor:
    """n equal cells of [0, 1), by their midpoints: exact for every rule whose thresholds are multiples of 1/n."""
    return (torch.arange(n, dtype=torch.float64) + 0.5) / n


def law(rule, p, q, drafted_from, n) -> torch.Tensor:
    """The exact distribution of the first emitted token: every drafted token, every cell of u, every cell of v."""
    cells = torch.cartesian_prod(torch.arange(len(p)), torch.arange(n), torch.arange(n))
    drafted, u, v = cells[:, 0], midpoints(n)[cells[:, 1]], midpoints(n)[cells[:, 2]]
    token = rule(p.expand(len(cells), -1), q.expand(len(cells), -1), drafted, u, v).token
    return torch.zeros(len(p), dtype=torch.float64).index_add_(0, token, drafted_from[drafted]) / n**2


def same(a: torch.Tensor, b) -> bool:
    return torch.allclose(a, torch.as_tensor(b, dtype=torch.float64), atol=1e-3)


# ---- the rule itself ----


def test_fixture_has_the_published_figures():
    assert torch.minimum(P, Q).sum().item() == pytest.approx(0.55)
    torch.testing.assert_close(residual(P, Q), torch.tensor([4 / 9, 2 / 9, 3 / 9, 0, 0], dtype=torch.float64))


def test_exact_on_the_fixture():
    torch.testing.assert_close(law(judge, P, Q, Q, 36), P)


@pytest.mark.parametrize("case", range(30))
def test_exact_on_random_distributions(case):
    """p and q in twelfths: 27720 = lcm(1..12) cells hit every threshold of u and of v."""
    rng = torch.Generator().manual_seed(case)
    p, q = (torch.bincount(torch.randint(6, (12,), generator=rng), minlength=6) for _ in range(2))
    n = 27_720
    out = torch.zeros(6, dtype=torch.float64)
    grid = midpoints(n)
    pf, qf = (x.to(torch.float64).div(12).expand(n, -1) for x in (p, q))
    for x in range(6):
        judged = judge(pf, qf, torch.full((n,), x), grid, grid)  # u and v enter separately: their marginals suffice
        chance = judged.accepted.double().mean()
        recovered = torch.bincount(judged.recovered, minlength=6).double() / n
        out += qf[0, x] * (torch.nn.functional.one_hot(torch.tensor(x), 6).double() * chance + (1 - chance) * recovered)
    torch.testing.assert_close(out, pf[0], atol=1e-9, rtol=0)


def test_equal_distributions_accept_everything():
    u = torch.tensor([0.0, 0.5, 1 - 2**-53], dtype=torch.float64)
    for x in range(5):
        judged = judge(P.expand(3, -1), P.expand(3, -1), torch.full((3,), x), u, u)
        assert judged.accepted.all()
        assert torch.isfinite(judged.prob).all()


def test_disjoint_distributions_reject_everything():
    p, q = torch.tensor([0.5, 0.5, 0.0, 0.0]), torch.tensor([0.0, 0.0, 0.5, 0.5])
    u = torch.zeros(2, dtype=torch.float64)  # u = 0 must not accept p = 0
    judged = judge(p.expand(2, -1), q.expand(2, -1), torch.tensor([2, 3]), u, torch.tensor([0.2, 0.9]))
    assert not judged.accepted.any()
    assert judged.recovered.tolist() == [0, 1]


def test_residual_without_mass_is_p():
    torch.testing.assert_close(residual(P, P), P)
    nearly = (P + torch.tensor([1e-12, -1e-12, 0, 0, 0])).double()
    torch.testing.assert_close(residual(nearly, P), nearly)


# ---- planted faults: each bends the law as the table says, so the enumeration would catch it ----


def draw_from_p(p, q, drafted, u, v):
    return _replace(judge(p, q, drafted, u, v), recovered=draw(p, v))


def softmax_residual(p, q, drafted, u, v):
    return _replace(judge(p, q, drafted, u, v), recovered=draw((p - q).clamp(min=0).softmax(-1), v))


def zero_only_the_rejected(p, q, drafted, u, v):
    return _replace(judge(p, q, drafted, u, v), recovered=draw(p.scatter(-1, drafted.unsqueeze(-1), 0.0), v))


def reuse_u(p, q, drafted, u, v):
    return judge(p, q, drafted, u, u)


def upside_down(p, q, drafted, u, v):
    right = judge(p, q, drafted, u, v)
    return _replace(right, accepted=u * right.p < right.q)


def absolute_residual(p, q, drafted, u, v):
    return _replace(judge(p, q, drafted, u, v), recovered=draw((p - q).abs(), v))


def accept_iff_p_reaches_q(p, q, drafted, u, v):
    right = judge(p, q, drafted, u, v)
    return _replace(right, accepted=right.p >= right.q)


def always_accept(p, q, drafted, u, v):
    right = judge(p, q, drafted, u, v)
    return _replace(right, accepted=torch.ones_like(right.accepted))


def _parts(judged: Judged, **changes):
    return [changes.get(name, getattr(judged, name)) for name in Judged.__dataclass_fields__]


def _replace(judged: Judged, **changes) -> Judged:
    return Judged(*_parts(judged, **changes))


ARGMAX = torch.tensor([0, 0, 0, 0, 1.0], dtype=torch.float64)
TOP3 = torch.tensor([0, 0.15, 0, 0.30, 0.40], dtype=torch.float64) / 0.85


@pytest.mark.parametrize(
    ("rule", "drafted_from", "bent"),
    [
        (draw_from_p, Q, [0.235, 0.2625, 0.14, 0.2175, 0.145]),
        (softmax_residual, Q, [0.200, 0.241, 0.145, 0.232, 0.182]),
        (judge, ARGMAX, [0.333, 0.167, 0.25, 0, 0.25]),  # draft by argmax, softmax q in the ratio
        (judge, TOP3, [0.235, 0.294, 0.176, 0.176, 0.118]),  # draft from the top 3 of q, raw q in the ratio
        (zero_only_the_rejected, Q, [0.253, 0.277, 0.152, 0.20, 0.118]),
        (reuse_u, Q, [0.178, 0.289, 0.283, 0.15, 0.10]),
        (upside_down, Q, [0.106, 0.126, 0.067, 0.30, 0.40]),
        (absolute_residual, Q, [0.20, 0.20, 0.125, 0.225, 0.25]),
        (accept_iff_p_reaches_q, Q, [0.411, 0.306, 0.283, 0, 0]),
        (always_accept, Q, [0.10, 0.15, 0.05, 0.30, 0.40]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_planted_faults_are_caught(rule, drafted_from, bent):
    n = 360 if rule in (zero_only_the_rejected, softmax_residual, upside_down, draw_from_p) else 180
    found = law(rule, P, Q, drafted_from, n)
    assert torch.allclose(found, torch.tensor(bent, dtype=torch.float64), atol=4e-3), found
    assert not same(found, P)


# ---- the public function is the same rule ----


def test_public_function_is_the_rule_of_the_engine(monkeypatch):
    """Plant a fault in the one rule: the public function and the engine's walk both show it."""
    right = verify.gate

    def everything(*args):
        accepted, p, q = right(*args)
        return torch.ones_like(accepted), p, q

    monkeypatch.setattr(verify, "gate", everything)
    monkeypatch.setattr(verify_tree, "gate", everything)
    for drafted in range(5):
        assert specviz.speculative_sampling(Q.log(), P.log(), drafted, torch.Generator().manual_seed(0)) == drafted
    u, p, q = torch.full((1,), 0.999, dtype=torch.float64), P.expand(2, -1), Q.expand(1, -1)
    walk = verify_tree.walk_tree(p, q, torch.tensor([0]), torch.tensor([4]), Tree.chain(1), Siblings.IID, u, 0.5)
    assert walk.kept.all()


def test_public_function_has_the_targets_distribution():
    rng = torch.Generator().manual_seed(1)
    n = 200_000
    drafted = torch.multinomial(Q, n, replacement=True, generator=rng)
    token = specviz.speculative_sampling(Q.log().expand(n, -1), P.log().expand(n, -1), drafted, rng)
    counts = torch.bincount(token, minlength=5)
    assert ((counts - n * P) ** 2 / (n * P)).sum() < 18.5  # chi-square, 4 degrees of freedom, p = .001


def test_public_function_draws_two_numbers_a_position():
    used, expected = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    token = specviz.speculative_sampling(Q.log(), P.log(), torch.tensor(4), used)
    assert token.shape == ()
    torch.rand(2, dtype=torch.float64, generator=expected)
    assert used.get_state().equal(expected.get_state())


def test_public_function_at_temperature_zero_is_the_targets_argmax():
    draft, target = torch.tensor([1.9, 2.0]), torch.tensor([2.0, 1.9])
    for seed, drafted in product(range(20), range(2)):
        rng = torch.Generator().manual_seed(seed)
        assert specviz.speculative_sampling(draft, target, drafted, rng, temperature=0.0) == 0

"""Settings, metrics and theory: limits, the counting table, closed forms."""

import math
import pickle
from dataclasses import replace

import pytest

from specviz.config import LIMITS, METHODS, TREE_METHODS, Override, RunConfig
from specviz.errors import SpecvizError
from specviz.metrics import acceptance, judged, mean_acceptance_length, measure
from specviz.theory import best_k, expected_tokens, speedup
from specviz.trace import Draft, Final, Kind, Position, Round, Rows, Status, Times, Verdict


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("value", [-1, 10**30, 10**400, "3", None, math.nan, math.inf, True, [], "x" * 10_000_000])
def test_values_out_of_range_are_refused_in_a_sentence(name, value):
    with pytest.raises(SpecvizError) as error:
        RunConfig(**{name: value})
    assert name in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    "bad",
    [
        {"method": "magic"},
        {"method": 3},
        {"k": 2.5},
        {"stop": "text"},
        {"stop": ("",)},
        {"stop": (3,)},
        {"stop": ("\ud800",)},
        {"chat": 1},
        {"ignore_eos": "no"},
    ],
)
def test_other_bad_settings(bad):
    with pytest.raises(SpecvizError):
        RunConfig(**bad)


def test_whole_floats_are_integers_and_seeds_reach_their_end():
    assert RunConfig(k=3.0).k == 3
    assert isinstance(RunConfig(k=3.0).k, int)
    assert RunConfig(seed=2**63 - 1).seed == 2**63 - 1


@pytest.mark.parametrize(
    "bad", [{"u": 1.0}, {"u": -0.1}, {"u": math.nan}, {"token": -1}, {"position": -1}, {"round": -1}]
)
def test_bad_overrides(bad):
    with pytest.raises(SpecvizError):
        Override(**{"round": 0, "position": 0} | bad)


def test_whole_floats_are_integers_in_overrides_too():
    override = Override(1.0, 2.0, u=0, token=5.0)
    assert [type(x) for x in (override.round, override.position, override.u, override.token)] == [int, int, float, int]


def test_a_run_with_a_what_if_is_not_lossless_where_draws_decide():
    changed = (Override(3, 0, u=0.5),)
    for verify in ("lossless", "block"):
        assert RunConfig(verify=verify, temperature=0.7).lossless
        assert not RunConfig(verify=verify, temperature=0.7, overrides=changed).lossless
    for verify in ("lossless", "block", "greedy"):
        assert RunConfig(verify=verify, overrides=changed).lossless  # the target's greedy text comes out all the same
    assert not RunConfig(verify="greedy", temperature=0.7).lossless
    assert not RunConfig(verify="typical").lossless


def test_each_setting_of_a_tree_is_for_its_methods():
    for name, value in (("tree", ((0,), (1,))), ("nodes", 4)):
        for method in METHODS:
            if method in TREE_METHODS[name]:
                assert RunConfig(method=method, **{name: value}).is_tree
            else:
                with pytest.raises(SpecvizError) as error:
                    RunConfig(method=method, **{name: value})
                assert error.value.values["methods"] == ", ".join(TREE_METHODS[name])


def test_errors_cross_processes():
    error = SpecvizError("errors.number", name="k", value="'3'")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def made(index, k, accepted):
    """A round of k drafted and `accepted` accepted tokens, by hand."""
    status = [Status.ACCEPTED] * accepted + [Status.REJECTED] * (accepted < k) + [Status.UNREACHED] * (k - accepted - 1)
    return Round(
        index=index,
        start=0,
        draft=Draft((7,) * k, tuple(range(-1, k - 1)), (0.5,) * k),
        verdicts=tuple(Verdict(s, 0.5, 0.5) for s in status),
        path=tuple(range(accepted)),
        final=Final(1, Kind.RECOVERED, 0.5, 0.5),
        times=Times((1.0,) * k, 5.0, 0.5, 0.5),
        target_rows=Rows(0, k + 1, accepted + 1),
    )


def test_counting_table():
    m = measure([made(i, 4, a) for i, a in enumerate((4, 0, 2))], baseline_ms=5.0)
    assert (m.drafted, m.accepted, m.emitted, m.draft_acceptance_rate, m.mean_acceptance_length) == (12, 6, 9, 0.5, 3.0)
    assert m.per_position == pytest.approx((2 / 3, 2 / 3, 1 / 3, 1 / 3))
    assert m.conditional == pytest.approx((2 / 3, 1, 1 / 2, 1))
    assert m.passes_saved == 6
    assert m.tokens_per_second == pytest.approx(9000 / 30)
    assert m.speedup == pytest.approx(1.5)


def position(alpha):
    return Position((1,), (0.5,), (), (), 0.0, None, alpha)


def grown(parents, path, alphas, ended=False):
    """A round over a tree, by hand; `alphas` of each context."""
    status = [Status.ACCEPTED if i in path else Status.UNREACHED for i in range(len(parents))]
    return replace(
        made(0, 0, 0),
        draft=Draft((7,) * len(parents), parents, (0.5,) * len(parents)),
        verdicts=tuple(Verdict(s, 0.5, 0.5) for s in status),
        path=path,
        final=None if ended else Final(1, Kind.BONUS, 0.5, 0.5),
        detail=tuple(map(position, alphas)),
    )


def test_trees_count_all_nodes_as_drafted_and_depths_as_positions():
    shape = (-1, -1, 0, 1, 1, 4)  # six nodes, three levels
    m = measure(
        [
            grown(shape, (1, 4, 5), (0.1, 0.2, 0.3, None, None, 0.6, None)),
            grown(shape, (0,), (0.5, 0.7, 0.9, None, None, 0.9, None)),
            grown(shape, (), (0.4, 0.9, 0.9, None, None, 0.9, None)),
        ]
    )
    assert (m.drafted, m.accepted, m.emitted, m.mean_acceptance_length) == (18, 4, 7, 1 + 4 / 3)
    assert m.draft_acceptance_rate == pytest.approx(4 / 18)
    assert m.per_position == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    assert m.conditional == pytest.approx((2 / 3, 1 / 2, 1))
    walked = (0.1, 0.3, 0.6, 0.5, 0.7, 0.4)  # after the text and after each accepted node that has children
    assert m.alpha == pytest.approx(sum(walked) / len(walked))


def test_alpha_leaves_out_what_comes_after_the_end_of_the_text():
    chain = (-1, 0, 1)
    assert measure([grown(chain, (0, 1), (0.2, 0.4, 0.9, None))]).alpha == pytest.approx(0.5)
    assert measure([grown(chain, (0, 1), (0.2, 0.4, 0.9, None), ended=True)]).alpha == pytest.approx(0.3)
    assert measure([grown((-1, -1, 0, 1), (1,), (0.2, 0.9, 0.9, None, None), ended=True)]).alpha == pytest.approx(0.2)


def test_the_shape_of_a_draft():
    draft = Draft((7,) * 6, (-1, -1, 0, 1, 1, 4), (0.5,) * 6)
    assert draft.shape.depths == (1, 1, 2, 2, 2, 3)
    assert draft.shape.children == ((0, 1), (2,), (3, 4), (), (), (5,), ())
    assert draft.shape.path(5) == (1, 4, 5)
    assert draft.shape.path(-1) == ()
    assert not draft.shape.is_chain
    assert Draft((7, 7), (-1, 0), (0.5, 0.5)).shape.is_chain


def test_no_drafts_no_division_by_zero():
    empty, plain = measure([]), measure([made(0, 0, 0)])
    assert (empty.draft_acceptance_rate, empty.mean_acceptance_length, empty.tokens_per_second) == (None, None, None)
    assert (plain.draft_acceptance_rate, plain.mean_acceptance_length, plain.tokens_per_round) == (None, None, 1.0)


def test_rounds_without_a_draft_count_for_tokens_per_round_alone():
    """As vLLM, the mean acceptance length is that of the rounds in which something was drafted."""
    m = measure([made(0, 4, 2), made(1, 0, 0), made(2, 4, 1), made(3, 0, 0)])
    assert (m.rounds, m.drafts, m.emitted) == (4, 2, 7)
    assert m.mean_acceptance_length == mean_acceptance_length(3, 2) == 2.5
    assert m.tokens_per_round == 7 / 4


def test_acceptance_counts_only_drafts_whose_turn_came():
    bonus = replace(made(0, 4, 4), final=Final(1, Kind.BONUS, 0.5, 0.5))
    ended = replace(made(0, 4, 1), final=None)
    rounds = [bonus, made(1, 4, 2), made(2, 4, 0), made(3, 0, 0), ended]
    assert judged(rounds) == [(3, 4), (2, 2), (1, 2), (1, 1)]
    assert acceptance(rounds) == pytest.approx(7 / 9)  # 7 accepted, 2 refused; the rest were never looked at
    assert acceptance([]) is acceptance([made(0, 0, 0)]) is None


@pytest.mark.parametrize(
    ("alpha", "k", "speed"), [(0.5, 2, 1.458), (0.6, 3, 1.674), (0.7, 4, 1.981), (0.8, 6, 2.470), (0.9, 10, 3.431)]
)
def test_best_k_at_a_tenth(alpha, k, speed):
    assert best_k(alpha, 0.1) == k
    assert speedup(alpha, k, 0.1) == pytest.approx(speed, abs=5e-4)


def test_closed_form_equals_the_sum():
    for alpha in (0.0, 0.3, 0.9, 1.0):
        for k in range(6):
            assert expected_tokens(alpha, k) == pytest.approx(sum(alpha**i for i in range(k + 1)))


def test_drafting_never_pays_below_c():
    assert best_k(0.2, 0.3) == 0
    assert best_k(0.31, 0.3) > 0


@pytest.mark.parametrize("bad", [(-0.1, 2), (1.1, 2), (0.5, -1)])
def test_theory_refuses_nonsense(bad):
    with pytest.raises(ValueError, match="alpha"):
        expected_tokens(*bad)

"""The figures of a race, against ones worked out on paper and against theory for a run that keeps its assumptions."""

import random

import pytest

from specviz.parting import parts_at, token_at
from specviz.race import LOSSES, Race, result
from specviz.race_sweep import Point, Sweep, point
from specviz.race_theory import alpha_for, best_measured
from specviz.theory import best_k, expected_tokens, speedup
from tests.unit.races import plain_of, race_of, round_of, trace_of

# k = 4, [4, 0, 2] accepted; a draft pass takes 1 ms, the target's 16, judging and rolling back 1; a plain step 10
BY_HAND = [round_of(4, a, (1.0,) * 4, 16.0, 0.5, 0.5) for a in (4, 0, 2)]


def test_a_race_on_paper():
    r = result(race_of(BY_HAND))
    assert (r.fast.tokens, r.fast.rounds) == (9, 3)
    assert r.fast.decode_ms == pytest.approx(63)
    assert r.plain.tokens_per_second == pytest.approx(100)
    assert r.fast.tokens_per_second == pytest.approx(9000 / 63)
    assert r.speedup == pytest.approx(90 / 63)
    assert r.fast.per_token == pytest.approx({"draft": 12 / 9, "target": 48 / 9, "verify": 1.5 / 9, "commit": 1.5 / 9})
    c, o = r.costs, r.outlook
    assert (c.c, c.drafting, c.checking) == pytest.approx((0.1, 0.4, 1.6))
    assert (c.usual, c.at_usual, c.rest, c.plain_rest) == pytest.approx((4, 1.6, 0.1, 0))
    assert o.conditional == pytest.approx((2 / 3, 1, 0.5, 1))
    assert o.alpha == pytest.approx(6 / 8)  # six accepted, two refused
    assert (o.possible, o.accepted) == pytest.approx((5, 3))
    assert (o.textbook, o.predicted) == pytest.approx((3 / 1.4, 3 / 2))
    assert r.break_even.drafting == pytest.approx(3 - 1.6)
    assert r.break_even.c == pytest.approx(1.4 / 4)
    assert r.break_even.checking == pytest.approx(3 - 0.4)
    assert expected_tokens(r.break_even.alpha, 4) == pytest.approx(2.0, abs=1e-6)


def test_what_is_lost_leaves_what_was_measured():
    r = result(race_of(BY_HAND))
    left = r.outlook.possible
    for name in LOSSES:
        left /= r.outlook.losses[name]
    assert left == pytest.approx(r.speedup)


@pytest.mark.parametrize(
    ("rounds", "culprit"),
    [
        ([round_of(4, 0, (1.0,) * 4)] * 9 + [round_of(4, 1, (1.0,) * 4)], "acceptance"),
        ([round_of(4, 3, (9.0,) * 4)] * 9 + [round_of(4, 4, (9.0,) * 4)], "drafting"),
        ([round_of(4, 3, (0.5,) * 4, 45.0)] * 10, "checking"),
        ([round_of(4, 4, (0.5,) * 4, 11.0, 40.0)] * 10, "rest"),
    ],
)
def test_who_eats_the_gain(rounds, culprit):
    assert result(race_of(rounds)).culprit == culprit


def test_the_prediction_holds_where_its_assumptions_do():
    """One alpha at every position, independent, a pass that costs the same: theorem 3.8 and what happens agree."""
    alpha, k, rng, rounds = 0.7, 4, random.Random(5), []
    for _ in range(4000):
        accepted = next((i for i in range(k) if rng.random() >= alpha), k)
        rounds.append(round_of(k, accepted, (1.5,) * k))
    r = result(race_of(rounds))
    assert r.outlook.alpha == pytest.approx(alpha, abs=0.02)
    assert r.outlook.predicted == pytest.approx(speedup(alpha, k, 0.15), rel=0.03)
    assert r.speedup == pytest.approx(r.outlook.predicted, rel=1e-6)
    assert r.gap == "none"
    assert r.best[0] == best_k(alpha, 0.15)
    assert r.best[1] == pytest.approx(speedup(alpha, r.best[0], 0.15), rel=0.03)


def test_one_hiccup_is_no_property_of_the_drafter():
    steady = [round_of(4, 2, (1.0,) * 4, 15.0) for _ in range(20)]
    r = result(race_of([*steady, round_of(4, 2, (1.0,) * 4, 900.0)]))
    assert r.outlook.predicted == pytest.approx(3 / 1.9)
    assert r.speedup < 1
    assert r.gap == "uneven"
    assert result(race_of(steady)).gap == "none"


def test_the_difference_is_put_down_to_judging_where_that_is_what_it_is():
    assert result(race_of([round_of(4, 2, (1.0,) * 4, 15.0, 4.0, 4.0)] * 20)).gap == "rest"


def test_a_busy_machine_is_noticed():
    plain = trace_of([round_of(0, 0, target=ms) for ms in (10, 30, 11, 28, 10, 33)], method="none")
    assert result(race_of(BY_HAND, plain)).uneven
    assert not result(race_of(BY_HAND)).uneven


def test_no_k_pays_when_a_draft_costs_as_much_as_the_target():
    trace = trace_of([round_of(4, 3, (10.0,) * 4)] * 8)
    r = result(Race(plain_of(), trace))
    assert r.best == (0, 1.0)
    assert r.break_even.alpha == pytest.approx(1.0)  # five tokens for five steps: only if all are accepted
    r = result(race_of([round_of(4, 3, (12.0,) * 4)] * 8))
    assert r.break_even.alpha is None


def test_heads_draft_all_at_the_same_cost_but_there_are_only_so_many():
    rounds = [round_of(4, 2, (4.0,), 10.0)] * 3 + [round_of(4, 4, (4.0,), 10.0)] * 2
    r = result(race_of(rounds, method="medusa"))
    assert r.best == (4, pytest.approx(3.8 / 1.4))
    # a model that is never refused so far ahead would draft more
    assert best_measured(trace_of(rounds), r.costs)[0] == 16


def test_a_pass_that_was_cheaper_than_a_step_is_not_cheaper_still_with_more_drafts():
    """A busy machine can measure that; straight on, sixteen drafts would cost less than nothing."""
    rounds = [round_of(4, 0, (1.0,) * 4, 5.0)] * 6 + [round_of(4, 1, (1.0,) * 4, 5.0)] * 4
    r = result(race_of(rounds))
    assert r.best[0] == 1
    assert r.best[1] == pytest.approx(1.4 / (0.1 + 0.5))


def test_a_lookup_that_finds_nothing_counts_with_the_rounds_it_did():
    rounds = [round_of(0, 0, (0.1,))] * 6 + [round_of(4, 4, (0.1,), 12.0)] * 2
    r = result(race_of(rounds, method="lookup"))
    assert r.undrafted == 6
    assert r.outlook.accepted == pytest.approx((6 + 2 * 5) / 8)
    assert r.costs.checking == pytest.approx((6 * 1.0 + 2 * 1.2) / 8)
    assert r.costs.usual == 4
    # more drafts, once something is found: k = 16 would bring (6 + 2 * 17) / 8 tokens for (6 + 2 * 1.8 + .02) / 8
    assert r.best[0] == 16
    assert r.best[1] == pytest.approx((6 + 2 * 17) / (6 + 2 * (1.8 + 0.01)), rel=1e-3)


def test_the_end_of_the_text_is_no_refusal():
    r = result(race_of([round_of(4, 2, (1.0,) * 4, ends=True), round_of(4, 4, (1.0,) * 4)]))
    assert r.outlook.alpha == 1.0


@pytest.mark.parametrize("depths", [[4], [0, 0, 3], [1, 2, 8, 8]])
@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.9, 1.0])
def test_the_acceptance_that_brings_so_many_tokens(depths, alpha):
    tokens = sum(expected_tokens(alpha, k) for k in depths) / len(depths)
    assert alpha_for(tokens, depths) == pytest.approx(alpha, abs=1e-5)


def test_where_the_texts_part():
    one, other = trace_of([round_of(4, 2)]), trace_of([round_of(4, 1), round_of(0, 0)])
    assert Race(one, one).parts_at is None
    assert Race(one, other).parts_at == 1
    assert Race(one, trace_of([round_of(4, 2), round_of(0, 0)])).parts_at is None  # one is the other's beginning


def test_where_outputs_part():
    assert parts_at((1, 2, 3), (1, 2, 3)) is parts_at((), ()) is None
    assert parts_at((1, 2, 3), (1, 5, 3)) == 1
    assert parts_at((1, 2), (1, 2, 3)) == parts_at([1, 2, 3], [1, 2]) == 2
    assert (token_at((1, 2), 1), token_at((1, 2), 2)) == (2, None)


def test_stages_that_were_waited_for_share_the_time_of_the_run_at_full_speed():
    fast = trace_of([round_of(4, 4, (0.0,) * 4, 1.0, 5.0)] * 4)  # a GPU's work, all waited for while judging
    waited = trace_of([round_of(4, 4, (1.0,) * 4, 7.0, 1.0)] * 4)
    r = result(Race(plain_of(), fast, (plain_of(), waited)))
    assert r.fast.tokens_per_second == pytest.approx(5000 / 6)
    assert r.fast.per_token == pytest.approx({"draft": 0.4, "target": 0.7, "verify": 0.1, "commit": 0.0}, rel=1e-6)
    assert r.costs.checking == pytest.approx(0.7)
    assert r.best == result(Race(plain_of(), waited)).best  # theory knows the waited clocks alone


def test_nothing_written_is_no_race():
    assert result(race_of([])) is None
    assert point(trace_of([])) is None


def test_a_sweep_compares_with_plain_decoding_at_the_same_temperature():
    points = (Point(0, 0.0, 20.0, 1.0), Point(2, 0.0, 30.0, 2.0), Point(0, 1.0, 10.0, 1.0), Point(2, 1.0, 17.0, 2.0))
    swept = Sweep("draft", (0, 2, 4), (0.0, 1.0), points)
    assert swept.speedup(2, 0.0) == pytest.approx(1.5)
    assert swept.speedup(2, 1.0) == pytest.approx(1.7)
    assert swept.speedup(4, 1.0) is None
    assert swept.best == points[3]  # not the one with most tokens a second
    assert swept.cells == [(0.0, 0), (0.0, 2), (0.0, 4), (1.0, 0), (1.0, 2), (1.0, 4)]
    assert Sweep("draft", (0,), (0.0,)).best is None

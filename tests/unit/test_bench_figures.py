"""From times and rounds to figures, by hand."""

import pytest

from specviz.bench.figures import costs, spread
from specviz.bench.runs import Run
from tests.unit.bench_fakes import round_of, run_of


def test_the_rate_is_that_after_the_first_tokens():
    run = Run(tuple(range(11)), seconds=3.0, first_seconds=1.0, first_tokens=3)
    assert run.rate == 4.0  # 8 tokens in 2 seconds
    assert run.whole_rate == pytest.approx(11 / 3)
    assert Run((1, 2), 1.0, 1.0, 2).rate is None


def test_median_and_quarters():
    found = spread([4.0, 1.0, None, 2.0, 3.0, 5.0])
    assert (found.q1, found.median, found.q3) == (2.0, 3.0, 4.0)
    assert spread([7.0]).q3 == 7.0
    assert spread([None]) is None


def test_costs_are_held_against_the_plain_steps():
    plain = run_of([round_of(0, 0, 0, 10.0)] * 4)
    # 4 drafts of 2 ms, a pass of 15 ms; accepted 4, 2, 0, 2: per position 3/4, 3/4, 1/4, 1/4
    run = run_of([round_of(4, accepted, 2.0, 15.0) for accepted in (4, 2, 0, 2)])
    found = costs(run, plain)
    assert found.c == pytest.approx(0.2)
    assert found.drafting == pytest.approx(0.8)
    assert found.checking == pytest.approx(1.5)
    assert found.predicted == pytest.approx((1 + 3 / 4 + 3 / 4 + 1 / 4 + 1 / 4) / (0.8 + 1.5))
    assert found.split == pytest.approx({"draft": 8.0, "target": 15.0, "verify": 0.5, "commit": 0.25, "other": 0.25})
    assert found.overhead == pytest.approx(1.0 / 24.0)
    # without overhead in either, the prediction is what the clock says
    assert found.predicted == pytest.approx((3.0 / 23.0) / (1 / 10.0))


def test_rounds_that_draft_nothing_cost_a_plain_step():
    plain = run_of([round_of(0, 0, 0, 10.0)] * 3)
    run = run_of([round_of(0, 0, 0, 10.0)] * 3 + [round_of(2, 2, 1.0, 14.0)])
    found = costs(run, plain)
    assert found.checking == pytest.approx(0.75 * 1.0 + 0.25 * 1.4)
    assert found.drafting == pytest.approx(0.25 * 0.2)


def test_one_slow_round_does_not_move_the_costs():
    plain = run_of([round_of(0, 0, 0, 10.0)] * 5)
    slow = run_of([*[round_of(2, 1, 1.0, 12.0)] * 4, round_of(2, 1, 1.0, 900.0)])
    assert costs(slow, plain).checking == pytest.approx(1.2)


def test_other_engines_tell_no_rounds():
    assert costs(Run((1, 2), 1.0, 0.5, 1), run_of([round_of(0, 0, 0, 10.0)])) is None

"""The statistics of the checks against outside truths: tables, torch's own functions, enumeration, simulation."""

import math
import random
from collections import Counter

import pytest
import torch

from specviz.chisquare import (
    LEAST,
    cells,
    critical,
    detectable,
    effect_of,
    fit,
    joint_z,
    power,
    power_against,
    tail,
    wilson,
)  # fmt: skip
from specviz.proof import LEVEL, Plan

# Upper critical values of the chi-square distribution, from the printed table (NIST/SEMATECH e-Handbook, 1.3.6.7.4)
TABLE = {(1, 0.05): 3.841, (4, 0.01): 13.277, (9, 0.001): 27.877, (24, 0.05): 36.415, (100, 0.01): 135.807}
P = dict(enumerate([0.30, 0.25, 0.20, 0.15, 0.10]))
BENT = dict(enumerate([0.235, 0.2625, 0.14, 0.2175, 0.145]))  # recovered from p: the table of known faults


@pytest.mark.parametrize(("freedom", "level"), TABLE)
def test_critical_values_of_the_printed_table(freedom, level):
    assert critical(level, freedom) == pytest.approx(TABLE[freedom, level], abs=6e-4)


def test_the_tail_is_the_incomplete_gamma_function():
    for freedom in (1, 2, 5, 9, 24, 63):
        for x in (0.01, 0.5, 3.0, 9.0, 30.0, 90.0, 200.0):
            a, b = torch.tensor([freedom / 2, x / 2], dtype=torch.float64)
            assert tail(x, freedom) == pytest.approx(float(torch.special.gammaincc(a, b)), rel=1e-6, abs=1e-30)


def test_power_without_a_difference_is_the_level_and_grows_to_one():
    assert power(0.0, 500, 4, 0.01) == pytest.approx(0.01)
    rising = [power(w, 500, 4, 0.01) for w in (0.05, 0.1, 0.2, 0.3, 0.5)]
    assert rising == sorted(rising)
    assert rising[-1] > 0.999999


# Noncentral chi-square tails by scipy 1.17: ncx2.sf(chi2.isf(level, freedom), freedom, n w^2)
POWER = {
    (0.3, 100, 4, 0.05): 0.663486,
    (0.3, 200, 4, 0.05): 0.94312,
    (0.1, 1000, 9, 0.001): 0.125711,
    (0.2, 500, 23, 6.25e-05): 0.091623,
}


@pytest.mark.parametrize(("w", "n", "freedom", "level"), POWER)
def test_power_by_scipy(w, n, freedom, level):
    assert power(w, n, freedom, level) == pytest.approx(POWER[w, n, freedom, level], abs=2e-6)


def test_power_is_how_often_a_bent_law_is_found():
    """Simulated: 1500 samples of a planted fault's exact law."""
    rng, n, level = random.Random(5), 250, 0.001
    effect = effect_of(BENT, P, cells(P, n))
    found = 0
    for _ in range(1500):
        counts = Counter(rng.choices(list(BENT), list(BENT.values()), k=n))
        found += fit(counts, P).p_value < level
    expected = power(effect, n, 4, level)
    assert 0.3 < expected < 0.95  # where it could be wrong
    assert found / 1500 == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 1500))


@pytest.mark.parametrize(
    ("outside", "bent"),
    [(0.004, 0.0), (0.002, 0.5), (0.0, 1.0), (0.01, 0.0)],  # the mass on what cannot be; how far the rest is bent
)
def test_power_against_what_the_law_rules_out(outside, bent):
    """Simulated: a fault that now and then writes what the law forbids is found by that, or else by the counts."""
    rng, n, level = random.Random(8), 250, 0.001
    other = {x: (1 - outside) * (P[x] + bent * (BENT[x] - P[x])) for x in P} | {9: outside}
    found = 0
    for _ in range(1500):
        counts = Counter(rng.choices(list(other), list(other.values()), k=n))
        found += fit(counts, P).p_value < level
    expected = power_against(other, P, n, level)
    assert 0.2 < expected < 0.95
    assert found / 1500 == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 1500))


def test_power_against_an_impossible_outcome_alone():
    """One outcome is possible: no counts to compare, only 1 - (1 - m)^n."""
    assert power_against({0: 0.99, 1: 0.01}, {0: 1.0}, 100, 0.001) == pytest.approx(1 - 0.99**100)
    assert power_against({1: 1.0}, {0: 1.0}, 200, 0.001) == 1
    assert power_against({0: 1.0}, {0: 1.0}, 200, 0.001) == 0


def test_a_right_law_fails_as_often_as_the_level_says():
    rng, n = random.Random(6), 400
    low = [fit(Counter(rng.choices(list(P), list(P.values()), k=n)), P).p_value for _ in range(2000)]
    for level in (0.05, 0.2, 0.5):
        assert sum(p < level for p in low) / 2000 == pytest.approx(level, abs=4 * math.sqrt(level / 2000))


def test_what_is_detectable_is_detected():
    for n in (200, 2000):
        w = detectable(n, 7, 1e-4)
        assert power(w, n, 7, 1e-4) == pytest.approx(0.9, abs=2e-3)
    assert detectable(2000, 7, 1e-4) < detectable(200, 7, 1e-4)


def test_total_variation_bounds_the_effect_from_below():
    rng = random.Random(7)
    for _ in range(100):
        p, q = ([rng.random() + 0.01 for _ in range(6)] for _ in range(2))
        p, q = ({i: x / sum(row) for i, x in enumerate(row)} for row in (p, q))
        variation = sum(abs(p[i] - q[i]) for i in p) / 2
        assert effect_of(q, p, [[i] for i in p]) >= 2 * variation - 1e-12


def test_rare_outcomes_are_merged_by_the_law_alone():
    law = {"a": 0.6, "b": 0.3, "c": 0.06, "d": 0.03, "e": 0.01}
    assert cells(law, 200) == [["a"], ["b"], ["c", "d", "e"]]  # 12 + 6 + 2 = 20
    assert cells(law, 150) == [["a"], ["b", "c", "d", "e"]]  # 15 are too few for a cell of their own
    assert cells(law, 10) == [["a", "b", "c", "d", "e"]]
    for n in (100, 333, 5000):
        groups = cells(law, n)
        assert sorted(x for group in groups for x in group) == sorted(law)
        assert len(groups) == 1 or all(n * sum(law[x] for x in group) >= LEAST - 1e-9 for group in groups)


def test_the_impossible_is_found_at_once_and_one_outcome_proves_nothing():
    assert fit({"a": 999, "z": 1}, {"a": 1.0}).p_value == 0
    alone = fit({"a": 1000}, {"a": 1.0})
    assert (alone.bins, alone.freedom, alone.p_value) == (1, 0, 1.0)


def test_rounding_is_no_fault():
    """A difference as large as rounding may make passes; one beyond it does not."""
    law, off = {0: 0.5, 1: 0.5}, {0: 5500, 1: 4500}
    assert fit(off, law).p_value < 1e-20
    noise = effect_of({0: 0.55, 1: 0.45}, law, [[0], [1]])
    assert fit(off, law, noise).p_value > 0.3
    assert fit({0: 6500, 1: 3500}, law, noise).p_value < 1e-20


def test_wilson():
    """Newcombe (1998), table I: 81 of 263 gives .2553 to .3662; 0 of 20 gives 0 to .1611."""
    assert wilson(81, 263, 1.959964) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20, 1.959964) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert joint_z(1) == pytest.approx(1.959964, abs=1e-5)
    assert joint_z(5) == pytest.approx(2.575829, abs=1e-5)


def test_all_looks_together_stay_below_the_level():
    plan = Plan(2000)
    assert plan.looks == (250, 500, 1000, 2000)
    assert plan.share * len(plan.looks) * 2 <= LEVEL / 2

"""Does what was counted follow a law? Pearson's chi-square test, and how large a difference it would have found.

The test: Pearson (1900). Cells expected too rarely are merged, by the law alone and never by what was counted (Cochran
1954). Its power: under another law the statistic follows the noncentral chi-square distribution with noncentrality
n w^2, where w^2 = sum (p' - p)^2 / p is the effect size (Cohen, "Statistical Power Analysis", 1988, chapter 7).

    total variation = sum |p' - p| / 2 <= w / 2        (Cauchy-Schwarz)

so every law at a total variation of at least w / 2 has at least the effect size w.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

LEAST = 20  # runs expected in a cell; 5 is usual, but that far out in the tail the approximation needs more
TINY = 1e-300
LARGE = 5.0  # an effect size that runs enough to fill two cells find without fail
ENOUGH = 1e-15  # relative size of a term that changes nothing any more

Law = Mapping[Hashable, float]


def tail(chi2: float, freedom: float) -> float:
    """P(X >= chi2) for a chi-square variable with `freedom` > 0 degrees: the regularised incomplete gamma function
    Q(freedom / 2, chi2 / 2), by its series (DLMF 8.11.4) or its continued fraction (DLMF 8.9.2).
    """
    a, x = freedom / 2, chi2 / 2
    if x <= 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * ENOUGH:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - scale * total)
    b = x + 1 - a  # Lentz's method
    c, d = 1 / TINY, 1 / b
    value, n, change = d, 0, 0.0
    while abs(change - 1) > ENOUGH and n < 10_000:
        n += 1
        b += 2
        factor = n * (a - n)
        d = 1 / (factor * d + b or TINY)
        c = b + factor / c or TINY
        change = c * d
        value *= change
    return min(1.0, scale * value)


def noncentral_tail(chi2: float, freedom: float, shift: float) -> float:
    """P(X >= chi2) for a noncentral chi-square variable with noncentrality `shift`.

    It is a mixture: with Poisson probability it has 2j degrees of freedom more (Johnson, Kotz, Balakrishnan,
    "Continuous Univariate Distributions" 2, chapter 29).
    """
    mean = shift / 2
    if mean <= 0:
        return tail(chi2, freedom)
    spread, total = 10 * math.sqrt(mean) + 40, 0.0
    for j in range(max(0, int(mean - spread)), int(mean + spread) + 1):
        log = j * math.log(mean) - mean - math.lgamma(j + 1)
        if log > -40:
            total += math.exp(log) * tail(chi2, freedom + 2 * j)
    return min(1.0, total)


def critical(level: float, freedom: float, shift: float = 0.0) -> float:
    """The value that the variable exceeds with probability `level`, by bisection."""
    return _solve(lambda x: level - noncentral_tail(x, freedom, shift))


def power(effect: float, n: int, freedom: float, level: float, noise: float = 0.0) -> float:
    """The probability that `n` runs of a law at effect size w = `effect` are told from the right one, at this level.

    noise: an effect size that is put down to rounding.
    """
    return noncentral_tail(critical(level, freedom, n * noise**2), freedom, n * effect**2)


def power_against(other: Law, law: Law, n: int, level: float, noise: float = 0.0) -> float:
    """The probability that `n` runs of `other` are told from `law`.

    One outcome that `law` rules out is enough, and it comes with probability 1 - (1 - m)^n where `other` has the mass m
    outside of `law`. If it stays away, the test sees what is left of `other`.
    """
    outside = sum(p for x, p in other.items() if law.get(x, 0) <= 0)
    if outside >= 1:
        return 1.0
    inside = {x: p / (1 - outside) for x, p in other.items() if law.get(x, 0) > 0}
    groups, by_counts = cells(law, n), 0.0
    if len(groups) > 1:
        effect = effect_of(inside, law, groups)
        by_counts = 1.0 if effect > LARGE else power(effect, n, len(groups) - 1, level, noise)
    return 1 - (1 - outside) ** n * (1 - by_counts)


def detectable(n: int, freedom: float, level: float, noise: float = 0.0, wanted: float = 0.9) -> float:
    """The effect size w that `n` runs find with probability `wanted`."""
    limit = critical(level, freedom, n * noise**2)
    return _solve(lambda w: noncentral_tail(limit, freedom, n * w**2) - wanted, precision=1e-4)


def cells(law: Law, n: int) -> list[list[Hashable]]:
    """The outcomes as cells that `n` runs are expected to fill at least LEAST times each; the rare ones are merged.

    What is left of them when they are too few joins the smallest cell.
    """
    common = sorted((x for x, p in law.items() if n * p >= LEAST), key=lambda x: -law[x])
    out: list[list[Hashable]] = [[x] for x in common]
    rare = [x for x, p in law.items() if 0 < n * p < LEAST]
    if rare and (n * sum(law[x] for x in rare) >= LEAST or not out):
        out.append(rare)
    elif rare:
        out[-1] += rare
    return out


def effect_of(other: Law, law: Law, groups: Sequence[Sequence[Hashable]]) -> float:
    """The effect size w of another law, seen through these cells; what lies outside of them is left out."""
    pairs = [(sum(other.get(x, 0.0) for x in group), sum(law[x] for x in group)) for group in groups]
    return math.sqrt(sum((a - b) ** 2 / b for a, b in pairs))


@dataclass(frozen=True, slots=True)
class Fit:
    """How `n` counted outcomes fit a law.

    impossible       how many of them the law rules out: one is enough for a p-value of 0
    total_variation  between the frequencies and the law; never 0, however right the law is, for n is finite
    """

    n: int
    bins: int
    freedom: int
    chi2: float
    p_value: float
    total_variation: float
    impossible: int


def fit(seen: Mapping[Hashable, int], law: Law, noise: float = 0.0) -> Fit:
    """Pearson's test of the counts `seen` against `law`, whose probabilities sum to 1.

    With a single cell there is nothing to test: 0 degrees of freedom, p-value 1. noise: an effect size that rounding
    can have; the null hypothesis is then that the true law is at most so far away.
    """
    n = sum(seen.values())
    impossible = sum(count for x, count in seen.items() if law.get(x, 0) <= 0)
    groups = cells(law, n) if n else []
    whole = sum(law.values())
    chi2 = 0.0
    for group in groups:
        expected = n * sum(law[x] for x in group) / whole
        chi2 += (sum(seen.get(x, 0) for x in group) - expected) ** 2 / expected
    variation = sum(abs(seen.get(x, 0) / n - law.get(x, 0.0)) for x in seen.keys() | law.keys()) / 2 if n else 0.0
    freedom = max(0, len(groups) - 1)
    p_value = 0.0 if impossible else noncentral_tail(chi2, freedom, n * noise**2) if freedom else 1.0
    return Fit(n, len(groups), freedom, chi2, p_value, variation, impossible)


def wilson(seen: int, n: int, z: float) -> tuple[float, float]:
    """The interval for a probability met `seen` times in `n` runs (Wilson 1927); z standard deviations to each side."""
    share, z2 = seen / n, z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def joint_z(intervals: int, confidence: float = 0.95) -> float:
    """How wide each of so many intervals must be for all to hold together with this confidence (Bonferroni)."""
    return math.sqrt(critical((1 - confidence) / intervals, 1))  # the square of a normal variable is chi-square


def _solve(rising, precision: float = 1e-12) -> float:
    """Where a rising function of x >= 0 crosses 0."""
    high = 1.0
    while rising(high) < 0:
        high *= 2
    low = 0.0
    while high - low > precision * high:
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high

"""From the runs of a lane to its figures: medians with quartiles, where a round's time goes, the predicted speed-up."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from specviz.bench.runs import Run
from specviz.costs import costs_of
from specviz.metrics import measure
from specviz.race import PARTS, part_of
from specviz.theory import speedup_by_position

STAGES = (*PARTS, "other")


@dataclass(frozen=True, slots=True)
class Spread:
    """The median, with the quarters of the values below `q1` and above `q3`."""

    median: float
    q1: float
    q3: float


@dataclass(frozen=True, slots=True)
class RunCosts:
    """What the rounds of one run cost, held against a plain run's target steps on the same prompt in the same turn.

    step_ms        a plain target step
    c              a draft step / step_ms; None where no step was timed
    drafting       all drafting of a round / step_ms; for a chain drafted by a model k * c
    checking       the target's pass over the drafts and one more token / step_ms
    predicted      the speed-up that follows from these and from the acceptance at each position
    overhead       share of a round that is neither draft nor target forward
    split          milliseconds a round in each of STAGES; "other" is what the wall clock has beyond the trace's times
    """

    step_ms: float
    c: float | None
    drafting: float
    checking: float
    predicted: float
    overhead: float
    split: Mapping[str, float]


def spread(values: Iterable[float | None]) -> Spread | None:
    """Of those that are there; None where there are none."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if len(known) == 1:
        return Spread(known[0], known[0], known[0])
    q1, middle, q3 = statistics.quantiles(known, n=4, method="inclusive")
    return Spread(middle, q1, q3)


def middle(values: Iterable[float | None]) -> float | None:
    """The median of those that are there."""
    found = spread(values)
    return None if found is None else found.median


def rounded(value: float | None) -> float | None:
    """As it stands in a report."""
    return None if value is None else round(value, 4)


def costs(run: Run, plain: Run) -> RunCosts | None:
    """None where one of the two has no rounds, as those of other engines have not."""
    if not run.rounds or not plain.rounds:
        return None
    found = costs_of(run.rounds, plain.rounds)
    conditional = [alpha or 0.0 for alpha in measure(run.rounds).conditional]
    split = _split(run)
    wall = sum(split.values())
    return RunCosts(
        step_ms=found.step_ms,
        c=found.c,
        drafting=found.drafting,
        checking=found.checking,
        predicted=speedup_by_position(conditional, found.drafting, found.checking),
        overhead=1 - (split["draft"] + split["target"]) / wall if wall else 0.0,
        split=split,
    )


def _split(run: Run) -> dict[str, float]:
    """Mean milliseconds of a round by stage."""
    n = len(run.rounds)
    sums = {part: sum(part_of(r.times, part) for r in run.rounds) for part in PARTS}
    sums["other"] = max(0.0, sum(run.round_ms) - sum(sums.values()))
    return {stage: sums[stage] / n for stage in STAGES}

"""Plain decoding against speculative decoding on one prompt: what was measured, what follows from it, and why.

Nothing here runs a model: it reads two traces that were timed one after the other. Costs are given in plain target
steps, so that 1 is what a token costs without drafting.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specviz.costs import Costs, costs_of
from specviz.metrics import acceptance, depth_of, measure
from specviz.parting import parts_at
from specviz.race_theory import BreakEven, best_measured, break_even
from specviz.theory import expected_tokens_by_position, speedup_by_position
from specviz.trace import Round, Times, Trace

PARTS = ("draft", "target", "verify", "commit")
LOSSES = ("acceptance", "drafting", "checking", "rest")
CLOSE = 0.05  # measured and predicted speed-up so near to each other agree
UNEVEN = 0.35  # middle half of the plain steps / their median; above it the machine had other things to do


@dataclass(frozen=True, slots=True)
class Race:
    """Two runs of one prompt with one seed on one machine.

    waited  both again with the device waited for at every stage: on a GPU only they know what a stage takes, and only
            the runs at full speed know the speed. None on a CPU, where the clock tells both
    """

    plain: Trace
    fast: Trace
    waited: tuple[Trace, Trace] | None = None

    @property
    def timed(self) -> tuple[Trace, Trace]:
        """The runs whose stages were timed."""
        return self.waited or (self.plain, self.fast)

    @property
    def parts_at(self) -> int | None:
        """Index of the first token that differs; None where the texts are the same, or one is the other's beginning."""
        one, other = self.plain.generated, self.fast.generated
        at = parts_at(one, other)
        return None if at is None or at == min(len(one), len(other)) else at


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs. Milliseconds; reading the prompt is apart from them."""

    tokens: int
    rounds: int
    decode_ms: float
    prefill_ms: float
    tokens_per_second: float
    per_token: Mapping[str, float]  # milliseconds a token in each of PARTS


@dataclass(frozen=True, slots=True)
class Outlook:
    """Tokens a round and speed-ups: possible, by the textbook, by what was measured of the parts, and measured.

    conditional  acceptance at each position, given all before it
    alpha        accepted / judged
    possible     if all were accepted, and drafting and checking were free
    accepted     mean tokens a round: what is left of `possible` by the acceptance measured at each position
    textbook     accepted / (drafting + 1): theorem 3.8, where a pass over all drafts costs one step
    predicted    accepted / (drafting + checking)
    """

    conditional: tuple[float, ...]
    alpha: float | None
    possible: float
    accepted: float
    textbook: float
    predicted: float
    measured: float

    @property
    def losses(self) -> dict[str, float]:
        """What each of LOSSES divides the possible speed-up by; all together leave the measured one."""
        ladder = (self.possible, self.accepted, self.textbook, self.predicted, self.measured)
        return {name: a / b for name, a, b in zip(LOSSES, ladder, ladder[1:], strict=False)}


@dataclass(frozen=True, slots=True)
class Result:
    """A race in figures."""

    plain: Side
    fast: Side
    costs: Costs
    outlook: Outlook
    break_even: BreakEven
    best: tuple[int, float] | None  # the k that theory likes best here, and its speed-up; None for a tree
    undrafted: int  # rounds without a draft
    uneven: bool

    @property
    def speedup(self) -> float:
        """Measured."""
        return self.outlook.measured

    @property
    def culprit(self) -> str:
        """The one of LOSSES that takes most."""
        return max(self.outlook.losses, key=lambda name: self.outlook.losses[name])

    @property
    def gap(self) -> str:
        """Why measured and predicted differ: they do not ("none"), by what is neither draft nor target ("rest"), or
        because single rounds or steps took other times than the typical ones ("uneven").
        """
        c, o = self.costs, self.outlook
        with_rest = o.accepted * (1 + c.plain_rest) / (c.drafting + c.checking + c.rest)
        off, left = abs(o.measured / o.predicted - 1), abs(o.measured / with_rest - 1)
        return "none" if off <= CLOSE else "rest" if left < off / 2 else "uneven"


def result(race: Race) -> Result | None:
    """None where one of the two wrote nothing."""
    if not (race.plain.generated and race.fast.generated):
        return None
    plain, fast = _side(race.plain, race.timed[0]), _side(race.fast, race.timed[1])
    costs = costs_of(race.timed[1].rounds, race.timed[0].rounds)
    ratio = fast.tokens_per_second / plain.tokens_per_second
    outlook = _outlook(race.fast.rounds, costs, ratio)
    steps = [r.times.target for r in race.timed[0].rounds]
    return Result(
        plain=plain,
        fast=fast,
        costs=costs,
        outlook=outlook,
        break_even=break_even(outlook.accepted, costs, race.fast.rounds),
        best=None if race.fast.config.is_tree else best_measured(race.timed[1], costs),
        undrafted=sum(not r.draft.tokens for r in race.fast.rounds),
        uneven=_spread(steps) > UNEVEN,
    )


def _side(run: Trace, timed: Trace) -> Side:
    """`timed`: the same run, its stages waited for. Their shares divide the time of the run."""
    tokens, ms = len(run.generated), sum(r.times.total for r in run.rounds)
    parts = {name: sum(part_of(r.times, name) for r in timed.rounds) for name in PARTS}
    whole = sum(parts.values())
    return Side(
        tokens=tokens,
        rounds=len(run.rounds),
        decode_ms=ms,
        prefill_ms=sum(r.times.prefill for r in run.rounds),
        tokens_per_second=1000 * tokens / max(ms, 1e-6),
        per_token={name: ms * part / whole / tokens if whole else 0.0 for name, part in parts.items()},
    )


def part_of(times: Times, name: str) -> float:
    """Milliseconds of one of PARTS."""
    return sum(times.draft) if name == "draft" else getattr(times, name)


def _outlook(rounds: Sequence[Round], costs: Costs, measured: float) -> Outlook:
    conditional = tuple(alpha or 0.0 for alpha in measure(rounds).conditional)
    return Outlook(
        conditional=conditional,
        alpha=acceptance(rounds),
        possible=1 + sum(depth_of(r) for r in rounds) / len(rounds),
        accepted=expected_tokens_by_position(conditional),
        textbook=speedup_by_position(conditional, costs.drafting),
        predicted=speedup_by_position(conditional, costs.drafting, costs.checking),
        measured=measured,
    )


def _spread(values: Sequence[float]) -> float:
    """The middle half of the values / their median."""
    if len(values) < 4:
        return 0.0
    q1, middle, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return (q3 - q1) / middle if middle else 0.0

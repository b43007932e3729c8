"""Plain decoding against speculative decoding on one prompt: what was measured, what follows from it, and why.

Nothing here runs a model: it reads two traces that were timed one after the other. Costs are given in plain target
steps, so that 1 is what a token costs without drafting.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specviz.costs import Costs, costs_of
from specviz.metrics import measure
from specviz.theory import expected_tokens, expected_tokens_by_position, speedup_by_position
from specviz.trace import Kind, Round, Times, Trace

PARTS = ("draft", "target", "verify", "commit")
LOSSES = ("acceptance", "drafting", "checking", "rest")
AT_ONCE = ("medusa", "lookup")  # all drafts of a round come together: more of them take no more time
HIGHEST_K = 16  # looked at for the best k
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
        pairs = zip(self.plain.generated, self.fast.generated, strict=False)
        return next((i for i, (a, b) in enumerate(pairs) if a != b), None)


@dataclass(frozen=True, slots=True)
class Lane:
    """One run. Milliseconds; reading the prompt is apart from them."""

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
class BreakEven:
    """What one figure would have to be for a speed-up of 1, the others staying. None: it alone cannot do it."""

    alpha: float | None
    drafting: float | None
    c: float | None
    checking: float | None


@dataclass(frozen=True, slots=True)
class Result:
    """A race in figures."""

    plain: Lane
    fast: Lane
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
    plain, fast = _lane(race.plain, race.timed[0]), _lane(race.fast, race.timed[1])
    costs = costs_of(race.timed[1].rounds, race.timed[0].rounds)
    ratio = fast.tokens_per_second / plain.tokens_per_second
    outlook = _outlook(race.fast.rounds, costs, ratio)
    steps = [r.times.target for r in race.timed[0].rounds]
    return Result(
        plain=plain,
        fast=fast,
        costs=costs,
        outlook=outlook,
        break_even=_break_even(outlook, costs, race.fast.rounds),
        best=None if race.fast.config.is_tree else best_measured(race.timed[1], costs),
        undrafted=sum(not r.draft.tokens for r in race.fast.rounds),
        uneven=_spread(steps) > UNEVEN,
    )


def _lane(run: Trace, timed: Trace) -> Lane:
    """`timed`: the same run, its stages waited for. Their shares divide the time of the run."""
    tokens, ms = len(run.generated), sum(r.times.total for r in run.rounds)
    parts = {name: sum(_part(r.times, name) for r in timed.rounds) for name in PARTS}
    whole = sum(parts.values())
    return Lane(
        tokens=tokens,
        rounds=len(run.rounds),
        decode_ms=ms,
        prefill_ms=sum(r.times.prefill for r in run.rounds),
        tokens_per_second=1000 * tokens / max(ms, 1e-6),
        per_token={name: ms * part / whole / tokens if whole else 0.0 for name, part in parts.items()},
    )


def _part(times: Times, name: str) -> float:
    return sum(times.draft) if name == "draft" else getattr(times, name)


def _outlook(rounds: Sequence[Round], costs: Costs, measured: float) -> Outlook:
    conditional = tuple(alpha or 0.0 for alpha in measure(rounds).conditional)
    chances, judged = _judged(rounds)
    return Outlook(
        conditional=conditional,
        alpha=sum(a * n for a, n in zip(chances, judged, strict=True)) / sum(judged) if any(judged) else None,
        possible=1 + sum(_depth_of(r) for r in rounds) / len(rounds),
        accepted=expected_tokens_by_position(conditional),
        textbook=speedup_by_position(conditional, costs.drafting),
        predicted=speedup_by_position(conditional, costs.drafting, costs.checking),
        measured=measured,
    )


def _judged(rounds: Sequence[Round]) -> tuple[list[float], list[int]]:
    """For each depth: the share that was accepted of the drafts whose turn came, and how often it came."""
    depth = _depth(rounds)
    judged, accepted = [0] * depth, [0] * depth
    for r in rounds:
        for i in range(_depth_of(r)):
            reached = len(r.path) > i or (len(r.path) == i and r.final is not None and r.final.kind is not Kind.BONUS)
            judged[i] += reached
            accepted[i] += len(r.path) > i
    return [a / n if n else 0.0 for a, n in zip(accepted, judged, strict=True)], judged


def _depth_of(r: Round) -> int:
    return max(r.draft.shape.depths, default=0)


def _depth(rounds: Sequence[Round]) -> int:
    """The deepest draft."""
    return max(map(_depth_of, rounds), default=0)


def _break_even(outlook: Outlook, costs: Costs, rounds: Sequence[Round]) -> BreakEven:
    spent = costs.drafting + costs.checking
    drafting = outlook.accepted - costs.checking
    checking = outlook.accepted - costs.drafting
    return BreakEven(
        alpha=alpha_for(spent, [_depth_of(r) for r in rounds]),
        drafting=drafting if drafting > 0 else None,
        c=drafting / costs.steps if drafting > 0 and costs.steps else None,
        checking=checking if checking >= 1 else None,
    )


def alpha_for(tokens: float, depths: Sequence[int]) -> float | None:
    """The acceptance, the same at every position, with which rounds of these depths bring so many tokens on average.
    None where not even 1 is enough.
    """

    def brings(alpha: float) -> float:
        return sum(expected_tokens(alpha, k) * n for k, n in counts.items()) / len(depths)

    counts = Counter(depths)
    if tokens > brings(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if brings(middle) < tokens else (low, middle)
    return high


def best_measured(trace: Trace, costs: Costs) -> tuple[int, float] | None:
    """By theory, from one measured k: (k, speed-up). None where nothing was drafted.

    Assumes that checking grows evenly from 1 to what it was measured at, that drafting grows with k (or not at all, for
    those that draft all at once), and that positions beyond the measured ones are accepted as the last one was.
    """
    rounds = trace.rounds
    chances, judged = _judged(rounds)
    known = [chance for chance, n in zip(chances, judged, strict=True) if n]
    if not known or not costs.usual:
        return None
    drafted = [r for r in rounds if len(r.draft.tokens) == costs.usual]
    drafting = statistics.median(sum(r.times.draft) for r in drafted) / costs.step_ms
    # who looks things up cannot choose to find something; who computes could draft in every round
    found = sum(bool(r.draft.tokens) for r in rounds) / len(rounds) if trace.config.method == "lookup" else 1.0

    def gain(k: int) -> float:
        if k == 0:
            return 1.0
        tokens = expected_tokens_by_position((known + [known[-1]] * k)[:k])
        draft = drafting if trace.config.method in AT_ONCE else drafting * k / costs.usual
        more = max(
            0.0, costs.at_usual - 1
        )  # a pass that was measured as cheaper than a step is not cheaper still with more
        check = min(1.0, costs.at_usual) + more * k / costs.usual
        return (1 - found + found * tokens) / (1 - found + found * max(draft + check, 1e-6))

    highest = _depth(rounds) if trace.config.method == "medusa" else HIGHEST_K  # there are only so many heads
    best = max(range(highest + 1), key=gain)
    return best, gain(best)


def _spread(values: Sequence[float]) -> float:
    """The middle half of the values / their median."""
    if len(values) < 4:
        return 0.0
    q1, middle, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return (q3 - q1) / middle if middle else 0.0

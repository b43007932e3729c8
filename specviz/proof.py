"""What a check of exactness finds: immutable records, standard library only. `specviz/models` fills them in, views draw
them, the command line prints them.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.chisquare import Fit
from specviz.trace import Token

LEVEL = 0.001  # a right decoder fails the statistical check for at most one in a thousand choices of seeds
RESERVE = 2  # half of it is not spent: so far out chi-square is an approximation, up to 1.3 times too optimistic
SURE = 0.9  # the power that is stated
TESTS = ("first", "pair")  # the first token; the first two tokens
LOOKS = (8, 4, 2, 1)  # the counts are looked at after 1/8, 1/4, 1/2 and all of the runs
FEWEST, MOST = 200, 1_000_000  # runs
CACHED = 50  # runs made again with a real KV cache
# The text of the check. Chosen by the exact laws of the faults (coupling.law): here each bends the first token far,
# whoever drafts.
UNSURE = "Invent a name for a cat."


@dataclass(frozen=True, slots=True)
class Plan:
    """A test that is settled before its first run, so that stopping early is no cheating.

    Every look at every test may fail with the same small share of LEVEL (Bonferroni): together they stay below it.
    """

    runs: int

    @property
    def looks(self) -> tuple[int, ...]:
        """After how many runs the counts are tested."""
        return tuple(self.runs // part for part in LOOKS)

    @property
    def share(self) -> float:
        """The level of one look at one test."""
        return LEVEL / RESERVE / len(TESTS) / len(LOOKS)


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two greedy outputs part, and how close the target's logits of the two tokens are there.

    plain, speculative  the two tokens; -1 where an output has already ended, and then there is no gap
    tie                 the gap is within what rounding can turn over in this dtype
    """

    prompt: str
    position: int
    plain: int
    speculative: int
    gap: float | None
    tie: bool


@dataclass(frozen=True, slots=True)
class Greedy:
    """One prompt at temperature 0, both ways.

    gaps  at each of the plain tokens, the target's lead over its second choice, in logits, by one fresh full pass
    """

    prompt: str
    plain: tuple[int, ...]
    speculative: tuple[int, ...]
    gaps: tuple[float, ...]
    parting: Parting | None


@dataclass(frozen=True, slots=True)
class Identity:
    """At temperature 0: token by token what the target alone writes. `tokens` were compared."""

    passed: bool
    tokens: int
    partings: tuple[Parting, ...]
    outputs: tuple[Greedy, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of the first token. `bent` is its exact probability with the planted fault, where that can be told."""

    token: int
    expected: float
    seen: int
    bent: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test as of the last look at it.

    name        "first" or "pair"
    passed      its p-value has stayed above the share at every look so far
    detectable  total variation that all runs of the plan would find with probability SURE; None: nothing to test
    power       with which probability they would find the planted fault; None where that cannot be told
    """

    name: str
    fit: Fit
    passed: bool
    detectable: float | None
    power: float | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What one seed wrote with the engine as it is, and with the fault."""

    seed: int
    right: tuple[int, ...]
    wrong: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cached:
    """Runs made again, seed by seed, with passes on a real KV cache that grows and is rolled back.

    parted   how many wrote something else than on remembered passes
    allowed  so many may: rounding differs with the number of tokens that a pass reads, and may turn a draw over
    """

    runs: int
    parted: int
    allowed: int

    @property
    def passed(self) -> bool:
        return self.parted <= self.allowed


@dataclass(frozen=True, slots=True)
class Trial:
    """The statistical check so far: `n` runs, each with a seed of its own.

    fault       the planted one; None: the engine as it is
    outcomes    how many pairs of first tokens the target can write
    accepted, rejected  drafted tokens of the first rounds
    alpha       sum min(p, q) at the first token; None where the drafter's q is not known beforehand
    tests       empty before the first look
    caught      the number of runs after which a test failed, or too many runs with a real cache parted
    cached      None where there is no cache to test, and with a planted fault
    compared, changed, changes  runs made again without the fault, how many came out otherwise, the first of those
    over        there is no more to come
    """

    plan: Plan
    fault: str | None
    n: int
    outcomes: int
    accepted: int
    rejected: int
    alpha: float | None
    cells: tuple[Cell, ...]
    tests: tuple[Outcome, ...] = ()
    caught: int | None = None
    compared: int = 0
    changed: int = 0
    changes: tuple[Change, ...] = ()
    cached: Cached | None = None
    over: bool = False

    @property
    def verdict(self) -> str:
        """running, caught, passed, stopped, or untested: with one outcome, or one that is likely enough to be counted
        in a cell of its own, there is nothing to compare.
        """
        if self.caught is not None:
            return "caught"
        if not self.over:
            return "running"
        if self.n < self.plan.runs:
            return "stopped"
        return "passed" if any(test.fit.bins > 1 for test in self.tests) else "untested"

    @property
    def untested(self) -> str:
        """Why, where it is: a "single" outcome is possible, or all but one are too "rare"."""
        return "single" if self.outcomes == 1 else "rare"


@dataclass(frozen=True, slots=True)
class Report:
    """All that the lab has to show. `where` is "toy" or "pair"; the toy's tokens are words of the screen's language."""

    where: str
    fault: str | None
    trial: Trial | None = None
    identity: Identity | None = None
    vocab: tuple[Token, ...] = ()
    seconds: float = 0.0

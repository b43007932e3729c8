"""The vocabulary: what one run of speculative decoding is made of.

Immutable records, standard library only. The engine writes them; the screen, the lessons, the exports and the
tests read them. Nothing here computes a probability: every number was measured or drawn by the engine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from specviz.config import RunConfig
from specviz.shape import Shape

SCHEMA = "specviz-trace/1"


class Status(StrEnum):
    """What became of a drafted token."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    # The walk did not come to it, or the text had ended. Typical acceptance also leaves beside its path, the longest
    # one, tokens that would have passed: these are unreached, too, for nothing refused them.
    UNREACHED = "unreached"


class Kind(StrEnum):
    """Where the last token of a round came from."""

    RECOVERED = "recovered"  # drawn from norm(max(0, p - q)) after a rejection
    BONUS = "bonus"  # drawn from p, because every draft was accepted
    TARGET = "target"  # drawn from p: nothing was drafted, or a rule that is not lossless refused what was


class Finish(StrEnum):
    """Why a run ended. A trace that can go on has none."""

    STOP = "stop"  # an end-of-text token or a stop string
    LENGTH = "length"  # max_new_tokens
    CONTEXT = "context"  # the target's context is full
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Token:
    """A vocabulary entry as it is shown: text, or the bytes of a piece of a character, or a special token."""

    id: int
    text: str
    bytes: bytes | None = None  # set when the token alone is not valid UTF-8; `text` is then ""
    special: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """The proposed tokens, as a tree: `parents[i]` is the index of i's parent, -1 = the last token of the text.

    A chain has parents (-1, 0, 1, ...). `q[i]` is the draft's probability of token i after its parent, which it was
    drawn with (without replacement: before any sibling was taken out). Fixed children, the likeliest, are named and
    not drawn: `q` is what the draft thinks of them, after the run's filters, at temperature 1 where the run is greedy.
    """

    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    q: tuple[float, ...]

    @property
    def shape(self) -> Shape:
        """Depths, children, paths."""
        return Shape(self.parents)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One gate: accepted when u < min(1, p / q). `u` is None where no draw was made.

    p, q   what the gate compared. Token by token that is what the siblings tried before have left of them, and for a
           point mass (fixed children) q is 1. At a gate that the walk did not come to, p is the target's own
    limit  what decided instead, by other rules. Block verification: every gate of the chain is judged, u < limit
           passes, and all up to the last that passes are accepted. Typical acceptance: p > limit passes, no draw is
           made, and the longest path of those that pass is accepted
    """

    status: Status
    p: float
    q: float
    u: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Final:
    """The token that ends a round, and the probability it was drawn with (from the residual or from p)."""

    token: int
    kind: Kind
    prob: float
    u: float  # the uniform draw, turned into a token by the inverse of the cumulative distribution


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one KV cache: before the round, at its fullest, and kept at its end."""

    before: int
    full: int
    kept: int


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds. `prefill` reads the text so far and is 0 unless the round is a run's first."""

    draft: tuple[float, ...]  # one per forward pass of the draft
    target: float
    verify: float
    commit: float
    prefill: float = 0.0

    @property
    def total(self) -> float:
        """The round without its prefill."""
        return sum(self.draft) + self.target + self.verify + self.commit


@dataclass(frozen=True, slots=True)
class Position:
    """The distributions after one node: the likeliest tokens of p, of q and of the residual, side by side.

    Probabilities are rounded to 1e-6. `q` is empty where nothing was drafted, `r` (the residual) is empty but
    where a token was recovered from it. `alpha` = sum over the whole vocabulary of min(p, q) = 1 - TV(p, q).
    """

    ids: tuple[int, ...]
    p: tuple[float, ...]
    q: tuple[float, ...]
    r: tuple[float, ...]
    p_entropy: float  # nats
    q_entropy: float | None
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Round:
    """One draft and the one target pass that checks it.

    start      length of the text (prompt + generated) before the round; draft node i sits at position start - 1 + its
               depth, and in row start + i of the target's cache until the kept rows are gathered
    path       indices of the accepted nodes, root to leaf
    final      None when the text ended inside the accepted tokens
    target_rows  before, full, kept = start - 1, start + nodes, start + accepted nodes
    detail     the distributions in each context: 0 after the text, i + 1 after node i. Node i was drawn and judged
               in context parents[i] + 1; in a chain that is i, and the last context is the bonus's
    """

    index: int
    start: int
    draft: Draft
    verdicts: tuple[Verdict, ...]
    path: tuple[int, ...]
    final: Final | None
    times: Times
    target_rows: Rows
    draft_rows: Rows | None = None
    detail: tuple[Position, ...] | None = None

    @property
    def emitted(self) -> tuple[int, ...]:
        """The tokens that this round adds to the text."""
        accepted = tuple(self.draft.tokens[i] for i in self.path)
        return accepted if self.final is None else (*accepted, self.final.token)


@dataclass(frozen=True, slots=True)
class Models:
    """What ran, in words that can be shown."""

    pair: str  # id of the preset, or "custom"
    target: str
    draft: str
    device: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """A run: what was asked, what ran, every round. Everything that is drawn is in it.

    baseline_ms  the measured time of one plain target step on the same machine
    vocab        the tokens that occur anywhere in the trace, by ascending id
    forked_at    the rounds before this index were copied from another trace with other settings
    """

    config: RunConfig
    models: Models
    prompt: Prompt
    rounds: tuple[Round, ...] = ()
    finish: Finish | None = None
    baseline_ms: float | None = None
    vocab: tuple[Token, ...] = ()
    forked_at: int | None = None

    @property
    def generated(self) -> tuple[int, ...]:
        """The new tokens, in order."""
        return tuple(token for r in self.rounds for token in r.emitted)

    @property
    def can_go_on(self) -> bool:
        """Whether another round can be run."""
        return self.finish in (None, Finish.CANCELLED)

    def cut(self, rounds: int) -> Trace:
        """The same run after its first `rounds` rounds, able to go on."""
        return self if rounds >= len(self.rounds) else replace(self, rounds=self.rounds[:rounds], finish=None)


def ids_of(trace: Trace) -> set[int]:
    """Every token id that occurs in a trace."""
    found = set(trace.prompt.tokens)
    for r in trace.rounds:
        found |= round_ids(r)
    return found


def round_ids(r: Round) -> set[int]:
    """Every token id that occurs in a round."""
    found = {*r.draft.tokens, *r.emitted}
    for position in r.detail or ():
        found.update(position.ids)
    return found

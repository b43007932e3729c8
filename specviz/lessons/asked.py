"""What a question is, and what all kinds of them need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from specviz.lessons.moments import Moment
from specviz.trace import Round, Status, Trace
from specviz.views.tokens import name, vocabulary


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to choose: the key of its text in the lesson, and what that text is filled with."""

    key: str
    values: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """A question: `right` is the index of the right choice.

    bar, u  at a gate: the chance, and the draw that was held against it
    """

    values: dict[str, str]
    choices: tuple[Choice, ...]
    right: int
    bar: float | None = None
    u: float | None = None


def asked(values: dict[str, str], choices: Iterable[Choice], right: str, **more: float) -> Question:
    listed = tuple(choices)
    return Question(values, listed, [choice.key for choice in listed].index(right), **more)


def verdicts() -> tuple[Choice, ...]:
    return Choice(Status.ACCEPTED.value), Choice(Status.REJECTED.value)


def round_of(trace: Trace, moment: Moment) -> Round:
    return trace.rounds[moment[0]]


def token(trace: Trace, id: int) -> str:
    return name(vocabulary(trace), id)


def baseline(trace: Trace) -> float:
    if trace.baseline_ms is None:
        raise ValueError("this question needs a trace with a measured baseline")
    return trace.baseline_ms


def millis(x: float) -> str:
    return f"{x:.0f}" if x >= 10 else f"{x:.1f}"

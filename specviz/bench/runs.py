"""One generation of one contender, and the lane that collects them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from specviz.bench.memory import Peak
from specviz.trace import Round


@dataclass(frozen=True, slots=True)
class Run:
    """One prompt, written to its end.

    tokens         the new ones, the end-of-text token included; () where they are not told
    count          how many, where they are not told
    seconds        from the call to the last token
    first_seconds  until the first tokens were there: reading the prompt, and one round
    first_tokens   how many came with that
    rounds         of our own engine; () for others
    round_ms       wall time of each of them, without the prefill
    peak           memory while it ran
    """

    tokens: tuple[int, ...]
    seconds: float
    first_seconds: float
    first_tokens: int
    rounds: tuple[Round, ...] = ()
    round_ms: tuple[float, ...] = ()
    peak: Peak | None = None
    count: int = 0

    @property
    def written(self) -> int:
        """How many tokens."""
        return len(self.tokens) or self.count

    @property
    def rate(self) -> float | None:
        """Tokens per second once the prompt is read; None when nothing came after the first tokens."""
        left, passed = self.written - self.first_tokens, self.seconds - self.first_seconds
        return left / passed if left > 0 and passed > 0 else None

    @property
    def whole_rate(self) -> float:
        """Tokens per second of everything, reading the prompt included."""
        return self.written / self.seconds


class Contender(Protocol):
    """Who generates. What it needs is made by `open`, which raises SpecvizError to say why it cannot run.

    key       name in the report, such as "ours_draft"
    settings  what tells it from others of its kind, for people: {"k": 4}
    precision of its weights
    pid       the process that it works in; None: this one
    """

    key: str
    settings: dict[str, object]
    precision: str
    pid: int | None

    def open(self) -> None: ...

    def run(self, tokens: Sequence[int], limit: int) -> Run:
        """Write up to `limit` tokens after the prompt `tokens`, greedily."""

    def close(self) -> None: ...


@dataclass(eq=False)
class Entrant:
    """A contender and what it has done. `reason`: why it does not, or no longer, take part."""

    contender: Contender
    runs: dict[tuple[int, int], Run] = field(default_factory=dict)  # (repeat, prompt) -> run
    reason: str | None = None

    @property
    def key(self) -> str:
        return self.contender.key

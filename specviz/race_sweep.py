"""A drafter at every k and temperature, each against plain decoding at the same temperature."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.metrics import measure
from specviz.trace import Trace


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a sweep."""

    k: int
    temperature: float
    tokens_per_second: float
    tokens_per_round: float


@dataclass(frozen=True, slots=True)
class Sweep:
    """Runs over k and temperature, of which some may still be missing. k = 0 is plain decoding."""

    method: str
    ks: tuple[int, ...]
    temperatures: tuple[float, ...]
    points: tuple[Point, ...] = ()

    @property
    def cells(self) -> list[tuple[float, int]]:
        """What is run, in this order: at each temperature plain decoding comes first."""
        return [(temperature, k) for temperature in self.temperatures for k in self.ks]

    def at(self, k: int, temperature: float) -> Point | None:
        """The point of a cell that was run."""
        return next((p for p in self.points if (p.k, p.temperature) == (k, temperature)), None)

    def speedup(self, k: int, temperature: float) -> float | None:
        """Against plain decoding at the same temperature."""
        point, plain = self.at(k, temperature), self.at(0, temperature)
        return point.tokens_per_second / plain.tokens_per_second if point and plain else None

    @property
    def best(self) -> Point | None:
        """The highest speed-up."""
        return max(self.points, key=lambda p: self.speedup(p.k, p.temperature) or 0.0, default=None)


def point(trace: Trace) -> Point | None:
    """A run as a point of a sweep; None where nothing was written."""
    m = measure(trace.rounds)
    k = trace.config.k if trace.config.method != "none" else 0
    if not m.emitted or not m.tokens_per_second:
        return None
    return Point(k, trace.config.temperature, m.tokens_per_second, m.tokens_per_round or 0.0)

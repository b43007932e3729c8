"""Figures of a run, computed from its rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.trace import Kind, Round, Trace


@dataclass(frozen=True, slots=True)
class Metrics:
    """Standard figures of speculative decoding, named as vLLM names them. None where nothing was drafted or timed.

    In a tree all nodes count as drafted, and position i is depth i + 1.

    drafts                  rounds in which something was drafted
    mean_acceptance_length  1 + accepted / drafts: what a draft brings, the recovered or bonus token included
    tokens_per_round        emitted / rounds: what a round brings, those without a draft and the text's end included
    per_position            accepted at position i / rounds (one too short to have position i counts as not accepted)
    conditional             accepted at position i / accepted at position i - 1
    """

    rounds: int
    drafts: int
    drafted: int
    accepted: int
    emitted: int
    draft_acceptance_rate: float | None  # accepted / drafted
    mean_acceptance_length: float | None
    tokens_per_round: float | None
    per_position: tuple[float, ...]
    conditional: tuple[float | None, ...]
    alpha: float | None  # mean over the judged positions of sum min(p, q); needs detail
    decode_ms: float
    tokens_per_second: float | None
    baseline_tokens_per_second: float | None
    speedup: float | None  # tokens_per_second / baseline_tokens_per_second

    @property
    def passes_saved(self) -> int:
        """Target passes that plain decoding would have needed on top."""
        return self.emitted - self.rounds


def measure(rounds: Sequence[Round], baseline_ms: float | None = None) -> Metrics:
    """The figures of `rounds`; `baseline_ms` is the measured time of a plain target step."""
    n = len(rounds)
    lengths = [len(r.path) for r in rounds]
    drafts = sum(bool(r.draft.tokens) for r in rounds)
    drafted, accepted = sum(len(r.draft.tokens) for r in rounds), sum(lengths)
    emitted = sum(len(r.emitted) for r in rounds)
    depth = max(map(depth_of, rounds), default=0)
    at = [sum(length > i for length in lengths) for i in range(depth)]
    reached = [n, *at]
    walked = [r.detail[c] for r in rounds if r.detail for c in _walk(r)]
    alphas = [position.alpha for position in walked if position.alpha is not None]  # where something was drafted
    ms = sum(r.times.total for r in rounds)
    speed = 1000 * emitted / ms if ms else None
    plain = 1000 / baseline_ms if baseline_ms else None
    return Metrics(
        rounds=n,
        drafts=drafts,
        drafted=drafted,
        accepted=accepted,
        emitted=emitted,
        draft_acceptance_rate=accepted / drafted if drafted else None,
        mean_acceptance_length=mean_acceptance_length(accepted, drafts),
        tokens_per_round=emitted / n if n else None,
        per_position=tuple(x / n for x in at),
        conditional=tuple(x / before if before else None for before, x in zip(reached, at, strict=False)),
        alpha=sum(alphas) / len(alphas) if alphas else None,
        decode_ms=ms,
        tokens_per_second=speed,
        baseline_tokens_per_second=plain,
        speedup=speed / plain if speed and plain else None,
    )


def mean_acceptance_length(accepted: int, drafts: int) -> float | None:
    """1 + accepted / drafts, as vLLM reports it; None where nothing was drafted."""
    return 1 + accepted / drafts if drafts else None


def judged(rounds: Sequence[Round]) -> list[tuple[int, int]]:
    """For each depth: how many drafts were accepted there, and how often their turn came.

    A turn is no more after a refusal, at the end of the text, and below the last node of a path. In a tree all siblings
    have one turn together.
    """
    counts = [(0, 0)] * max(map(depth_of, rounds), default=0)
    for r in rounds:
        for i in range(depth_of(r)):
            accepted = len(r.path) > i
            refused = len(r.path) == i and r.final is not None and r.final.kind is not Kind.BONUS
            counts[i] = counts[i][0] + accepted, counts[i][1] + (accepted or refused)
    return counts


def acceptance(rounds: Sequence[Round]) -> float | None:
    """Accepted / judged: the chance that a draft whose turn came was accepted, whose mean is sum min(p, q)."""
    counts = judged(rounds)
    turns = sum(n for _, n in counts)
    return sum(n for n, _ in counts) / turns if turns else None


def depth_of(r: Round) -> int:
    """How deep its draft is: of a chain, its length."""
    return max(r.draft.shape.depths, default=0)


def measure_trace(trace: Trace) -> Metrics:
    """The figures of a whole trace."""
    return measure(trace.rounds, trace.baseline_ms)


def _walk(r: Round) -> list[int]:
    """The contexts that a round came through: after the text, then after each accepted token unless the text ended."""
    contexts = [0, *(node + 1 for node in r.path)]
    return contexts if r.final is not None else contexts[:-1]

"""Rules that find the moment of a lesson in a trace: (index of the round, drafted position or None).

Each returns the first moment of its kind, or None where the trace has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from specviz.trace import Kind, Round, Status, Trace, Verdict

Moment = tuple[int, int | None]


def first_round(trace: Trace) -> Moment | None:
    """The first round that drafts."""
    return next(((r.index, None) for r in trace.rounds if r.draft.tokens), None)


def last_round(trace: Trace) -> Moment | None:
    """Where the run ends."""
    return (trace.rounds[-1].index, None) if trace.rounds else None


def rejection(trace: Trace) -> Moment | None:
    """A chain of which some are accepted, one is rejected, and some behind it are never reached."""
    return next(((r.index, len(r.path)) for r in _recovered(trace) if 0 < len(r.path) < len(r.draft.tokens) - 1), None)


def bonus(trace: Trace) -> Moment | None:
    """A whole chain is accepted, and a token comes on top."""
    full = (r for r in _chains(trace) if r.final and r.final.kind is Kind.BONUS and len(r.path) > 1)
    return next(((r.index, len(r.path)) for r in full), None)


def open_gate(trace: Trace) -> Moment | None:
    """A gate that could go either way: p/q between .25 and .85, decided by the draw."""
    return next(((r.index, i) for r, i, v in _gates(trace) if v.u is not None and 0.25 < v.p / v.q < 0.85), None)


def leftover(trace: Trace) -> Moment | None:
    """A rejection whose residual has a clear winner among several tokens; if it can be, of a token that p knows too."""
    found = [
        (r, len(r.path))
        for r in _recovered(trace)
        if r.detail and r.detail[len(r.path)].r and 0.3 <= max(r.detail[len(r.path)].r) <= 0.95
    ]
    known = [(r, i) for r, i in found if r.verdicts[i].p >= 0.02]
    return next(((r.index, i) for r, i in known or found), None)


def branch_taken(trace: Trace) -> Moment | None:
    """A tree whose accepted path goes at least two levels deep, if there is one not along the first nodes: its end."""
    deep = [r for r in trace.rounds if not r.draft.shape.is_chain and len(r.path) > 1]
    apart = [r for r in deep if r.path[0] > 0 and r.path[-1] > len(r.path)]
    return next(((r.index, r.path[-1]) for r in apart or deep), None)


def heads_right(trace: Trace) -> Moment | None:
    """Heads whose guesses reach furthest: the round with the longest accepted path."""
    rounds = [r for r in trace.rounds if r.path and trace.config.method == "medusa"]
    best = max(rounds, key=lambda r: (len(r.path), -r.index), default=None)
    return best and (best.index, best.path[-1])


def lossy_gate(trace: Trace) -> Moment | None:
    """Typical acceptance lets pass for certain what the lossless rule would often refuse."""
    kept = (
        (r, i)
        for r, i, v in _gates(trace)
        if v.limit is not None and v.u is None and v.status is Status.ACCEPTED and v.p < 0.7 * v.q
    )
    return next(((r.index, i) for r, i in kept), None)


MOMENTS: dict[str, Callable[[Trace], Moment | None]] = {
    rule.__name__: rule
    for rule in (
        first_round,
        last_round,
        rejection,
        bonus,
        open_gate,
        leftover,
        branch_taken,
        heads_right,
        lossy_gate,
    )
}


def _chains(trace: Trace) -> Iterator[Round]:
    return (r for r in trace.rounds if len(r.draft.tokens) > 1 and r.draft.shape.is_chain)


def _recovered(trace: Trace) -> Iterator[Round]:
    return (r for r in _chains(trace) if r.final is not None and r.final.kind is Kind.RECOVERED)


def _gates(trace: Trace) -> Iterator[tuple[Round, int, Verdict]]:
    """Every gate of a chain that was judged and could refuse: p < q."""
    for r in _chains(trace):
        for i, v in enumerate(r.verdicts):
            if v.status is not Status.UNREACHED and 0 < v.p < v.q:
                yield r, i, v

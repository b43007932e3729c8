"""What no run can have done, though each value on its own could be: the sense of a round that comes from outside.

These are rules of the records (see `trace.py`), not of one verifier: a trace may have been judged by several, one
after another, where it was forked.
"""

from __future__ import annotations

from specviz.trace import Kind, Round, Rows, Status


def contradiction(r: Round) -> str | None:
    """The field of a round that contradicts the rest of it, for example "final.kind"; None where all fits.

    Parents and path must hold indices of nodes that exist.
    """
    parents, path = r.draft.parents, r.path
    status = [v.status for v in r.verdicts]
    accepted = tuple(i for i, one in enumerate(status) if one is Status.ACCEPTED)
    if path != accepted or tuple(parents[i] for i in path) != (-1, *path)[: len(path)]:
        return "path"
    for i, v in enumerate(r.verdicts):
        above = Status.ACCEPTED if parents[i] < 0 else status[parents[i]]
        whole = v.u is not None and v.limit is not None  # block verification judges every position of a chain
        if v.status is Status.REJECTED and above is not Status.ACCEPTED and not (whole and above is Status.REJECTED):
            return f"verdicts[{i}].status"
    if not r.emitted:
        return "final"
    if r.target_rows != Rows(r.start - 1, r.start + len(parents), r.start + len(path)):
        return "target_rows"
    return None if r.final is None or r.final.kind in _kinds(r) else "final.kind"


def _kinds(r: Round) -> tuple[Kind, ...]:
    """What the last token of a round can be, by where the accepted path ends."""
    if not r.draft.tokens:
        return (Kind.TARGET,)
    end = r.path[-1] if r.path else -1
    return (Kind.RECOVERED, Kind.TARGET) if end in r.draft.parents else (Kind.BONUS,)

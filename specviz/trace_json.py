"""Traces as JSON, schema "specviz-trace/1": compact on the way out, checked line by line on the way in.

Probabilities of recorded distributions are whole millionths, which keeps a round with detail below 6 KB.
Reading and checking the structure is in `trace_read.py`.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from specviz.config import short
from specviz.errors import SpecvizError
from specviz.trace import SCHEMA, Position, Round, Rows, Token, Trace, Verdict
from specviz.trace_read import MILLION, trace_from_json

MAX_BYTES = 16 * 2**20  # of a trace from outside


def round_to_json(r: Round) -> dict:
    """One round as plain dicts and lists."""
    return {
        "index": r.index,
        "start": r.start,
        "draft": {"tokens": list(r.draft.tokens), "parents": list(r.draft.parents), "q": list(r.draft.q)},
        "verdicts": [_verdict(v) for v in r.verdicts],
        "path": list(r.path),
        "final": r.final and asdict(r.final),
        "times": asdict(r.times) | {"draft": list(r.times.draft)},
        "target_rows": _rows(r.target_rows),
        "draft_rows": r.draft_rows and _rows(r.draft_rows),
        "detail": None if r.detail is None else [_position(d) for d in r.detail],
    }


def vocab_to_json(vocab: tuple[Token, ...]) -> dict:
    """Tokens by id: a text, or {"special": text}, or {"bytes": hex}."""
    return {
        str(v.id): {"special": v.text} if v.special else {"bytes": v.bytes.hex()} if v.bytes is not None else v.text
        for v in vocab
    }


def trace_to_json(trace: Trace) -> dict:
    """A trace as plain dicts and lists, ready for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "config": asdict(trace.config),
        "models": asdict(trace.models),
        "prompt": {"text": trace.prompt.text, "tokens": list(trace.prompt.tokens)},
        "rounds": [round_to_json(r) for r in trace.rounds],
        "finish": trace.finish,
        "baseline_ms": trace.baseline_ms,
        "vocab": vocab_to_json(trace.vocab),
        "forked_at": trace.forked_at,
    }


def dump_trace(trace: Trace) -> str:
    """A trace as one line of JSON."""
    return json.dumps(trace_to_json(trace), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def load_trace(text: str | bytes) -> Trace:
    """The trace in `text`, wherever it comes from. Raises SpecvizError with the reason when it is not one."""
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise SpecvizError("errors.trace_size", size=size, limit=MAX_BYTES)
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SpecvizError("errors.trace_json", reason=short(str(error), 80)) from error
    return trace_from_json(data)


def _verdict(v: Verdict) -> dict:
    known = {"status": str(v.status), "p": v.p, "q": v.q, "u": v.u}
    return known if v.limit is None else known | {"limit": v.limit}


def _rows(rows: Rows) -> list[int]:
    return [rows.before, rows.full, rows.kept]


def _position(d: Position) -> dict:
    return {
        "ids": list(d.ids),
        **{name: [round(x * MILLION) for x in getattr(d, name)] for name in ("p", "q", "r")},
        "entropy": [d.p_entropy, d.q_entropy],
        "alpha": d.alpha,
    }


def _no_constant(name: str) -> float:
    raise ValueError(name)  # NaN, Infinity: not JSON

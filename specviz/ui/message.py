"""What the server tells a stage in the browser. Plain dicts; no Gradio here.

A message may hold any of
    trace    a whole trace (schema "specviz-trace/1"), which is then played, unless `play` is false; with `run`
    append   {run, at, rounds, vocab, finish, baseline_ms}: the rounds of `run` from index `at` on. When the browser
             does not have the rounds before, it asks for the whole trace.
             In both, a round whose draft is no chain also has `layout`: where its nodes are drawn (views/tree_layout).
    at       the round whose beginning the cursor goes to, to play from there
    status   null, or what the app is doing: {kind: loading|queued|running|error|empty, ...}
and always `id`, by which the browser knows whether it has read it.
"""

from __future__ import annotations

import logging
import secrets
import zlib

from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.trace import Trace
from specviz.trace_json import vocab_to_json
from specviz.views.drawn import drawn_round, drawn_trace
from specviz.views.tokens import markup, visible

log = logging.getLogger("specviz")


def message(**parts: object) -> dict:
    """A message of these parts."""
    return {"id": secrets.token_hex(6), **parts}


def whole(trace: Trace | None, play: bool = True, at: int | None = None, **parts: object) -> dict:
    """The trace from its beginning; `at`: with the cursor at the start of that round."""
    return message(trace=trace and drawn_trace(trace), run=trace and run_id(trace), play=play, at=at, **parts)


def delta(old: Trace, new: Trace, **parts: object) -> dict:
    """What `new` has more than `old`, of which it is the continuation."""
    at = len(old.rounds)
    known = {token.id for token in old.vocab}
    grown = {
        "run": run_id(new),
        "at": at,
        "rounds": [drawn_round(r) for r in new.rounds[at:]],
        "vocab": vocab_to_json(tuple(token for token in new.vocab if token.id not in known)),
        "finish": new.finish,
        "baseline_ms": new.baseline_ms,
    }
    return message(append=grown, **parts)


def worded(kind: str, key: str, values: dict, **more: object) -> dict:
    """A status with a sentence. The browser says it in the visitor's language, also after that has changed; `text`
    is the English one, for those who read the API.
    """
    plain = {name: value if isinstance(value, int | float) else str(value) for name, value in values.items()}
    return {"kind": kind, "key": key, "values": plain, "text": t("en", key, **values), **more}


def run_id(trace: Trace) -> int:
    """The same for all stages of one run; two runs with the same id have the same rounds."""
    return zlib.crc32(repr((trace.config, trace.models, trace.prompt, trace.forked_at)).encode("utf-8", "replace"))


def failure(error: Exception) -> dict:
    """The status that says what went wrong. Unforeseen failures are logged, and the visitor gets a calm sentence."""
    if isinstance(error, SpecvizError):
        return worded("error", error.key, error.values)
    log.error("a request failed", exc_info=error)
    return worded("error", "ui.unexpected", {})


def problem(error: Exception, lang: str) -> str:
    """What went wrong, as a line of HTML; what others wrote may be in it."""
    said = failure(error)
    text = visible(t(lang, said["key"], **said["values"]), keep_spaces=True)
    return f'<p class="sv-wrong" role="alert">{markup(text)}</p>'

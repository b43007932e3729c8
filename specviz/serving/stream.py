"""A streamed answer of the OpenAI-compatible API: events in, text and counts out; SpecvizError for what is none."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import chain

from specviz.errors import SpecvizError

MAX_TOKENS = 4_096  # of one answer


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """What a server with --per-request-spec-decode-metrics says of one request."""

    drafts: int
    draft_tokens: int
    accepted: int
    per_position: tuple[int, ...]
    steps: tuple[int, ...] | None  # accepted in each round, at the level "detailed"


@dataclass(frozen=True, slots=True)
class Answer:
    """One streamed answer. Times in seconds from the sending of the request, as they were seen here."""

    text: str
    tokens: int
    prompt_tokens: int
    finish: str | None
    first: float
    last: float
    counts: RequestCounts | None


def read_answer(pieces: Iterator[bytes], begun: float) -> Generator[str, None, Answer]:
    """Yields the text as it comes, piece by piece; returns the whole."""
    texts: list[str] = []
    finish, usage, counts = None, {}, None
    first = last = None
    for event in _events(pieces):
        if "error" in event:
            raise SpecvizError("serve.refused", reason=message_in(event))
        choices = event.get("choices")
        if not isinstance(choices, list):
            raise SpecvizError("serve.garbage", what="data:")
        choice = choices[0] if choices and isinstance(choices[0], dict) else {}
        delta = choice.get("delta")
        piece = delta.get("content") if isinstance(delta, dict) else choice.get("text")
        if isinstance(piece, str) and piece:
            last = time.monotonic() - begun
            first = last if first is None else first
            texts.append(piece)
            yield piece
        finish = choice.get("finish_reason") or finish
        usage = event.get("usage") or usage
        counts = _request_counts(event.get("metrics")) or counts
    if not isinstance(usage, dict) or not _is_count(usage.get("completion_tokens")):
        raise SpecvizError("serve.no_usage")
    over = time.monotonic() - begun
    asked = usage.get("prompt_tokens")
    return Answer(
        "".join(texts),
        usage["completion_tokens"],
        asked if _is_count(asked) else 0,
        str(finish)[:40] if finish else None,
        over if first is None else first,
        over if last is None else last,
        counts,
    )


def _events(pieces: Iterator[bytes]) -> Iterator[dict]:
    """The JSON objects of a stream of server-sent events, up to [DONE]."""
    for line in _lines(pieces):
        line = line.strip()
        if not line.startswith(b"data:"):
            if line and not line.startswith((b":", b"event:", b"id:", b"retry:")):
                raise SpecvizError("serve.garbage", what="data:")
            continue
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            return
        try:
            event = read_json(data)
        except ValueError as error:
            raise SpecvizError("serve.garbage", what="data:") from error
        if not isinstance(event, dict):
            raise SpecvizError("serve.garbage", what="data:")
        yield event
    raise SpecvizError("serve.cut_off")


def read_json(data: bytes) -> object:
    """Raises ValueError for what is no JSON, nests too deep, or holds half a character, which nothing can show."""
    try:
        found = json.loads(data)
        json.dumps(found, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return found


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of a text that arrives in pieces; what a line consists of is joined once, however small they are."""
    parts: list[bytes] = []
    for piece in chain(pieces, (b"\n",)):
        first, *more = piece.split(b"\n")
        parts.append(first)
        for start in more:
            yield b"".join(parts)
            parts = [start]


def _request_counts(metrics: object) -> RequestCounts | None:
    """The counts of one request. None where there are none, or in a form that is not known."""
    found = metrics.get("speculative_decoding") if isinstance(metrics, dict) else None
    if not isinstance(found, dict):
        return None
    histogram, steps = found.get("acceptance_histogram"), found.get("per_step_accepted")
    totals = [found.get(name) for name in ("num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens")]
    if not _are_counts(histogram) or not _are_counts(totals):
        return None
    at = tuple(sum(histogram[i:]) for i in range(1, len(histogram)))  # accepted at least i
    return RequestCounts(*totals, at, tuple(steps) if _are_counts(steps) else None)


def _are_counts(values: object) -> bool:
    return isinstance(values, list) and len(values) <= MAX_TOKENS and all(map(_is_count, values))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9


def message_in(found: object) -> str:
    """The reason in an error of the API, in one short line."""
    error = found.get("error", found) if isinstance(found, dict) else found
    message = error.get("message") if isinstance(error, dict) else error
    text = " ".join(str(message).split())
    return text if len(text) <= 200 else text[:199] + "…"

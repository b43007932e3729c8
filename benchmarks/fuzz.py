"""Hostile requests against the app's API, made up by hypothesis: each is answered, in words, and the app goes on.

    python -m benchmarks.fuzz 1000
    python -m benchmarks.fuzz 1000 --target folder --draft folder

A request is wrong in one or two places, or is no request at all. Prints the first answer that is a failure of ours (a
status of 500 or more, an unforeseen error, more than PATIENCE seconds), then one JSON object. Exit status 1 where there
was one, where the log has an error of ours, or where a run afterwards does not work.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchmarks.visitor import Visitor, app, status_of, values
from specviz.config import METHODS, RunConfig
from specviz.models.presets import CUSTOM, DEFAULT

PATIENCE = 2.0  # seconds on an idle machine
ENOUGH = 2  # news of a run that was not refused; then the visitor leaves
UNFORESEEN = "ui.unexpected"

NASTY = (
    "", " ", "\x00", "\ud800", "\u202e", "<script>alert(1)</script>", "${1+1}", "../../etc/passwd", "file:///etc/passwd",
    "%s%n{0}{x}", "'; drop table--", "٣", "1e999", "0x10", "nan", "[[0],[1]", "[" * 5000, "a" * 300_000, "null",
)  # fmt: skip
NUMBERS = (0, -1, 1, 2, 10**9, 2**31, 2**63 - 1, 2**63, 10**40, -0.0, 1e-320, 1e308, math.nan, math.inf, -math.inf)
hostile = st.one_of(
    st.sampled_from(NASTY),
    st.sampled_from(NUMBERS),
    st.text(max_size=30),
    st.integers(),
    st.floats(),
    st.none(),
    st.booleans(),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=6,
    ),
)


@dataclass(frozen=True, slots=True)
class Call:
    """A request: an endpoint and its values; or `raw`, a path of the API and a body that is no JSON at all."""

    name: str
    data: Any = ()
    raw: bytes | None = None


@dataclass(slots=True)
class Seen:
    """What came back."""

    requests: int = 0
    answers: Counter = field(default_factory=Counter)
    slowest: float = 0.0
    wrong: list[str] = field(default_factory=list)


def calls(pair: str) -> st.SearchStrategy[Call]:
    """Requests to all that is documented."""
    run = values("Name a colour.", RunConfig("lookup", k=2, max_new_tokens=4), pair)
    trees = st.sampled_from(["", "[[0],[1],[0,0]]", "[[0]]", "[[1]]", "[[0],[0]]", "[[0,0]]"])
    good: dict[str, tuple] = {
        "run": run,
        "step": run,
        "check": ("toy", "none", 200, json.dumps({"p": [0.2] * 5, "q": [0.2] * 5}), "", "skip", 1.0, "0", "en"),
        "fork": (1, "temperature", 0.5, 2, "1", 0.5, None, 1, "en"),
        "bundled_run": ("sky",),
        "export": (),
        "export_page": ("en",),
        "stop": (),
        "translate_vllm": ("LLM(model='t', speculative_model='d')", "0.33", "en"),
        "open_trace": ({"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}},),
    }

    if pair == CUSTOM:
        del good["fork"]  # of the recorded run on show: the bundled pair would be loaded in the place of this one

    @st.composite
    def mutated(draw: Callable) -> Call:
        name = draw(st.sampled_from(sorted(good)))
        data = list(good[name])
        if name in ("run", "step"):
            data[1] = draw(st.sampled_from(METHODS))
            data[13] = draw(trees)
        for _ in range(draw(st.integers(0 if data else 1, 2))):
            if data:
                data[draw(st.integers(0, len(data) - 1))] = draw(hostile)
        if draw(st.integers(0, 9)) == 0:  # the wrong number of values, or none
            data = draw(st.sampled_from([[], data[:-1], [*data, 1], None, "x", {"a": 1}, [data]]))
        return Call(name, data)

    bodies = st.binary(max_size=200) | st.sampled_from(
        [b"{", b"[]", b"null", b'{"data": 1e999}', b'{"data":' + b"[" * 9000]
    )
    names = st.sampled_from([*good, "nobody", "..%2f..%2fetc", "lambda", "predict"])
    return st.one_of(mutated(), mutated(), mutated(), st.builds(Call, names, st.none(), bodies))


def answer(visitor: Visitor, call: Call) -> str:
    """How a request was answered: said, done, going on, rejected (4xx), or FAILED with the reason."""
    body = call.raw if call.raw is not None else _json({"data": call.data, "session_hash": visitor.session})
    sent = visitor.client.post(
        f"gradio_api/call/{call.name}", content=body, headers={"Content-Type": "application/json"}
    )
    if sent.status_code >= 500:
        return f"FAILED: status {sent.status_code}: {sent.text[:200]}"
    if sent.is_error:
        return "rejected"
    told: list[Any] = []
    with visitor.client.stream("GET", f"gradio_api/call/{call.name}/{sent.json()['event_id']}") as stream:
        event = ""
        for line in stream.iter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: ") and event in ("generating", "complete", "error"):
                if event == "error":  # Gradio's own no, to values of no shape; a handler of ours would be in the log
                    return "rejected"
                told.append(json.loads(line.removeprefix("data: "), parse_constant=_no_constant))
                status = status_of(told[-1])
                if status and status["kind"] == "error":
                    return f"FAILED: unforeseen: {status}" if status["key"] == UNFORESEEN else "said"
                if event == "complete":
                    return "done"
                if len(told) > ENOUGH:
                    return "going on"
    return "FAILED: the stream ended without an end"


def _json(body: Any) -> bytes:
    return json.dumps(body).encode("ascii")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} in JSON")


def fuzz(address: str, requests: int, pair: str, patience: float = PATIENCE) -> Seen:
    """Sends so many requests, one after the other, each by a visitor of its own. Ctrl-C leaves what was seen so far."""
    seen = Seen()

    @settings(
        max_examples=requests,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(calls(pair))
    def send(call: Call) -> None:
        began = time.monotonic()
        with Visitor(address, timeout=60.0) as visitor:
            try:
                found = answer(visitor, call)
            except (httpx.HTTPError, ValueError) as error:
                found = f"FAILED: {error!r}"
        took = time.monotonic() - began
        seen.requests += 1
        seen.slowest = max(seen.slowest, took)
        seen.answers[found.partition(":")[0]] += 1
        if found.startswith("FAILED") or took > patience:
            seen.wrong.append(f"{took:.1f} s: {found} to {call.name} {str(call.data)[:300]} {str(call.raw)[:60]}")

    with suppress(KeyboardInterrupt):
        send()
    return seen


def usable(address: str, pair: str) -> bool:
    """Whether a run works."""
    with Visitor(address) as visitor:
        visitor.ask("run", values("Name a colour.", RunConfig("skip", k=2, max_new_tokens=6), pair))
        return bool(visitor.trace().rounds)


def main() -> int:
    """Starts an app and sends them."""
    flags = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.splitlines()[0])
    flags.add_argument("requests", type=int, nargs="?", default=1000)
    flags.add_argument("--target", help="folder or hub id; the bundled pair without it")
    flags.add_argument("--draft")
    flags.add_argument("--patience", type=float, default=PATIENCE, help="seconds that an answer may take")
    given_ = flags.parse_args()
    models = [x for name in ("target", "draft") if getattr(given_, name) for x in (f"--{name}", getattr(given_, name))]
    pair = CUSTOM if models else DEFAULT
    with tempfile.TemporaryFile("w+") as log, app("--device", "cpu", "--dtype", "float32", *models, log=log) as address:
        seen = fuzz(address, given_.requests, pair, given_.patience)
        works = usable(address, pair)
        log.seek(0)
        ours = [line for line in log if "/specviz/" in line]  # a frame of ours in the trace of an error
    for text in (*seen.wrong[:5], *ours[:5]):
        print(text)
    figures = {"requests": seen.requests, "answers": dict(seen.answers), "wrong": len(seen.wrong)}
    print(json.dumps(figures | {"slowest_s": round(seen.slowest, 2), "logged": len(ours), "usable": works}))
    return 0 if works and not seen.wrong and not ours else 1


if __name__ == "__main__":
    sys.exit(main())

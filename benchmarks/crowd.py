"""Many visitors at once: nobody's run mixes with another's, every step is answered in turn, memory stays.

    python -m benchmarks.crowd --clients 30 --seconds 180
    python -m benchmarks.crowd --clients 30 --seconds 180 --target folder --draft folder

Every visitor first runs alone; then all of them run and step for so long, and each trace must be the one made alone.
Prints a line for what was seen, then one JSON object. Exit status 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from benchmarks.visitor import Refused, Visitor, app, metrics, values
from specviz.config import RunConfig
from specviz.models.presets import CUSTOM, DEFAULT
from specviz.trace import Trace

WORDS = ("apple", "river", "stone", "cloud", "lamp", "train", "garden", "winter", "violin", "harbour")
STEPS = 3  # of each visit, after its run
WARM = 60.0  # seconds after which memory must not grow
GROWTH = 1.05  # of resident memory after that, at most
NEAR = 1e-3  # a step reads the text in one pass, a run in many: in float32 p differs in the last digits


@dataclass(frozen=True, slots=True)
class Wish:
    """What one visitor runs, and another thing it steps through."""

    prompt: str
    run: RunConfig
    steps: RunConfig
    pair: str

    @staticmethod
    def of(i: int, pair: str) -> Wish:
        word = WORDS[i % len(WORDS)]
        method = ("draft", "skip", "none", "lookup")[i % 4]
        tree = ((0,), (1,), (0, 0), (0, 1)) if i % 8 in (0, 5) else ()
        run = RunConfig(
            method, k=2 + i % 4, temperature=(0.0, 0.8, 1.2)[i % 3], seed=i, max_new_tokens=8 + i % 9, tree=tree
        )
        steps = RunConfig("draft", k=3, temperature=0.9, seed=1000 + i, max_new_tokens=64)
        return Wish(f"Name {i + 2} things about a {word}.", run, steps, pair)


@dataclass(slots=True)
class Seen:
    """What all visitors saw."""

    runs: int = 0
    steps: int = 0
    errors: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    step_s: list[float] = field(default_factory=list)
    run_s: list[float] = field(default_factory=list)


def same(one: Trace, other: Trace) -> str | None:
    """None where both are the same run; else the first difference. Times are nobody's."""
    if (one.prompt, one.config, one.finish) != (other.prompt, other.config, other.finish):
        return f"prompt, settings or end: {one.finish}, {other.finish}"
    if len(one.rounds) != len(other.rounds):
        return f"{len(one.rounds)} rounds, not {len(other.rounds)}"
    for a, b in zip(one.rounds, other.rounds, strict=True):
        if _exact(a) != _exact(b):
            return f"round {a.index + 1}: {_exact(a)}, not {_exact(b)}"
        numbers = zip(_numbers(a), _numbers(b), strict=True)
        if any(abs(x - y) > NEAR for x, y in numbers):
            return f"round {a.index + 1}: p or q"
    return None


def _exact(r: Any) -> tuple:
    verdicts = tuple((v.status, v.u) for v in r.verdicts)
    return r.draft.tokens, r.draft.parents, verdicts, r.path, r.final and (r.final.token, r.final.kind, r.final.u)


def _numbers(r: Any) -> list[float]:
    return [x for v in r.verdicts for x in (v.p, v.q)]


def visit(visitor: Visitor, wish: Wish) -> tuple[Trace, list[Trace], float, list[float]]:
    """A run, then steps: the traces, and the seconds that each took."""
    began = time.monotonic()
    visitor.ask("run", values(wish.prompt, wish.run, wish.pair))
    took = time.monotonic() - began
    run, stepped, times = visitor.trace(), [], []
    for _ in range(STEPS):
        began = time.monotonic()
        visitor.ask("step", values(wish.prompt, wish.steps, wish.pair))
        times.append(time.monotonic() - began)
        stepped.append(visitor.trace())
    return run, stepped, took, times


def crowd(address: str, clients: int, seconds: float, pair: str) -> tuple[Seen, list[tuple[float, float]]]:
    """What they saw; and seconds and resident bytes, every now and then."""
    wishes = [Wish.of(i, pair) for i in range(clients)]
    visitors = [Visitor(address) for _ in wishes]
    alone = [visit(visitor, wish)[:2] for visitor, wish in zip(visitors, wishes, strict=True)]
    seen, lock, until = Seen(), threading.Lock(), time.monotonic() + seconds

    def come(i: int) -> None:
        while time.monotonic() < until:
            try:
                run, stepped, took, times = visit(visitors[i], wishes[i])
            except (Refused, httpx.HTTPError) as error:
                with lock:
                    seen.errors.append(f"visitor {i}: {error!r}")
                time.sleep(1)
                continue
            wrong = [same(run, alone[i][0]), *(same(a, b) for a, b in zip(stepped, alone[i][1], strict=True))]
            with lock:
                seen.runs += 1
                seen.steps += len(times)
                seen.run_s.append(took)
                seen.step_s += times
                seen.mixed += [f"visitor {i}: {text}" for text in wrong if text]

    threads = [threading.Thread(target=come, args=(i,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    memory, began = [], time.monotonic()
    while any(thread.is_alive() for thread in threads):
        memory.append((time.monotonic() - began, metrics(address).get("process_resident_memory_bytes", 0.0)))
        time.sleep(min(5.0, seconds / 10))
    for visitor in visitors:
        visitor.client.close()
    return seen, memory


def flat(memory: list[tuple[float, float]], warm: float = WARM) -> tuple[float, float]:
    """Megabytes at the end of the first minute, and the most after it."""
    late = [size for at, size in memory if at >= warm] or [memory[-1][1]]
    return late[0] / 1e6, max(late) / 1e6


def main() -> int:
    """Starts an app and lets the crowd in."""
    flags = argparse.ArgumentParser(prog="python -m benchmarks.crowd", description=__doc__.splitlines()[0])
    flags.add_argument("--clients", type=int, default=30)
    flags.add_argument("--seconds", type=float, default=180)
    flags.add_argument("--target", help="folder or hub id; the bundled pair without it")
    flags.add_argument("--draft")
    given = flags.parse_args()
    models = [x for name in ("target", "draft") if getattr(given, name) for x in (f"--{name}", getattr(given, name))]
    pair = CUSTOM if models else DEFAULT
    with tempfile.TemporaryFile("w+") as log, app("--device", "cpu", "--dtype", "float32", *models, log=log) as address:
        seen, memory = crowd(address, given.clients, given.seconds, pair)
        counted = metrics(address)
    first, most = flat(memory)
    for text in (seen.errors + seen.mixed)[:10]:
        print(text)
    figures = {
        "clients": given.clients, "seconds": given.seconds, "pair": pair, "runs": seen.runs, "steps": seen.steps,
        "errors": len(seen.errors), "mixed": len(seen.mixed),
        "run_s_median": round(statistics.median(seen.run_s or [0]), 2), "run_s_most": round(max(seen.run_s or [0]), 2),
        "step_s_median": round(statistics.median(seen.step_s or [0]), 2),
        "step_s_most": round(max(seen.step_s or [0]), 2),
        "memory_mb_first_minute": round(first), "memory_mb_most_after": round(most),
        "rounds": int(counted["specviz_rounds_total"]), "tokens": int(counted["specviz_tokens_total"]),
    }  # fmt: skip
    print(json.dumps(figures))
    return 0 if seen.runs and not seen.errors and not seen.mixed and most <= GROWTH * first else 1


if __name__ == "__main__":
    sys.exit(main())

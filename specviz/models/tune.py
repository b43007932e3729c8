"""A short measurement: how long idle threads should spin, how many there should be, and which precision is best here.

What is timed is what a round consists of, products of a few rows with weights that do not fit into the processor's
caches, for one token and for a draft of five. Threads and their waiting are fixed when torch is loaded, so each trial
is a process of its own. Spinning for longer is chosen only where it also does well while another process is busy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

from specviz.tuned import Tuned, usable_cores

SPINS = (0, Tuned().spin, 100_000)  # asleep at once; the default; as OpenMP would by itself
NOISE = 1.05  # times that differ by less than this factor are the same
BF16_GAIN = 1.25  # what bfloat16 must gain: it is coarser, and greedy output is compared in float32
BUSY_LOSS = 1.25  # what spinning for longer may lose while another process is busy
BUSY_PROGRAM = "while True: pass"
TRIAL_PROGRAM = "from specviz.models.tune import trial; print(trial())"

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of a pass over one token and over five, in each precision."""

    spin: int
    threads: int
    busy: bool  # while another process was busy
    one: dict[str, float]
    five: dict[str, float]

    def cost(self, dtype: str = "float32") -> float:
        """What a round takes, more or less: a pass over the draft, and half a pass for what drafting takes."""
        return self.five[dtype] + 0.5 * self.one[dtype]


def measure(progress: Progress = lambda share: None) -> list[Timing]:
    """Times every combination. Raises subprocess.SubprocessError where a trial does not end well."""
    cores = usable_cores()
    trials = [(spin, n, False) for n in sorted({cores, max(1, cores // 2)}) for spin in SPINS]
    trials += [(spin, cores, True) for spin in SPINS]
    timings = []
    for i, (spin, threads, busy) in enumerate(trials):
        progress(i / len(trials))
        timings.append(_timed(spin, threads, busy))
    return timings


def choose(timings: list[Timing]) -> Tuned:
    """The fastest; among those that are as fast as it, to noise, the one that departs least from the default."""
    usual = Tuned().spin
    loaded = {t.spin: t for t in timings if t.busy}
    fair = [
        t
        for t in timings
        if not t.busy and (t.spin <= usual or loaded[t.spin].cost() < BUSY_LOSS * loaded[usual].cost())
    ]
    most, fastest = max(t.threads for t in fair), min(t.cost() for t in fair)
    near = [t for t in fair if t.cost() <= NOISE * fastest]
    best = min(near, key=lambda t: ((t.spin != usual) + (t.threads != most), t.cost(), t.spin, t.threads))
    coarse = "bfloat16" in best.five and BF16_GAIN * best.cost("bfloat16") < best.cost()
    return Tuned(best.spin, None if best.threads == most else best.threads, "bfloat16" if coarse else "float32")


def _timed(spin: int, threads: int, busy: bool) -> Timing:
    fixed = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": str(spin), "OMP_NUM_THREADS": str(threads)}
    environment = os.environ | fixed
    other = subprocess.Popen([sys.executable, "-c", BUSY_PROGRAM]) if busy else None
    try:
        done = subprocess.run(
            [sys.executable, "-c", TRIAL_PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
    finally:
        if other:
            other.kill()
            other.wait()
    return Timing(spin, threads, busy, **json.loads(done.stdout.splitlines()[-1]))


def trial() -> str:
    """In a process of its own: the times as JSON."""
    import statistics
    import time

    import torch

    from specviz.engine.products import can_pack, packed, plain

    torch.manual_seed(0)
    shapes = [(960, 576), (576, 576), (3072, 576), (576, 1536)] * 12  # of the bundled target: beyond any cache
    times: dict[str, dict[str, float]] = {"one": {}, "five": {}}
    for dtype in (torch.float32, torch.bfloat16):
        weights = [torch.randn(shape, dtype=dtype) for shape in shapes]
        if dtype is torch.bfloat16 and not can_pack(weights[0]):
            continue
        make = packed if can_pack(weights[0]) else plain
        products = [(shape[1], make(weight)) for shape, weight in zip(shapes, weights, strict=True)]
        for name, n in (("one", 1), ("five", 5)):
            rows = {size: torch.randn(n, size, dtype=dtype) for size in (576, 1536)}
            taken = []
            with torch.inference_mode():
                for _ in range(12):
                    begin = time.perf_counter()
                    for size, product in products:
                        torch.nn.functional.silu(product(rows[size]))  # small operations wait for each other, too
                    taken.append(1000 * (time.perf_counter() - begin))
            times[name][str(dtype).removeprefix("torch.")] = round(statistics.median(taken[2:]), 3)
    return json.dumps(times)


def table(timings: list[Timing]) -> list[dict]:
    """The timings as rows of plain values."""
    return [asdict(timing) for timing in timings]

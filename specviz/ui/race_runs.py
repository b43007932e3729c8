"""What a race runs, in the lane's thread: plain decoding, then the drafter, at full speed. No Gradio here.

Its news are few: whatever the page does with them takes time from the run that is being measured.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specviz.config import RunConfig
from specviz.errors import SpecvizError
from specviz.race import Race
from specviz.trace import Trace
from specviz.ui.job import Job

if TYPE_CHECKING:
    from specviz.models.pair import Pair

WARM_UP = 3  # rounds before each run, which count for nothing: the first ones of a model are slow
NEWS_EVERY = 0.4  # seconds
PLACES = RACE, SWEEP = "race", "sweep"  # of its jobs


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a race is. side: 0 is plain decoding, 1 the drafter; decode_ms: its measured time so far."""

    side: int
    tokens: int
    limit: int
    decode_ms: float


def drafting(config: RunConfig, auto: bool) -> RunConfig:
    """The drafter's run; `auto`: it finds its k itself. Raises SpecvizError where there is nothing to race."""
    if config.method == "none" or config.depth == 0 or config.max_new_tokens < 2:
        raise SpecvizError("race.nothing_to_race")
    return replace(config, adapt=auto, overrides=())


def plain(config: RunConfig) -> RunConfig:
    """The same without drafting."""
    return replace(config, method="none", tree=(), nodes=0, adapt=False, verify="lossless", overrides=())


def race(job: Job, pair: Pair, prompt: str, config: RunConfig) -> Iterator[int]:
    """Posts Progress, then the Race. A stopped one posts no Race. Yields as `Work` does."""
    sides = (plain(config), config)
    waits = pair.device.type == "cuda"
    done: list[Trace] = []
    for side, one in [*enumerate(sides)] * (1 + waits):
        trace = yield from timed(job, pair, prompt, one, side, waits=len(done) >= len(sides))
        if trace is None:
            return
        done.append(trace)
    job.post(Race(done[0], done[1], (done[2], done[3]) if waits else None))


def timed(
    job: Job, pair: Pair, prompt: str, config: RunConfig, side: int, waits: bool = False
) -> Generator[int, None, Trace | None]:
    """One run, warmed up; None when it was stopped. waits: for the device, at each stage of a round.

    Only rounds are timed, so what others do between two of them is not in it.
    """
    from specviz.models.run import advance, start

    begun = start(pair, prompt, config)
    for warm in advance(pair, begun, WARM_UP, detail=waits):
        yield _written(warm)
        if job.stopped:
            return None
    trace, tokens, ms, told = begun, 0, 0.0, 0.0
    for trace in advance(pair, begun, detail=waits):
        last = trace.rounds[-1] if trace.rounds else None
        if last is not None:
            tokens, ms = tokens + len(last.emitted), ms + last.times.total
        yield _written(trace)
        if job.stopped:
            return None
        if time.monotonic() - told > NEWS_EVERY:
            told = time.monotonic()
            job.post(Progress(side, tokens, config.max_new_tokens, ms))
    return replace(trace, rounds=tuple(replace(r, detail=None) for r in trace.rounds)) if waits else trace


def _written(trace: Trace) -> int:
    """Tokens of the latest round."""
    return len(trace.rounds[-1].emitted) if trace.rounds else 0

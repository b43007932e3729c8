"""What a run sends to the page while it goes on: messages for the stage, each with the trace it leads to. No Gradio."""

from __future__ import annotations

import time
from collections.abc import Iterator

from specviz.trace import Trace
from specviz.ui.job import Job
from specviz.ui.message import delta, failure, message, whole, worded
from specviz.ui.runner import Runner

Step = tuple[dict | None, Trace | None]  # a message (None: nothing new to say) and the trace after it

RUNNING = {"kind": "running"}
BEAT = 5.0  # seconds


class Pulse:
    """When to tell a visitor something: when it is new, and else every BEAT seconds the same again.

    So silence means that the connection is lost, and the browser says so (assets/js/app/silence.js).
    """

    def __init__(self) -> None:
        self._told: object = None
        self._at = time.monotonic()

    def due(self, status: object) -> bool:
        """Whether to tell this now."""
        now = time.monotonic()
        if status == self._told and now - self._at < BEAT:
            return False
        self._told, self._at = status, now
        return True


def follow(
    runner: Runner, job: Job, pair: str, shown: Trace | None, fresh: bool, at: int | None = None
) -> Iterator[Step]:
    """Messages until the job is over. `shown` is the trace that the stage shows now.

    fresh   the job posts a new trace, which replaces `shown`; else it continues it
    at      the round that the cursor goes to with the first news
    A job that was dropped says nothing any more. Whatever fails, the trace that was reached stays, and the last message
    says what happened.
    """
    pulse = Pulse()
    replaced = not fresh
    try:
        for trace in job.watch():
            if trace is not None and (not replaced or trace is not shown):
                pulse.due(RUNNING)
                parts = {"status": RUNNING, "at": at}
                news = delta(shown, trace, **parts) if replaced else whole(trace, **parts)
                replaced, at, shown = True, None, trace
                yield news, shown
            elif not job.done:
                status = waiting(runner, job, pair)
                if pulse.due(status):
                    yield message(status=status), shown
    finally:
        job.stop()  # the visitor has gone, or it is over anyway
    if job.dropped:
        return
    if job.error is not None:
        yield message(status=failure(job.error)), shown
    else:
        yield message(status=None), shown


def waiting(runner: Runner, job: Job, pair: str) -> dict:
    """Why there is nothing new to see."""
    place = runner.place(job)
    if place:
        return {"kind": "queued", "n": place}
    loader = runner.loader(pair)
    if loader.pair is None and loader.error is None:
        now = loader.loading
        return worded("loading", now.key, now.values, part=round(now.fraction, 2))
    return RUNNING

"""What a run sends to the page while it goes on: messages for the stage, each with the trace it leads to. No Gradio."""

from __future__ import annotations

from collections.abc import Iterator

from specviz.trace import Trace
from specviz.ui.lane import Job
from specviz.ui.message import delta, failure, message, whole, worded
from specviz.ui.runner import Runner

Step = tuple[dict | None, Trace | None]  # a message (None: nothing new to say) and the trace after it

RUNNING = {"kind": "running"}


def follow(
    runner: Runner, job: Job, pair: str, shown: Trace | None, fresh: bool, at: int | None = None
) -> Iterator[Step]:
    """Messages until the job is over. `shown` is the trace that the stage shows now.

    fresh   the job posts a new trace, which replaces `shown`; else it continues it
    at      the round that the cursor goes to with the first news
    A job that was dropped says nothing any more. Whatever fails, the trace that was reached stays, and the last message
    says what happened.
    """
    told: dict | None = None
    replaced = not fresh
    try:
        for trace in job.watch():
            if trace is None:
                status = waiting(runner, job, pair)
                if status != told:
                    told = status
                    yield message(status=status), shown
            elif not replaced or trace is not shown:
                parts = {"status": RUNNING, "at": at}
                news = delta(shown, trace, **parts) if replaced else whole(trace, **parts)
                replaced, at, shown = True, None, trace
                yield news, shown
    finally:
        job.stop()  # the visitor has gone, or it is over anyway
    if job.dropped:
        return
    if job.error is not None:
        yield message(status=failure(job.error)), shown
    else:
        yield message(status=None), shown


def waiting(runner: Runner, job: Job, pair: str) -> dict:
    """Why there is nothing to see yet."""
    place = runner.place(job)
    if place:
        return {"kind": "queued", "n": place}
    loader = runner.loader(pair)
    if loader.pair is None and loader.error is None:
        now = loader.loading
        return worded("loading", now.key, now.values, part=round(now.fraction, 2))
    return RUNNING

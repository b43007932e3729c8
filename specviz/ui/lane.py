"""One lane to the accelerator: visitors' jobs take turns in a single thread.

A turn is a round. A long job keeps the lane for SLICE seconds while others wait, then goes to the end of the line and
goes on later; its engine, with its caches, is its own and waits with it. Between two of its rounds a short job, such as
a single step, is let in. No Gradio here; a job itself is in `job.py`.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from specviz.errors import SpecvizError
from specviz.ui.job import Job, Work

SLICE = 5.0  # seconds that a long job keeps the lane while others wait
OPEN = 4  # long jobs that have begun; each holds caches
PLACES = 48  # jobs that may wait or run; each holds a thread of the server


@dataclass(slots=True)
class Counts:
    """What the lane has done since it was opened. Written by its thread alone, but for `full`."""

    jobs: int = 0
    rounds: int = 0
    tokens: int = 0
    refused: int = 0  # jobs that ended with a sentence
    failed: int = 0  # jobs that ended with an error nobody had foreseen
    full: int = 0  # jobs that were not taken


class Lane:
    """The thread that runs jobs. `counts` may be read at any time.

    slice   seconds that a long job keeps the lane while others wait; by default SLICE
    """

    def __init__(self, slice: float | None = None) -> None:
        self.counts = Counts()
        self._slice = slice
        self._since = 0.0  # when the slice began that counts now
        self._line: deque[Job] = deque()
        self._short: deque[Job] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(
        self, work: Work, key: str | None = None, short: bool = False, present: Callable[[], bool] | None = None
    ) -> Job:
        """Queues `work`. The thread starts with the first job. Raises SpecvizError when PLACES are taken.

        key      of what it works with; jobs of another key do not begin before this one is over. None fits to all
        short    a round or so: it need not wait for the long ones to end
        present  whether its visitor is still connected
        """
        job = Job(work, key, short, present)
        with self._changed:
            if self._closed or self.size >= PLACES:
                self.counts.full += 1
                raise SpecvizError("ui.closing") if self._closed else SpecvizError("ui.full", n=PLACES)
            (self._short if short else self._line).append(job)
            if len(self._line) == 2 and not short:  # from now on somebody waits
                self._since = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="specviz-lane", daemon=True)
                self._thread.start()
            self._changed.notify()
        return job

    def place(self, job: Job) -> int:
        """How many jobs have their turns before this one; 0 when it has it, or is over."""
        with self._changed:
            line = self._short if job.short else self._line
            return line.index(job) if job in line else 0

    @property
    def size(self) -> int:
        """Jobs that wait or run."""
        return len(self._line) + len(self._short)

    def close(self, patience: float = 10.0) -> None:
        """Ends all jobs after the round that is being computed, and the thread."""
        with self._changed:
            self._closed = True
            for job in (*self._line, *self._short):
                job.stop()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(patience)

    def _serve(self) -> None:
        holder: Job | None = None  # the long job whose slice it is
        after_short = False
        while True:
            with self._changed:
                while (job := self._next(after_short)) is None:
                    if self._closed:
                        return
                    self._changed.wait()
            if not job.short and job is not holder:
                holder, self._since = job, time.monotonic()
            more = job.turn(self._count)
            after_short = job.short
            over = job.short or not job.begun or self._over()
            with self._changed:
                line = self._short if job.short else self._line
                if not more:
                    line.remove(job)
                    self._ended(job)
                elif over and job.begun:
                    line.remove(job)
                    line.append(job)
            if job is holder and (over or not more):
                holder = None

    def _over(self) -> bool:
        """Whether the slice is."""
        return time.monotonic() - self._since > (SLICE if self._slice is None else self._slice)

    def _next(self, after_short: bool) -> Job | None:
        """Whose turn it is: who is to end does so at once; then short jobs and the long one take turns.

        Who only waits for models comes when nobody else can go on.
        """
        for job in (*self._short, *self._line):
            if job.stopped:
                return job
        begun = [job for job in self._line if job.begun]
        short = [job for job in self._short if _fits(job, begun)]
        long = list(self._ready(begun))
        first, then = (long, short) if after_short else (short, long)
        ready = [job for job in (*first, *then) if not job.waits]
        return next(iter(ready or first or then), None)

    def _ready(self, begun: list[Job]) -> Iterator[Job]:
        """Long jobs that can go on, and those that may begin: nobody passes one who has waited longer."""
        may_begin = len(begun) < OPEN
        for job in self._line:
            may_begin = may_begin and (job.begun or _fits(job, begun))
            if job.begun or may_begin:
                yield job

    def _count(self, tokens: int) -> None:
        self.counts.rounds += tokens > 0
        self.counts.tokens += tokens

    def _ended(self, job: Job) -> None:
        self.counts.jobs += 1
        self.counts.refused += isinstance(job.error, SpecvizError)
        self.counts.failed += job.error is not None and not isinstance(job.error, SpecvizError)


def _fits(job: Job, begun: list[Job]) -> bool:
    """Whether what it works with can be there together with what others are in the middle of."""
    return job.key is None or all(other.key in (None, job.key) for other in begun)

"""One lane to the accelerator: visitors' jobs run one after another in a single thread.

A job belongs to a visitor who watches it. The thread never waits for a visitor: it posts its news into the job, and
the visitor's own handler picks them up. A job that nobody has watched for a while, or that was stopped, ends between
two rounds, so a closed browser cannot hold the lane. No Gradio here.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from specviz.errors import SpecvizError
from specviz.proof import Report
from specviz.trace import Trace

log = logging.getLogger("specviz")

ABANDONED_AFTER = 30.0  # seconds without a look from its visitor
LOOK_EVERY = 0.2  # seconds between two looks at a job, when it has no news


class Job:
    """One request to run the models. `work(job)` posts ever longer traces, or ever fuller reports of a check.

    It runs in the lane's thread.
    """

    def __init__(self, work: Callable[[Job], None]) -> None:
        self._work = work
        self._news = threading.Condition()
        self._stop = threading.Event()
        self._seen = time.monotonic()
        self.trace: Any = None  # a Trace; of a check, its Report
        self.error: Exception | None = None
        self.done = False
        self.dropped = False

    def drop(self) -> None:
        """Ends it, and nobody wants to see any more of it: something else has taken its place."""
        self.dropped = True
        self._stop.set()

    def stop(self) -> None:
        """Ends it after the round that is being computed."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether it should end: stopped by hand, or watched by nobody any more."""
        return self._stop.is_set() or time.monotonic() - self._seen > ABANDONED_AFTER

    def look(self) -> None:
        """Its visitor is still there. Who watches looks, too."""
        self._seen = time.monotonic()

    def post(self, trace: Trace | Report) -> None:
        """Publishes the trace as it stands now."""
        with self._news:
            self.trace = trace
            self._news.notify_all()

    def watch(self) -> Iterator[Any]:
        """The newest trace, at once when it grows and else every LOOK_EVERY seconds; ends with the job."""
        last = None
        while True:
            with self._news:
                if self.trace is last and not self.done and not self.dropped:
                    self._news.wait(LOOK_EVERY)
                self._seen = time.monotonic()
                last, done = self.trace, self.done
            if self.dropped:
                return
            yield last
            if done:
                return

    def run(self) -> None:
        """Does the work. Failures stay in the job, for its visitor."""
        try:
            if not self.stopped:
                self._work(self)
        except SpecvizError as error:
            self.error = error
        except Exception as error:
            log.exception("a run failed")
            self.error = error
        finally:
            with self._news:
                self.done = True
                self._news.notify_all()


class Lane:
    """The thread that runs jobs, first come, first served."""

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, work: Callable[[Job], None]) -> Job:
        """Queues `work`. The thread starts with the first job."""
        job = Job(work)
        with self._changed:
            self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="specviz-lane", daemon=True)
                self._thread.start()
            self._changed.notify()
        return job

    def place(self, job: Job) -> int:
        """How many jobs are before this one; 0 when it is running or over."""
        with self._changed:
            return self._waiting.index(job) + (self._running is not None) if job in self._waiting else 0

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._running = None
                while not self._waiting:
                    self._changed.wait()
                self._running = self._waiting.popleft()
            self._running.run()

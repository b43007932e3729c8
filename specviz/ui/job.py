"""A job of the lane, and how its visitor watches it.

The lane's thread never waits for a visitor: it posts its news into the job, and the visitor's own handler picks them
up. A job that nobody has watched for a while, or that was stopped, ends between two rounds, so a closed browser cannot
hold the lane. No Gradio here.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from specviz.errors import SpecvizError

log = logging.getLogger("specviz")

ABANDONED_AFTER = 30.0  # seconds without a look from its visitor
AGAIN_AFTER = 2.0  # seconds until a job that cannot begin is tried again, where others have something to do
LOOK_EVERY = 0.2  # seconds between two looks at a job, when it has no news

Work = Callable[["Job"], Iterator[int | None]]
"""Yields between its rounds, so that others have their turns: how many tokens the last one wrote, 0 for no round.

None before anything was done: it cannot begin yet, and is to be called anew after a while.
"""


class Job:
    """One request to run the models. `work(job)` runs in the lane's thread and posts its news: ever longer traces, ever
    fuller reports of a check, or how far a race is and then the race.
    """

    def __init__(
        self, work: Work, key: str | None = None, short: bool = False, present: Callable[[], bool] | None = None
    ) -> None:
        self.key, self.short = key, short
        self._work = work
        self._present = present
        self._turns: Iterator[int | None] | None = None
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._seen = time.monotonic()
        self._again = 0.0
        self.news: Any = None  # the latest: a Trace; of a check its Report; of a race its Progress, then the Race
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

    @property
    def begun(self) -> bool:
        """Whether it is in the middle of its work, with all that this holds."""
        return self._turns is not None

    @property
    def waits(self) -> bool:
        """Whether it could not begin a moment ago."""
        return time.monotonic() < self._again

    def look(self) -> None:
        """Its visitor is still there. Who watches looks, too."""
        if self._present is None or self._present():
            self._seen = time.monotonic()

    def post(self, news: Any) -> None:
        """Publishes a trace, or what else it is that grows, as it stands now."""
        with self._changed:
            self.news = news
            self._changed.notify_all()

    def watch(self) -> Iterator[Any]:
        """The latest news or None, at once when some come and else every LOOK_EVERY seconds; ends with the job."""
        last = None
        while True:
            with self._changed:
                if self.news is last and not self.done and not self.dropped:
                    self._changed.wait(LOOK_EVERY)
                last, done = self.news, self.done
            self.look()
            if self.dropped:
                return
            yield last
            if done:
                return

    def turn(self, count: Callable[[int], None]) -> bool:
        """A round, of a short job all of them; whether there is more to do. Failures stay in it, for its visitor.

        count   is told of each round how many tokens it wrote
        """
        try:
            if self._turns is None:
                if self.stopped:
                    return self._end()
                self._turns = self._work(self)
            for tokens in self._turns:
                if tokens is None:
                    self._turns, self._again = None, time.monotonic() + AGAIN_AFTER
                    return True
                count(tokens)
                if not self.short:
                    return True
        except SpecvizError as error:
            self.error = error
        except Exception as error:
            log.exception("a run failed")
            self.error = error
        return self._end()

    def _end(self) -> bool:
        """Lets go of the engine: what it was in the middle of, and the frames that an error remembers."""
        self._turns = None
        if self.error is not None:
            self.error = self.error.with_traceback(None)
            self.error.__cause__ = self.error.__context__ = None
        with self._changed:
            self.done = True
            self._changed.notify_all()
        return False

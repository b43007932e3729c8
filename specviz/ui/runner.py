"""Between the visitors and the models: loads pairs in the background, hands jobs to the lane, stops them.

Knows sessions only by their name, and keeps nothing of a visitor but the jobs that are open. No Gradio here, and no
torch until the first pair is wanted.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Container, Iterator
from typing import TYPE_CHECKING, Any

from specviz.config import check_choice
from specviz.errors import SpecvizError
from specviz.models.presets import CUSTOM, DEFAULT, PRESETS
from specviz.models.zero import ACTIVE, as_visitor
from specviz.trace import Trace
from specviz.ui.discretion import discreet, discretion
from specviz.ui.job import Job, Work
from specviz.ui.lane import Lane
from specviz.ui.loading import PairLoader, Progress
from specviz.ui.options import Options

if TYPE_CHECKING:
    from specviz.models.pair import Pair

STAGES = ("main", "fork", "compare")  # places of jobs whose news go to a stage; a race or a check is not among them
LOAD_TURN = 0.02  # seconds that a job waits for its models before others may have a turn


class Runner:
    """`load(pair_id, progress)` loads a pair; it is a parameter so that tests can bring a small one.

    lane     where jobs take turns
    present  whether a session's visitor is still connected; whoever serves the page may set it
    """

    def __init__(self, options: Options, load: Callable[[str, Progress], Pair] | None = None) -> None:
        self.options = options
        self.default = CUSTOM if options.target or options.draft else options.pair or DEFAULT
        load = load or self._load_pair
        self._load = discreet(load) if options.public else load
        self.lane = Lane(math.inf if ACTIVE else None)  # a GPU that is lent is not to wait for others
        self.server_lane = Lane()  # prompts for the vLLM server, one at a time: it counts all together
        self.present: Callable[[str], bool] = lambda _session: True
        self._lock = threading.Lock()
        self._loaders: dict[str, PairLoader] = {}
        self._jobs: dict[tuple[str, str], Job] = {}  # by session and place: a run and a fork do not push each other out

    def pairs(self) -> tuple[str, ...]:
        """Ids of the pairs that a visitor may choose; the first is the one the app was started with."""
        if self.options.public:
            return (self.default,)
        return (self.default, *(name for name in PRESETS if name != self.default))

    def pair_of(self, trace: Trace) -> str:
        """The pair that goes on with a trace: its own, where that is on offer."""
        return trace.models.pair if trace.models.pair in self.pairs() else self.default

    def loader(self, pair: str | None = None) -> PairLoader:
        """The loader of a pair (None: the default one). Raises SpecvizError for one that is not on offer."""
        pair = self.default if pair is None else pair
        check_choice("pair", pair, self.pairs())
        with self._lock:
            if pair not in self._loaders:
                self._loaders[pair] = PairLoader(lambda progress: self._load(pair, progress))
            return self._loaders[pair]

    def loaders(self) -> list[PairLoader]:
        """Those of all pairs that anybody has asked for."""
        with self._lock:
            return list(self._loaders.values())

    def begin(self, pair: str | None = None) -> None:
        """Starts loading a pair in the background."""
        self.loader(pair).begin()

    def close(self) -> None:
        """Ends what runs and takes nothing more."""
        self.lane.close()
        self.server_lane.close(patience=1.0)  # a server that stalls would hold it for long

    def submit(
        self,
        session: str,
        pair: str,
        make: Callable[[Pair], Trace],
        rounds: int | None = None,
        fresh: bool = True,
        place: str = "main",
    ) -> Job:
        """A job that makes a trace with `make(pair)` and runs up to `rounds` more rounds of it (None: to its end).

        The session's earlier job for the same place is dropped. `fresh`: also post the trace before its first round.
        """

        def do(job: Job, loaded: Pair) -> Iterator[int]:
            return self._run(job, loaded, make, rounds, fresh)

        return self.work(session, pair, do, place, short=rounds == 1)

    def work(
        self,
        session: str,
        pair: str | None,
        do: Callable[[Job, Any], Iterator[int]],
        place: str,
        short: bool = False,
    ) -> Job:
        """A job that does `do(job, pair)` once the pair is loaded; with None for a pair, without one.

        `do` yields as `Work` does. The session's earlier job for the same place is dropped. Raises SpecvizError when
        too many wait already; then the earlier job goes on.
        """
        loader = self.loader(pair) if pair is not None else None

        def work(job: Job) -> Iterator[int | None]:
            if loader is not None:
                busy = [other for other in self.loaders() if other is not loader and other.busy]
                if not all(other.over(LOAD_TURN) for other in busy):
                    yield None
                self._unload_others(loader)  # before this one is begun: they may not fit beside each other
                loader.begin()
                if not loader.over(LOAD_TURN):
                    yield None
            from specviz.models.memory_out import memory_explained

            with discretion(self.options.public), memory_explained():
                yield from do(job, loader.loaded() if loader is not None else None)

        return self._take(self.lane, as_visitor(work), session, place, pair, short)

    def ask(self, session: str, work: Work, place: str) -> Job:
        """A job that has the vLLM server to itself and runs no models here. Raises SpecvizError as `work` does."""
        return self._take(self.server_lane, work, session, place, short=True)

    def _take(
        self, lane: Lane, work: Work, session: str, place: str, key: str | None = None, short: bool = False
    ) -> Job:
        with self._lock:
            job = lane.submit(work, key, short, lambda: self.present(session))
            before = self._jobs.get((session, place))
            if before is not None:  # only now: where the new one is not taken, this one goes on
                before.drop()
            self._jobs = {key: job for key, job in self._jobs.items() if not job.done}
            self._jobs[session, place] = job
        return job

    def hold(self, session: str, place: str) -> Job:
        """A job that runs nothing, open until its `done` is set: for work made of several jobs, so that Stop and
        leaving reach it between two of them, too. Its owner calls `look` as long as there is a visitor.
        """
        job = Job(lambda _job: iter(()), present=lambda: self.present(session))
        with self._lock:
            self._jobs[session, place] = job
        return job

    def stop(self, session: str, places: Container[str] | None = None) -> bool:
        """Stops the session's jobs at these places, or all, after their present round. False when there are none."""
        jobs = self._open(session, places)
        for job in jobs:
            job.stop()
        return bool(jobs)

    def drop(self, session: str) -> None:
        """Ends the session's jobs for a stage, and what they still bring is not shown: another trace has come."""
        for job in self._open(session, STAGES):
            job.drop()

    def busy(self, session: str) -> bool:
        """Whether anything of the session is still waiting or running."""
        return bool(self._open(session))

    def _open(self, session: str, places: Container[str] | None = None) -> list[Job]:
        """The session's jobs that go on, at these places or (None) at any."""
        with self._lock:
            mine = [(place, job) for (name, place), job in self._jobs.items() if name == session]
        return [j for place, j in mine if not j.done and not j.dropped and (places is None or place in places)]

    def place(self, job: Job) -> int:
        """How many jobs are before this one."""
        return self.lane.place(job) or self.server_lane.place(job)

    def _run(
        self, job: Job, pair: Pair, make: Callable[[Pair], Trace], rounds: int | None, fresh: bool
    ) -> Iterator[int]:
        from specviz.models.run import advance, cancelled, with_baseline

        trace = make(pair)
        if trace.baseline_ms is None:
            trace = with_baseline(pair, trace)
        if fresh:
            job.post(trace)
        limit = self.options.max_rounds
        if limit is not None:
            left = limit - len(trace.rounds)
            if left <= 0:
                raise SpecvizError("ui.public_limit", name="rounds", limit=limit)
            rounds = left if rounds is None else min(rounds, left)
        for trace in advance(pair, trace, rounds):  # noqa: B020 each is the continuation of the one before
            job.post(trace)
            yield len(trace.rounds[-1].emitted) if trace.rounds else 0
            if job.stopped:
                job.post(cancelled(trace))
                return

    def _unload_others(self, wanted: PairLoader) -> None:
        """Machines that hold two pairs are rare: a pair makes room for the one that is wanted now."""
        for loader in self.loaders():
            if loader is not wanted:
                loader.release()

    def _load_pair(self, pair: str, progress: Progress) -> Pair:
        from specviz.models.load import load_pair

        o = self.options
        heads = o.heads if pair == self.default else None  # they fit one target only
        common = {"heads": heads, "device": o.device, "dtype": o.dtype, "progress": progress}
        if pair == CUSTOM:
            method = "draft" if o.draft else "skip"  # a target alone can still draft for itself
            return load_pair(target=o.target, draft=o.draft, method=method, **common)
        return load_pair(pair=pair, **common)

"""Between the visitors and the models: loads pairs in the background, runs one job at a time, stops jobs.

Knows sessions only by their name, and keeps nothing of a visitor but the job that is running. No Gradio here, and no
torch until the first pair is wanted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from specviz.config import short
from specviz.errors import SpecvizError
from specviz.models.presets import CUSTOM, DEFAULT, PRESETS
from specviz.trace import Trace
from specviz.ui.lane import Job, Lane
from specviz.ui.loading import PairLoader, Progress
from specviz.ui.options import Options

if TYPE_CHECKING:
    from specviz.models.load import Pair


class Runner:
    """`load(pair_id, progress)` loads a pair; it is a parameter so that tests can bring a small one."""

    def __init__(self, options: Options, load: Callable[[str, Progress], Pair] | None = None) -> None:
        self.options = options
        self.default = CUSTOM if options.target or options.draft else options.pair or DEFAULT
        self._load = load or self._load_pair
        self._lane = Lane()
        self._lock = threading.Lock()
        self._loaders: dict[str, PairLoader] = {}
        self._jobs: dict[tuple[str, str], Job] = {}  # by session and place: a run and a fork do not push each other out

    def pairs(self) -> tuple[str, ...]:
        """Ids of the pairs that a visitor may choose; the first is the one the app was started with."""
        if self.options.public:
            return (self.default,)
        return (self.default, *(name for name in PRESETS if name != self.default))

    def loader(self, pair: str | None = None) -> PairLoader:
        """The loader of a pair (None: the default one). Raises SpecvizError for one that is not on offer."""
        pair = self.default if pair is None else pair
        if pair not in self.pairs():
            raise SpecvizError("errors.choice", name="pair", value=short(pair), choices=", ".join(self.pairs()))
        with self._lock:
            if pair not in self._loaders:
                self._loaders[pair] = PairLoader(lambda progress: self._load(pair, progress))
            return self._loaders[pair]

    def begin(self, pair: str | None = None) -> None:
        """Starts loading a pair in the background."""
        self.loader(pair).begin()

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
        return self.work(session, pair, lambda job, loaded: self._run(job, loaded, make, rounds, fresh), place)

    def work(self, session: str, pair: str | None, do: Callable[[Job, Any], None], place: str) -> Job:
        """A job that does `do(job, pair)` once the pair is loaded; with None for a pair, without one.

        The session's earlier job for the same place is dropped.
        """
        loader = self.loader(pair) if pair is not None else None

        def work(job: Job) -> None:
            if loader is None:
                do(job, None)
                return
            self._unload_others(pair)  # before this one is begun: they may not fit beside each other
            loaded = loader.wait(lambda: job.stopped)
            if loaded is not None:
                do(job, loaded)

        with self._lock:
            before = self._jobs.get((session, place))
            if before is not None:
                before.drop()
            self._jobs = {key: job for key, job in self._jobs.items() if not job.done}
            job = self._jobs[session, place] = self._lane.submit(work)
        return job

    def hold(self, session: str, place: str) -> Job:
        """A job that runs nothing, open until its `done` is set: for work made of several jobs, so that Stop and
        leaving reach it between two of them, too. Its owner calls `look` as long as there is a visitor.
        """
        job = Job(lambda _job: None)
        with self._lock:
            self._jobs[session, place] = job
        return job

    def stop(self, session: str) -> bool:
        """Stops the session's jobs after their present round. False when there are none."""
        jobs = self._open(session)
        for job in jobs:
            job.stop()
        return bool(jobs)

    def drop(self, session: str) -> None:
        """Ends the session's jobs, and what they still bring is not shown: another trace has come."""
        for job in self._open(session):
            job.drop()

    def busy(self, session: str) -> bool:
        """Whether anything of the session is still waiting or running."""
        return bool(self._open(session))

    def _open(self, session: str) -> list[Job]:
        with self._lock:
            return [j for (name, _), j in self._jobs.items() if name == session and not j.done and not j.dropped]

    def place(self, job: Job) -> int:
        """How many jobs are before this one."""
        return self._lane.place(job)

    def _run(self, job: Job, pair: Pair, make: Callable[[Pair], Trace], rounds: int | None, fresh: bool) -> None:
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
            if job.stopped:
                job.post(cancelled(trace))
                return

    def _unload_others(self, pair: str) -> None:
        """Machines that hold two pairs are rare: a pair makes room for the one that is wanted now."""
        with self._lock:
            others = [loader for name, loader in self._loaders.items() if name != pair]
        for loader in others:
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

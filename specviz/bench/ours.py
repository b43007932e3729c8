"""Our own engine as a contender: plain, or with any drafter. It is run as the app runs it, without detail."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from specviz.bench.runs import Run
from specviz.config import RunConfig
from specviz.models.pair import Pair
from specviz.models.run import decoder_for, start
from specviz.trace import Prompt, Trace


class Ours:
    """`config` says who drafts and how; its length is set by each run."""

    pid = None

    def __init__(self, key: str, pair: Pair, config: RunConfig, settings: dict[str, object]) -> None:
        self.key, self.pair, self.config, self.settings = key, pair, config, settings
        self.precision = pair.dtype_name

    def open(self) -> None:
        self.begun = start(self.pair, "?", self.config)  # refuses what cannot be drafted
        self.pair.models_info(self.config.method)

    def run(self, tokens: Sequence[int], limit: int, waits: bool = False) -> Run:
        """waits: wait for the device after each stage, so that the times of the stages are true on CUDA as well.

        That slows the run a little, and the distributions are recorded; the time of recording is left out.
        """
        config = replace(self.config, max_new_tokens=limit)
        trace = Trace(config, self.begun.models, Prompt("", tuple(tokens)))
        rounds, walls, first = [], [], None
        began = time.perf_counter()
        decoder = decoder_for(self.pair, trace, detail=waits)
        while decoder.finish is None:
            lap = time.perf_counter()
            rounds.append(decoder.step())
            now = time.perf_counter()
            times = rounds[-1].times
            walls.append(times.total if waits else 1000 * (now - lap) - times.prefill)
            first = first or now - began
        written = tuple(token for r in rounds for token in r.emitted)
        count = len(rounds[0].emitted) if rounds else 0
        return Run(written, time.perf_counter() - began, first or 0.0, count, tuple(rounds), tuple(walls))

    def close(self) -> None:
        """Nothing to give back: the pair belongs to the caller."""

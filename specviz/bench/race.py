"""All contenders on all prompts, taking turns, so that what else the machine does meets them alike."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

from transformers.utils import logging

from specviz.bench.memory import PeakMeter
from specviz.bench.runs import Contender, Entrant
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.models.prepared import Progress
from specviz.models.watch import one_line

WARM_UP = 8  # tokens written
LEAD = 64  # tokens read before them: reading a long prompt takes as long as the measurement


def race(
    contenders: Sequence[Contender],
    prompts: Sequence[Sequence[int]],
    limit: int,
    repeats: int,
    progress: Progress,
    lang: str = "en",
    cuda: bool = False,
) -> tuple[list[Entrant], bool]:
    """Every contender writes `limit` tokens after each of the `prompts` (token ids), `repeats` times, greedily.

    One that fails drops out, with the reason in `lang`; the others go on. Also tells whether Ctrl-C ended it early.
    """
    lanes = [Entrant(contender) for contender in contenders]
    interrupted = False
    try:
        for i, lane in enumerate(lanes):
            progress(0.1 * i / len(lanes), "bench.opening", name=shown(lane, lang))
            _open(lane, prompts[0][-LEAD:], min(limit, WARM_UP), lang)
        turns = [(repeat, prompt) for repeat in range(repeats) for prompt in range(len(prompts))]
        for done, turn in enumerate(turns):
            for lane in _rotated(lanes, done):
                values = {"name": shown(lane, lang), "done": done + 1, "total": len(turns)}
                progress(0.1 + 0.9 * done / len(turns), "bench.turn", **values)
                _run(lane, turn, prompts[turn[1]], limit, lang, cuda)
    except KeyboardInterrupt:
        interrupted = True
    for lane in lanes:
        with contextlib.suppress(KeyboardInterrupt):
            lane.contender.close()
    return lanes, interrupted


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Other engines use what transformers is about to rename, and it does so itself: no concern of our user."""
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)


def _rotated(lanes: list[Entrant], by: int) -> list[Entrant]:
    """Nobody is always first, or always behind the same other."""
    here = by % len(lanes)
    return [*lanes[here:], *lanes[:here]]


def _open(lane: Entrant, prompt: Sequence[int], limit: int, lang: str) -> None:
    try:
        with no_warnings():
            lane.contender.open()
            lane.contender.run(prompt, limit)
    except Exception as error:  # whatever a library raises is this contender's reason, not the end of the race
        lane.reason = told(error, lang)


def _run(lane: Entrant, turn: tuple[int, int], prompt: Sequence[int], limit: int, lang: str, cuda: bool) -> None:
    if lane.reason is not None:
        return
    meter = PeakMeter(lane.contender.pid, cuda)
    try:
        meter.start()
        with no_warnings():
            run = lane.contender.run(prompt, limit)
        lane.runs[turn] = replace(run, peak=meter.stop())
    except Exception as error:  # as above
        lane.reason = told(error, lang)


def shown(lane: Entrant, lang: str) -> str:
    return t(lang, f"bench.name_{lane.key}")


def told(error: Exception, lang: str) -> str:
    """An error in a sentence."""
    if isinstance(error, SpecvizError):
        return t(lang, error.key, **error.values)
    return f"{type(error).__name__}: {one_line(error)}"

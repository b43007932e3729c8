"""What the Proof tab asks for, checked and then run: the statistical check on the toy or on the loaded pair, with the
engine as it is or with a planted fault; on the pair also the check at temperature 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specviz.config import RunConfig, check_choice, check_number, short
from specviz.coupling import FAULTS
from specviz.errors import SpecvizError
from specviz.proof import FEWEST, Identity, Report, Trial
from specviz.trace import Token

if TYPE_CHECKING:
    from specviz.models.pair import Pair

TOY, PAIR = "toy", "pair"
NO_FAULT = "none"
WORDS = 5  # of the toy
MOST_RUNS = 20_000
GREEDY_TOKENS = 24  # of each prompt at temperature 0
CACHED_RUNS = 16  # of the pair, on a real KV cache: each takes as long as many remembered ones
NEWS = 0.25  # seconds between two reports


@dataclass(frozen=True, slots=True)
class Asked:
    """A check, settled. p and q are the toy's, prompt and config the pair's."""

    where: str
    fault: str | None
    runs: int
    p: tuple[float, ...]
    q: tuple[float, ...]
    prompt: str
    config: RunConfig


def read(
    where: Any,
    fault: Any,
    runs: Any,
    p: Any,
    q: Any,
    prompt: Any,
    method: Any,
    temperature: Any,
    seed: Any,
    most: int = MOST_RUNS,
) -> Asked:
    """What arrived from the page, checked; `most`: runs. Raises SpecvizError for the first value that is wrong."""
    for name, value, choices in (("where", where, (TOY, PAIR)), ("fault", fault, (NO_FAULT, *FAULTS))):
        check_choice(name, value, choices)
    runs = int(check_number("runs", runs, int, FEWEST, most))
    planted = None if fault == NO_FAULT else fault
    if where == TOY:
        return Asked(where, planted, runs, probs("p", p), probs("q", q), "", RunConfig(seed=seed))
    if not isinstance(prompt, str):
        raise SpecvizError("ui.not_text", name="prompt", value=short(prompt))
    config = RunConfig(method, k=2, temperature=temperature, seed=seed)
    if config.temperature == 0:
        raise SpecvizError("proof.too_cold")
    if planted is not None:
        from specviz.models.faults import check_fault

        check_fault(planted, config)
    return Asked(where, planted, runs, (), (), prompt, config)


def probs(name: str, values: Any) -> tuple[float, ...]:
    """WORDS probabilities that sum to 1, to rounding. Raises SpecvizError."""
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != WORDS:
        raise SpecvizError("proof.not_probs", name=name, n=WORDS)
    numbers = [check_number(name, value, float, 0.0, 1.0) for value in values]
    whole = math.fsum(numbers)
    if abs(whole - 1) > 1e-3:
        raise SpecvizError("proof.not_probs", name=name, n=WORDS)
    return tuple(x / whole for x in numbers)


def reports(asked: Asked, pair: Pair | None, stopped: Callable[[], bool]) -> Iterator[Report]:
    """Ever fuller reports, a few each second. Stops after the round that is being computed when `stopped()`."""
    began = time.monotonic()
    report = Report(asked.where, asked.fault)
    last, told = None, 0.0
    for trial in _trial(asked, pair):
        if trial is not None:
            last = trial
            if trial.over or trial.n in trial.plan.looks or time.monotonic() - told > NEWS:
                told = time.monotonic()
                report = replace(report, trial=trial, seconds=told - began)
                yield _named(report, pair)
        if stopped():
            if last is not None:
                yield _named(replace(report, trial=replace(last, over=True)), pair)
            return
    if pair is not None:
        yield from _identity(asked, pair, report, stopped, began)


def _trial(asked: Asked, pair: Pair | None) -> Iterator[Trial | None]:
    from specviz.models.check import pair_trial
    from specviz.models.subject import toy_subject
    from specviz.models.trial import trial
    from specviz.proof import Plan

    if pair is not None:
        return pair_trial(pair, asked.config, asked.prompt, asked.runs, asked.fault, CACHED_RUNS)
    return trial(toy_subject(asked.p, asked.q, asked.config.seed), Plan(asked.runs), asked.fault)


def _identity(asked: Asked, pair: Pair, report: Report, stopped: Callable[[], bool], began: float) -> Iterator[Report]:
    from specviz.models.check import PROMPTS, greedy_outputs, identity_of

    prompts = (asked.prompt,) if asked.fault else (asked.prompt, *PROMPTS[:2])
    found: list = []
    for one in greedy_outputs(pair, asked.config, prompts, GREEDY_TOKENS, asked.fault, stopped=stopped):
        if one is not None:
            found.append(one)
            report = replace(report, identity=identity_of(found), seconds=time.monotonic() - began)
            yield _named(report, pair)
        if stopped():
            return


def _named(report: Report, pair: Pair | None) -> Report:
    """With the names of all tokens in it. The toy's are words of the screen's language."""
    if pair is None:
        return report
    ids: set[int] = set()
    if report.trial is not None:
        ids |= {cell.token for cell in report.trial.cells}
        ids |= {x for change in report.trial.changes for x in (*change.right, *change.wrong)}
    identity: Identity | None = report.identity
    if identity is not None:
        ids |= {x for one in identity.outputs for x in (*one.plain, *one.speculative)}
    known: tuple[Token, ...] = tuple(pair.codec.token(x) for x in sorted(ids))
    return replace(report, vocab=known)

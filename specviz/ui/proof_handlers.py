"""What the Proof tab does: draws for the toy, and the checks in the lane of all runs. No layout: see `proof_tab.py`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gradio as gr

from specviz.config import check_number
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.models import lab
from specviz.proof import Plan, Report, Trial
from specviz.ui.fields import sent
from specviz.ui.flow import Pulse, waiting
from specviz.ui.job import Job
from specviz.ui.message import problem
from specviz.ui.runner import Runner
from specviz.ui.settings import read_seed
from specviz.ui.step_handlers import buttons
from specviz.views import proof_chart, proof_words
from specviz.views.tokens import markup

DRAWS = 4000  # of the toy's Monte Carlo
FIGURES = 1.0  # seconds between two figures; a browser takes some of it to draw one
PLACE = "proof"  # of its jobs
Updates = tuple[Any, ...]  # of: report, verdict, figure, details, identity, Run, Stop


def draws(asked: Any) -> str:
    """The toy's draws for the p, q and seed of an event, as JSON. Raises SpecvizError for what is no distribution."""
    p, q = (lab.probs(name, sent(asked, name)) for name in ("p", "q"))
    seed = check_number("seed", sent(asked, "seed"), int, 0, 2**31)
    id = check_number("id", sent(asked, "id"), int, 0, 2**53)
    from specviz.models.toy import draw_tokens

    drawn = draw_tokens(p, q, DRAWS, int(seed))
    token = "".join(map(str, drawn.token))
    return json.dumps({"id": id, "token": token, "accepted": "".join("1" if x else "0" for x in drawn.accepted)})


def run(runner: Runner, values: Sequence[Any], session: str, spoken: Mapping[str, str]) -> Iterator[Updates]:
    """Runs a check: values are where, fault, runs, the toy's bars as JSON, prompt, method, temperature, seed.

    spoken  the language of the moment as "lang": the page may change it while the check runs
    Never raises: what goes wrong is said where the verdict stands.
    """
    try:
        asked = read(values, runner.options.max_runs)
        pair = runner.default if asked.where == lab.PAIR else None
        if pair is not None:
            runner.options.check(asked.prompt, asked.config)

        def do(job: Job, loaded: Any) -> Iterator[int]:
            for report in lab.reports(asked, loaded, lambda: job.stopped):
                job.post(report)
                yield 0

        job = runner.work(session, pair, do, PLACE)
        preparing = proof_words.verdict(Report(asked.where, asked.fault), spoken["lang"])
        yield None, preparing, *_nothing(), *buttons(True, 1)
        yield from _follow(runner, job, pair, asked, spoken)
        yield *[gr.skip()] * 5, *buttons(False, 1)
    except Exception as error:
        yield gr.skip(), problem(error, spoken["lang"]), *[gr.skip()] * 3, *buttons(False, 1)


def _follow(
    runner: Runner, job: Job, pair: str | None, asked: lab.Asked, spoken: Mapping[str, str]
) -> Iterator[Updates]:
    pulse, told, drawn = Pulse(), Report(asked.where, asked.fault), 0.0
    try:
        for report in job.watch():
            if report is None:
                status = waiting(runner, job, pair) if pair is not None else _queued(runner, job)
                if pulse.due(status):
                    yield gr.skip(), _status(status, spoken["lang"]), *[gr.skip()] * 3, *[gr.skip()] * 2
            elif report is not told:
                told = report
                verdict, figure, *more = show(report, spoken["lang"])
                if report.trial is not None and not report.trial.over and time.monotonic() - drawn < FIGURES:
                    figure = gr.skip()
                else:
                    drawn = time.monotonic()
                # said again each time: while the page is still loading, Gradio's browser side loses a first update
                held = [gr.skip()] * 2 if job.stopped else buttons(True, 1)
                yield report, verdict, figure, *more, *held
    finally:
        job.stop()  # the visitor has gone, or it is over anyway
    if job.error is not None and not job.dropped:
        raise job.error
    if told.trial is None or not told.trial.over:  # stopped before its first run, or pushed out by another check
        report = replace(told, trial=_stopped(told.trial, asked))
        yield report, *show(report, spoken["lang"]), *[gr.skip()] * 2


def _stopped(trial: Trial | None, asked: lab.Asked) -> Trial:
    if trial is None:
        plan = Plan(asked.runs)
        return Trial(plan, asked.fault, n=0, outcomes=0, accepted=0, rejected=0, alpha=None, cells=(), over=True)
    return replace(trial, over=True)


def read(values: Sequence[Any], most: int = lab.MOST_RUNS) -> lab.Asked:
    """The form, checked; `most`: how many runs there may be. Raises SpecvizError."""
    where, fault, runs, bars, prompt, method, temperature, seed = values
    p = q = None
    if where == lab.TOY:
        p, q = _bars(bars)
    return lab.read(where, fault, runs, p, q, prompt, method, temperature, read_seed(seed), most)


def _bars(text: Any) -> tuple[Any, Any]:
    try:
        found = json.loads(text) if isinstance(text, str) and len(text) < 1000 else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise SpecvizError("proof.not_probs", name="p", n=lab.WORDS)
    return found.get("p"), found.get("q")


def show(report: Report | None, lang: str) -> tuple:
    """Updates of the verdict, the figure, the details and the identity check."""
    if report is None:
        return "", *_nothing()
    figure = proof_chart.first_token(report, lang)
    return (
        proof_words.verdict(report, lang),
        gr.update(value=figure, visible=figure is not None),
        proof_words.details(report, lang),
        proof_words.identity(report, lang),
    )


def _nothing() -> tuple:
    return gr.update(visible=False), "", ""


def _queued(runner: Runner, job: Job) -> dict:
    place = runner.place(job)
    return {"kind": "queued", "n": place} if place else {"kind": "running"}


def _status(status: dict, lang: str) -> str:
    if status["kind"] == "queued":
        text = t(lang, "proof.queued", n=status["n"])
    elif status["kind"] == "loading":
        text = t(lang, status["key"], **status["values"])
    else:
        text = t(lang, "proof.preparing")
    return f'<div class="pf-verdict pf-running" role="status"><p><i aria-hidden="true">…</i> {markup(text)}</p></div>'

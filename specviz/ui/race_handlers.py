"""What the buttons of the Race tab do. Plain values in, updates of components out; the layout is in `race_tab.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from specviz.config import RunConfig, check_number
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.race import PARTS, Race, Side, result
from specviz.race_sweep import Sweep, point
from specviz.trace import Trace
from specviz.trace_json import vocab_to_json
from specviz.ui import race_runs, settings
from specviz.ui.flow import Pulse, waiting
from specviz.ui.job import Job
from specviz.ui.message import failure, message, problem
from specviz.ui.race_runs import RACE, SWEEP, Progress
from specviz.ui.runner import Runner
from specviz.ui.step_handlers import buttons
from specviz.views import race_charts, race_html, race_lists
from specviz.views.race_html import Entry

if TYPE_CHECKING:
    from specviz.models.pair import Pair

History = tuple[Entry, ...]
KEPT = 20  # races of a visitor
SWEEP_KS = tuple(range(9))
SWEEP_TEMPERATURES = (0.0, 0.5, 1.0)
SWEEP_TOKENS = 32  # of a run of a sweep, unless asked otherwise
LEAST_TOKENS = 8
PANELS = 7  # what `panels` updates
STARTERS = 3  # buttons: Race, the race where drafting pays, Sweep


def race(
    runner: Runner, values: Sequence[Any], auto: Any, history: History, session: str, spoken: Mapping[str, str]
) -> Iterator[tuple[Any, ...]]:
    """Runs both sides: updates of the track, the panels, the history, the STARTERS, Stop. Never raises.

    spoken  the language of the moment as "lang": the page may change it while the race runs
    """
    same = (gr.skip(),) * (PANELS + 1)
    try:
        wanted = settings.read(values)
        config = race_runs.drafting(wanted.config, auto is True)
        runner.options.check(wanted.prompt, config)
        yield gr.skip(), *same, *buttons(True, STARTERS)

        def work(job: Job, pair: Pair) -> Iterator[int]:
            return race_runs.race(job, pair, wanted.prompt, config)

        job = runner.work(session, wanted.pair, work, RACE)
        for status in _waited_for(runner, job, wanted.pair):
            yield status, *same, *(gr.skip(),) * (STARTERS + 1)
        if job.dropped:
            yield message(status=None), *same, *buttons(False, STARTERS)
            return
        if job.error is not None:
            raise job.error
        figures = result(job.news) if isinstance(job.news, Race) else None
        if figures is None:
            yield message(status={"kind": "stopped"}), *same, *buttons(False, STARTERS)
            return
        number = history[-1].number + 1 if history else 1
        history = remembered(history, Entry(number, job.news, figures), runner.options.kept_rounds)
        yield track(history[-1]), *panels(history, number, spoken["lang"]), history, *buttons(False, STARTERS)
    except Exception as error:
        yield message(status=failure(error)), *same, *buttons(False, STARTERS)


def _waited_for(runner: Runner, job: Job, pair: str, whole: Job | None = None) -> Iterator[dict]:
    """Messages for the track until the job is over. whole: the work that it is a part of."""
    pulse = Pulse()
    try:
        for news in job.watch():
            if whole is not None:
                whole.look()
            if isinstance(news, Progress):
                status = {"kind": "progress", "lane": news.side, "tokens": news.tokens, "limit": news.limit}
                status["ms"] = round(news.decode_ms, 3)
            elif news is None:
                status = waiting(runner, job, pair)
            else:
                continue
            if pulse.due(status):
                yield message(status=status)
    finally:
        job.stop()  # the visitor has gone, or it is over anyway


def remembered(history: History, entry: Entry, most: int) -> History:
    """The history with one more; the oldest go when there are too many, or with more than `most` rounds in all; the
    newest stays.
    """
    kept = (*history, entry)[-KEPT:]
    while len(kept) > 1 and sum(e.result.plain.rounds + e.result.fast.rounds for e in kept) > most:
        kept = kept[1:]
    return kept


def entry_of(history: History, number: Any) -> Entry | None:
    """The race with this number; None where there is none, whatever was sent."""
    return next((e for e in history if e.number == number), None)


def panels(history: History, number: Any, lang: str) -> tuple[Any, ...]:
    """Updates of: figures, time split, ladder, formula, reasons, table of the session, list to choose from."""
    shown = entry_of(history, number)
    table = race_lists.table(history, shown and shown.number, lang)
    choices = [(race_html.label(e, lang), e.number) for e in reversed(history)]
    choose = gr.update(choices=choices, value=shown and shown.number, interactive=bool(choices))
    if shown is None:
        return "", None, None, "", "", table, choose
    return (
        race_html.figures(shown, lang),
        race_charts.split(shown.result, lang),
        race_charts.ladder(shown.result, lang),
        race_html.formula(shown, lang),
        race_html.why(shown, lang),
        table,
        choose,
    )


def track(entry: Entry | None) -> dict:
    """The message that replays a race: for each side its rounds with their parts in ms and their tokens."""
    if entry is None:
        return message(race=None, status=None)
    race, r = entry.race, entry.result
    lanes = [_side(race.plain, r.plain), _side(race.fast, r.fast)]
    shown = {
        "number": entry.number,
        "method": race.fast.config.method,
        "speedup": r.speedup,
        "lanes": lanes,
        "vocab": vocab_to_json(race.plain.vocab) | vocab_to_json(race.fast.vocab),
    }
    return message(race=shown, status=None)


def _side(trace: Trace, side: Side) -> dict:
    rounds = []
    for r in trace.rounds:
        parts = [round(sum(r.times.draft), 3), *(getattr(r.times, name) for name in PARTS[1:])]
        rounds.append({"parts": parts, "tokens": list(r.emitted), "accepted": len(r.path)})
    return {"prefill": round(side.prefill_ms, 1), "rounds": rounds}


def sweep(
    runner: Runner, values: Sequence[Any], tokens: Any, session: str, spoken: Mapping[str, str]
) -> Iterator[tuple[Any, ...]]:
    """Runs all cells, each as a job of its own, so that others get their turns between: updates of the progress, the
    heat map, the sentence, the sweep itself, the STARTERS, Stop. Never raises. `spoken` as for `race`.
    """
    same = (gr.skip(),) * (STARTERS + 1)
    whole = runner.hold(session, SWEEP)
    try:
        wanted = settings.read(values)
        base = _swept_config(runner, wanted, tokens)
        done = Sweep(base.method, SWEEP_KS, SWEEP_TEMPERATURES)
        yield *swept(None, spoken["lang"]), done, *buttons(True, STARTERS)
        for n, (temperature, k) in enumerate(done.cells):
            cell = {"n": n + 1, "all": len(done.cells), "k": k, "temperature": f"{temperature:g}"}
            told = t(spoken["lang"], "race.sweep_running", **cell)
            yield race_lists.progress(told, n / len(done.cells)), gr.skip(), gr.skip(), gr.skip(), *same
            whole.look()
            if whole.stopped:
                break
            one = replace(base, k=k, temperature=temperature)
            job = runner.work(session, wanted.pair, _cell(wanted.prompt, one), RACE)
            for _ in _waited_for(runner, job, wanted.pair, whole):
                pass
            if job.error is not None:
                raise job.error
            found = point(job.news) if isinstance(job.news, Trace) else None
            if job.dropped or found is None:
                break
            done = replace(done, points=(*done.points, found))
            yield gr.skip(), *swept(done, spoken["lang"])[1:], done, *same
        yield *swept(done, spoken["lang"]), done, *buttons(False, STARTERS)
    except Exception as error:
        yield problem(error, spoken["lang"]), gr.skip(), gr.skip(), gr.skip(), *buttons(False, STARTERS)
    finally:
        whole.done = True


def _swept_config(runner: Runner, wanted: settings.Settings, tokens: Any) -> RunConfig:
    """What all cells have in common: chains of the chosen drafter."""
    limit = runner.options.sweep_tokens
    number = check_number("max_new_tokens", tokens, int, LEAST_TOKENS, limit)
    if wanted.config.method == "none":
        raise SpecvizError("race.sweep_none")
    config = replace(wanted.config, tree=(), nodes=0, max_new_tokens=number, overrides=())
    runner.options.check(wanted.prompt, config)
    return config


def _cell(prompt: str, config: RunConfig) -> Any:
    def work(job: Job, pair: Pair) -> Iterator[int]:
        run = race_runs.plain(config) if config.k == 0 else config
        trace = yield from race_runs.timed(job, pair, prompt, run, side=int(config.k > 0))
        if trace is not None:
            job.post(trace)

    return work


def swept(found: Sweep | None, lang: str) -> tuple[Any, ...]:
    """Updates of: the progress, the heat map, the sentence under it."""
    if found is None or not found.points:
        return "", gr.update(value=None, visible=False), ""
    return "", gr.update(value=race_charts.heat(found, lang), visible=True), race_lists.swept(found, lang)

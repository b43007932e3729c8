"""The Race tab: plain decoding and a drafter really run, replayed against each other and explained. Wiring only.

Prompt and settings are those of the page (see `desk.py`); which parts are on show is decided in the browser.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz.ui import race_handlers as handlers
from specviz.ui import step_handlers
from specviz.ui.desk import Desk
from specviz.ui.fields import ChoiceField, number
from specviz.ui.oneway import Receiver
from specviz.ui.page import LANE, QUIET, Page
from specviz.ui.race_runs import PLACES

ON_LOAD = "SpecvizApp.attachRace({element, props, watch});"
# where drafting pays: what comes next is in the prompt, and to look it up costs nothing
COPIED = ("prompt", "method", "k", "temperature", "tree", "nodes", "verify")
COPY = "() => [SpecvizApp.example('copy'), 'lookup', 8, 0, '', 0, 'lossless']"


class Track(Receiver):
    """Both lanes, replayed in the browser. Its value is a message, {race, status}."""

    holds = "a message as JSON: race, status"

    def __init__(self, value: dict | None = None, **options: Any) -> None:
        super().__init__(
            value,
            html_template='<div class="sr-host"></div>',
            js_on_load=ON_LOAD,
            elem_id="sv-track",
            padding=False,
            **options,
        )


def build(page: Page, desk: Desk) -> None:
    """Adds the tab to the page that is being built, and wires it."""
    labels, runner, lang = page.labels, page.runner, page.lang
    with gr.Column(elem_classes="sv-on-race", elem_id="sv-race"):
        labels.add(gr.Markdown(elem_classes="sv-note"), value="race.lead")
        with gr.Row(elem_classes="sv-race-actions"):
            go = labels.add(gr.Button(variant="primary", elem_id="sv-race-go", scale=0), value="race.go")
            copy = labels.add(gr.Button(elem_id="sv-race-copy", scale=0, min_width=220), value="race.copy")
            stop = labels.add(gr.Button(elem_id="sv-race-stop", scale=0, interactive=False), value="race.stop")
            auto = labels.add(gr.Checkbox(False, elem_id="sv-race-auto", container=False, scale=0), label="race.auto")
        track = Track()
        with gr.Column(elem_classes="sv-race-results"):
            figures, split, ladder, formula, reasons = _results(page)
            labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="race.history")
            with gr.Row(elem_classes="sv-settings"):
                choose = labels.add(ChoiceField([], elem_id="sv-race-choose", min_width=320), label="race.show")
            table = gr.HTML(padding=False, elem_id="sv-race-table")
        sweep_go, sweep_tokens, progress, heat, best = _sweep(page)
    history, swept = gr.State(()), gr.State(None)
    spoken = gr.State({})  # the language of the moment: one object of the session's, which what runs looks at
    panels = [figures, split, ladder, formula, reasons, table, choose]
    actions = [go, copy, sweep_go, stop]
    copied = [desk.fields[name] for name in COPIED]

    def on_race(request: gr.Request, auto: Any, history: Any, lang: str, spoken: dict, *values: Any) -> Iterator[tuple]:
        spoken["lang"] = lang
        yield from handlers.race(runner, values, auto, history, request.session_hash or "", spoken)

    def on_sweep(request: gr.Request, tokens: Any, lang: str, spoken: dict, *values: Any) -> Iterator[tuple]:
        spoken["lang"] = lang
        yield from handlers.sweep(runner, values, tokens, request.session_hash or "", spoken)

    def on_stop(request: gr.Request) -> Any:
        runner.stop(request.session_hash or "", PLACES)
        return gr.update(interactive=False)

    def on_choose(number: Any, history: Any, lang: str) -> tuple:
        entry = handlers.entry_of(history, number)
        return (handlers.track(entry), *handlers.panels(history, number, lang)) if entry else (gr.skip(),) * 8

    def on_language(number: Any, history: Any, found: Any, lang: str, spoken: dict) -> tuple:
        spoken["lang"] = lang
        said = (gr.skip(),) * 3 if found is None else (gr.skip(), *handlers.swept(found, lang)[1:])
        return *(handlers.panels(history, number, lang) if history else (gr.skip(),) * 7), *said

    private = {"api_visibility": "private"} | LANE
    race: tuple[Any, ...] = on_race, [auto, history, lang, spoken, *desk.controls], [track, *panels, history, *actions]
    raced = go.click(*race, **private)
    pays = copy.click(None, None, copied, js=COPY, api_visibility="private").then(*race, **private)
    sweep_out = [progress, heat, best, swept, *actions]
    ran = sweep_go.click(on_sweep, [sweep_tokens, lang, spoken, *desk.controls], sweep_out, **private)
    for one in (raced, pays, ran):  # Run and Step of the other tabs wait while anything of the visitor's runs
        one.then(step_handlers.over(runner), None, desk.actions, **QUIET)
    stop.click(on_stop, None, [stop], **QUIET)
    # not `input`, which Gradio also sends when the focus leaves the list: the replay would begin anew
    choose.select(on_choose, [choose, history, lang], [track, *panels], **QUIET)
    lang.change(on_language, [choose, history, swept, lang, spoken], [*panels, progress, heat, best], **QUIET)


def _results(page: Page) -> tuple[Any, ...]:
    """Figures, time split, ladder, formula, reasons."""
    labels = page.labels
    figures = gr.HTML(padding=False, elem_id="sv-race-figures")
    with gr.Row(elem_classes="sv-figures"):
        with gr.Column(min_width=300):
            labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="race.ladder")
            ladder = gr.Plot(show_label=False, container=False, elem_id="sv-race-ladder")
            labels.add(gr.Markdown(elem_classes="sv-note"), value="race.ladder_note")
        with gr.Column(min_width=300):
            labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="race.split")
            split = gr.Plot(show_label=False, container=False, elem_id="sv-race-split")
    with gr.Row(elem_classes="sv-figures"):
        with gr.Column(min_width=300):
            labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="race.theory")
            formula = gr.HTML(padding=False, elem_id="sv-race-formula", elem_classes="sv-told")
        with gr.Column(min_width=300):
            reasons = gr.HTML(padding=False, elem_id="sv-race-why", elem_classes="sv-told")
    return figures, split, ladder, formula, reasons


def _sweep(page: Page) -> tuple[Any, ...]:
    """Its button, the tokens of a run, the progress, the heat map, the sentence under it."""
    labels = page.labels
    labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="race.sweep")
    labels.add(gr.Markdown(elem_classes="sv-note"), value="race.sweep_note")
    with gr.Row(elem_classes="sv-settings sv-race-sweep"):
        limit = page.runner.options.sweep_tokens
        field = number(handlers.SWEEP_TOKENS, handlers.LEAST_TOKENS, limit, 1, elem_id="sv-sweep-tokens", min_width=120)
        tokens = labels.add(field, label="race.sweep_tokens")
        go = labels.add(gr.Button(size="sm", elem_id="sv-sweep-go", scale=0), value="race.sweep_go")
    progress = gr.HTML(padding=False, elem_id="sv-sweep-progress")
    heat = gr.Plot(show_label=False, container=False, visible=False, elem_id="sv-sweep-heat")
    best = gr.HTML(padding=False, elem_id="sv-sweep-best", elem_classes="sv-told")
    return go, tokens, progress, heat, best

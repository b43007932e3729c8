"""The Proof tab: two distributions that one drags, and the checks of exactness with faults to plant. Wiring, layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz.coupling import FAULTS
from specviz.errors import SpecvizError
from specviz.models.lab import NO_FAULT, PAIR, TOY
from specviz.proof import FEWEST, UNSURE
from specviz.ui import proof_handlers, step_handlers
from specviz.ui.desk import Desk
from specviz.ui.fields import ChoiceField, TextField, number
from specviz.ui.oneway import OneWay
from specviz.ui.options import DRAWING
from specviz.ui.page import LANE, QUIET, Page

# The name of the event stands in quotes for Gradio, which makes a listener of it.
ON_LOAD = "SpecvizApp.attachToy({element, props, trigger, watch}); // event: 'draw' {id, p, q, seed}"
METHODS = ("skip", "draft", "eagle", "medusa", "lookup")
# the check takes the toy's bars along, which only the browser knows
WITH_BARS = "(where, fault, runs, bars, ...rest) => [where, fault, runs, SpecvizApp.toyBars(), ...rest]"


class Toy(OneWay):
    """The toy lab, which the browser runs. Its value is the last draws as JSON."""

    holds = "draws as JSON"

    def __init__(self) -> None:
        super().__init__(
            None,
            html_template='<div class="pf-host"></div>',
            js_on_load=ON_LOAD,
            elem_id="sv-toy",
            padding=False,
        )


def build(page: Page, desk: Desk) -> None:
    """Adds the tab to the page that is being built, and wires it."""
    labels = page.labels
    with desk.strip:
        tab = labels.add(gr.Tab(id="proof", elem_id="sv-tab-proof"), label="proof.tab")
        with tab:
            labels.add(gr.Markdown(elem_classes="pf-heading"), value="proof.h_toy")
            labels.add(gr.Markdown(elem_classes="sv-note"), value="proof.toy_note")
            toy = Toy()
            labels.add(gr.Markdown(elem_classes="pf-heading"), value="proof.h_check")
            labels.add(gr.Markdown(elem_classes="sv-note"), value="proof.check_note")
            _check(page, desk)
    tab.select(None, None, None, js="() => { SpecvizApp.openTab('proof'); }")

    def on_draw(event: gr.EventData) -> Any:
        try:
            return proof_handlers.draws(event)
        except SpecvizError:  # not from our page: there is nobody to tell
            return gr.skip()

    toy.draw(
        on_draw,
        None,
        [toy],
        show_progress="hidden",
        api_visibility="private",
        concurrency_limit=DRAWING,
        trigger_mode="multiple",  # Gradio 6.31 would send the last of several with the p and q of the first
    )


def _check(page: Page, desk: Desk) -> None:
    labels, runner = page.labels, page.runner
    with gr.Row(elem_classes="pf-form"):
        where = labels.add(
            ChoiceField([TOY, PAIR], value=TOY, elem_id="sv-pf-where", min_width=190),
            label="proof.where",
            choices=[("proof.where_toy", TOY), ("proof.where_pair", PAIR)],
        )
        fault = labels.add(
            ChoiceField([NO_FAULT, *FAULTS], value=NO_FAULT, elem_id="sv-pf-fault", min_width=260),
            label="proof.fault",
            choices=[(f"proof.fault_{name}", name) for name in (NO_FAULT, *FAULTS)],
        )
        most = runner.options.max_runs
        runs = labels.add(number(2000, FEWEST, most, 100, min_width=90, elem_id="sv-pf-runs"), label="proof.runs")
        seed = labels.add(TextField("0", lines=1, max_lines=1, elem_id="sv-pf-seed", min_width=80), label="ui.seed")
        method = labels.add(
            ChoiceField(list(METHODS), value=METHODS[0], elem_id="sv-pf-method", elem_classes="pf-pair-only"),
            label="ui.method",
            choices=[(f"ui.method_{name}", name) for name in METHODS],
        )
        heat = number(1.0, 0.1, 100, 0.1, min_width=90, elem_id="sv-pf-temperature", elem_classes="pf-pair-only")
        temperature = labels.add(heat, label="ui.temperature")
        prompt = labels.add(
            TextField(UNSURE, lines=1, max_lines=1, elem_id="sv-pf-prompt", elem_classes="pf-pair-only"),
            label="proof.prompt",
        )
    with gr.Row(elem_classes="pf-actions"):
        go = labels.add(gr.Button(variant="primary", elem_id="sv-pf-run", scale=0, min_width=150), value="proof.run")
        stop = gr.Button(elem_id="sv-pf-stop", interactive=False, scale=0, min_width=90)
        labels.add(stop, value="ui.stop")
    told = gr.HTML(padding=False, elem_id="sv-pf-verdict")
    with gr.Row(elem_classes="pf-results"):
        figure = gr.Plot(show_label=False, visible=False, container=False, elem_id="sv-pf-figure")
        details = gr.HTML(padding=False, elem_id="sv-pf-details")
    identity = gr.HTML(padding=False, elem_id="sv-pf-identity")
    report, bars = gr.State(None), gr.Textbox(visible=False)
    spoken = gr.State({})  # the language of the moment: one object of the session's, which a running check looks at

    # Each parameter by its name, because this is what the API's documentation shows.
    def on_check(
        request: gr.Request, where: Any, fault: Any, runs: Any, bars: Any, prompt: Any, method: Any, temperature: Any,
        seed: Any, lang: str, spoken: dict,
    ) -> Iterator[tuple]:  # fmt: skip
        """Runs the check of exactness, with a planted fault if one is named."""
        spoken["lang"] = lang
        values = (where, fault, runs, bars, prompt, method, temperature, seed)
        yield from proof_handlers.run(runner, values, request.session_hash or "", spoken)

    def on_stop(request: gr.Request) -> Any:
        runner.stop(request.session_hash or "", {proof_handlers.PLACE})
        return gr.update(interactive=False)

    def on_language(found: Any, spoken: dict, lang: str) -> tuple:
        spoken["lang"] = lang
        return proof_handlers.show(found, lang) if found is not None else (gr.skip(),) * 4

    checked = go.click(
        on_check,
        [where, fault, runs, bars, prompt, method, temperature, seed, page.lang, spoken],
        [report, told, figure, details, identity, go, stop],
        js=WITH_BARS,
        api_name="check",
        **LANE,
    )
    # a run that ended before it has left them to it
    checked.then(step_handlers.over(runner), None, desk.actions, **QUIET)
    stop.click(on_stop, None, [stop], **QUIET)
    page.lang.change(on_language, [report, spoken, page.lang], [told, figure, details, identity], **QUIET)
    gr.on([where.change, page.demo.load], None, [where], None, js="(where) => SpecvizApp.markProof(where)")

"""The "What if?" panel under the stage: a form, the comparison in words, and a second stage with the fork."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz.trace import Trace
from specviz.ui.fields import ChoiceField, TextField, number
from specviz.ui.message import whole
from specviz.ui.page import LANE, QUIET, Page
from specviz.ui.stage import Stage
from specviz.ui.step_handlers import resync
from specviz.ui.whatif import CHANGES, fork, token_choices

FORM = "(change) => SpecvizApp.onlyOne(change, ['temperature', 'k', 'seed', 'u', 'token'], ['u', 'token'])"


def build(page: Page, stage: Stage, trace: gr.State, actions: list[gr.Button]) -> tuple[gr.State, list]:
    """Adds the panel. Returns the fork's trace and what must be emptied for another trace."""
    labels, runner = page.labels, page.runner
    with labels.add(gr.Accordion(open=False, elem_classes="sv-panel", elem_id="sv-whatif"), label="ui.whatif"):
        labels.add(gr.Markdown(elem_classes="sv-note"), value="ui.whatif_note")
        with gr.Row(elem_classes="sv-settings"):
            at = labels.add(number(1, 1, 10_000, 1, elem_id="sv-fork-round"), label="ui.from_round")
            change = labels.add(
                ChoiceField(list(CHANGES), value="temperature", elem_id="sv-fork-change"),
                label="ui.change",
                choices=[(f"ui.change_{name}", name) for name in CHANGES],
            )
            temperature = labels.add(number(1.2, 0, 100, 0.1), label="ui.new_temperature")
            k = labels.add(number(3, 0, 32, 1, visible=False), label="ui.new_k")
            seed = labels.add(TextField("7", visible=False), label="ui.new_seed")
            u = labels.add(number(0.01, 0, 1, 0.01, visible=False), label="ui.new_u")
            token = labels.add(ChoiceField(choices=[], visible=False), label="ui.new_token")
            position = labels.add(
                number(1, 1, 256, 1, visible=False, elem_id="sv-fork-position"), label="ui.at_position"
            )
            go = labels.add(gr.Button(variant="primary", elem_id="sv-fork", min_width=120), value="ui.fork")
        compared = gr.HTML(padding=False, elem_id="sv-compared")
        second = Stage(name="fork", visible=False)
    forked = gr.State(None)
    fields = [temperature, k, seed, u, token]
    change.change(None, [change], [*fields, position], js=FORM)

    # the round on the board and the selected position fill in the form, without asking the server
    stage.cursor(None, None, [at], js="() => SpecvizApp.roundOf('main')")
    stage.select(None, None, [position], js="() => SpecvizApp.positionOf('main')")

    def offer(trace: Trace | None, at: Any, position: Any) -> Any:
        choices = token_choices(trace, at, position)
        return gr.update(choices=choices, value=choices[0][1] if choices else None)

    gr.on(
        [change.change, at.change, position.change],
        offer,
        [trace, at, position],
        [token],
        trigger_mode="always_last",
        **QUIET,
    )

    def run_fork(
        request: gr.Request, trace: Trace | None, at_round: Any, change: Any, temperature: Any, k: Any, seed: Any,
        u: Any, token: Any, position: Any, lang: Any,
    ) -> Iterator[tuple]:  # fmt: skip
        """Runs again from a round on, with one thing changed: the one that `change` names."""
        values = dict(zip(CHANGES, (temperature, k, seed, u, token), strict=True))
        value = values.get(change) if isinstance(change, str) else None
        yield from fork(runner, trace, at_round, change, value, position, lang, request.session_hash or "")

    go.click(
        run_fork,
        [trace, at, change, *fields, position, page.lang],
        [second, forked, compared, *actions],
        api_name="fork",
        **LANE,
    )
    second.resync(resync, [forked], [second], **QUIET)
    return forked, [second, forked, compared]


def emptied() -> tuple:
    """Updates that take the fork away when another trace comes on the stage."""
    return gr.update(value=whole(None), visible=False), None, ""

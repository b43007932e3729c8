"""The Step tab: running, and the panels under the stage. Wiring only.

What it shares with the Tree tab is laid out in `desk.py`; what the buttons do is in `step_handlers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr

from specviz.errors import SpecvizError
from specviz.trace import Trace
from specviz.ui import detail_panel, files_panel, settings, step_handlers, whatif_panel
from specviz.ui.desk import EXAMPLES, NO_SAMPLE, Desk
from specviz.ui.message import failure, message, whole
from specviz.ui.page import LANE, QUIET, Page
from specviz.ui.runner import STAGES


def build(page: Page, desk: Desk) -> list:
    """Adds the tab's panels to the page that is being built, and wires what runs.

    Returns the parts that belong to the trace on show, with which they are emptied by `empty_panels`.
    """
    runner, lang, stage, trace = page.runner, page.lang, desk.stage, desk.trace
    prompt, sample, controls = desk.fields["prompt"], desk.sample, desk.controls
    opened = files_panel.build(page, stage, trace, controls)
    with gr.Column(elem_classes="sv-p-under sv-on-step"):
        selected, details = detail_panel.build(page, stage, trace)
        _, fork_parts = whatif_panel.build(page, stage, trace, desk.actions)

    side = [selected, *details, *fork_parts]
    outputs = [stage, trace, *desk.actions]

    def runs(one_round: bool, doc: str) -> Callable[..., Iterator[tuple]]:
        # Each parameter by its name, because this is what the API's documentation shows.
        def on_run(
            request: gr.Request, shown: Trace | None, prompt: Any, method: Any, k: Any, temperature: Any,
            seed: Any, top_k: Any, top_p: Any, min_p: Any, max_new_tokens: Any, stop: Any, chat: Any, pair: Any,
            verify: Any, tree: Any, siblings: Any, nodes: Any, branch: Any, eps: Any, delta: Any,
        ) -> Iterator[tuple]:  # fmt: skip
            values = (
                prompt, method, k, temperature, seed, top_k, top_p, min_p, max_new_tokens, stop, chat, pair,
                verify, tree, siblings, nodes, branch, eps, delta,
            )  # fmt: skip
            yield from step_handlers.run(runner, values, shown, request.session_hash or "", one_round)

        on_run.__doc__ = doc
        return on_run

    def on_stop(request: gr.Request) -> Any:
        if runner.stop(request.session_hash or "", STAGES):
            return gr.skip(), gr.skip(), gr.update(interactive=False)
        return step_handlers.buttons(busy=False)  # what ran has been lost with its connection

    inputs = [trace, *controls]
    run = runs(False, "Runs the prompt to its end.")
    step = runs(True, "Runs one more round, or the first one where the settings have changed.")
    gr.on([desk.run.click, prompt.submit], run, inputs, outputs, api_name="run", **LANE)
    desk.step.click(step, inputs, outputs, api_name="step", **LANE)
    desk.stop.click(on_stop, None, desk.actions, queue=False, show_progress="hidden", api_name="stop")
    opened.then(empty_panels, None, side, **QUIET)
    sample.select(empty_panels, None, side, **QUIET)
    opened.then(lambda: NO_SAMPLE, None, [sample], **QUIET)

    # another trace comes: what belonged to the last one goes, and the stage shows no recorded run any more
    def on_new(*values: Any) -> tuple:
        return (NO_SAMPLE, *empty_panels()) if readable(values) else (gr.skip(),) * (1 + len(side))

    def on_new_by_step(shown: Trace | None, *values: Any) -> tuple:
        new = readable(values) and not (shown and step_handlers.continues(shown, settings.read(values)))
        return (NO_SAMPLE, *empty_panels()) if new else (gr.skip(),) * (1 + len(side))

    gr.on([desk.run.click, prompt.submit], on_new, controls, [sample, *side], **QUIET)
    desk.step.click(on_new_by_step, [trace, *controls], [sample, *side], **QUIET)

    def on_leave(request: gr.Request) -> None:
        runner.stop(request.session_hash or "")

    page.demo.unload(on_leave)

    def on_sample(name: Any, request: gr.Request) -> tuple:
        runner.drop(request.session_hash or "")
        return step_handlers.choose(name, runner) if name != NO_SAMPLE else (gr.skip(),) * (2 + len(controls))

    # not `input`, which Gradio also sends when the focus leaves the list
    sample.select(
        on_sample, [sample], [stage, trace, *controls], queue=False, show_progress="hidden", api_name="bundled_run"
    )
    stage.resync(step_handlers.resync, [trace], [stage], **QUIET)
    for chip, example in zip(desk.chips, EXAMPLES, strict=True):
        chip.click(None, None, [prompt], js=f"() => SpecvizApp.example('{example}')")
    note, pair = "(...values) => SpecvizApp.notes(...values)", desk.fields["pair"]
    gr.on([prompt.change, pair.change, lang.change], None, [prompt, pair], [desk.notes], js=note)
    _watch_loading(page, pair, page.state)
    _open_link(page, [stage, trace, sample], controls)
    return side


def empty_panels() -> tuple:
    """Updates of what belongs to the trace on show, when another one comes."""
    return None, *detail_panel.figures(None, None, "en"), *whatif_panel.emptied()


def readable(values: Sequence[Any]) -> bool:
    """Whether these settings can be run; the run itself says what is wrong with them."""
    try:
        settings.read(values)
    except SpecvizError:
        return False
    return True


def _watch_loading(page: Page, pair: gr.Dropdown, line: gr.HTML) -> None:
    """The line that says which models there are, or how far their loading is."""
    runner, lang = page.runner, page.lang
    timer = gr.Timer(1.0)

    def look(pair: Any, lang: str) -> tuple:
        html, ready = step_handlers.pair_state(runner, pair, lang)
        return html, gr.Timer(active=not ready)

    gr.on([timer.tick, page.demo.load, lang.change, pair.change], look, [pair, lang], [line, timer], **QUIET)


def _open_link(page: Page, shown: list, controls: list) -> None:
    """A run that was interrupted comes back. Else settings in the address of the page fill in the controls, and the
    stage waits for Run.
    """
    defaults = [c.value for c in controls]
    kept = gr.Textbox(visible=False)

    def on_load(kept: Any, request: gr.Request) -> tuple:
        query = dict(request.query_params)
        try:
            if kept:
                stage, trace, *filled = files_panel.resumed(kept, page.runner)
                return stage, trace, NO_SAMPLE, *filled
            base = settings.read(defaults)
            read = settings.from_link(query, base)
            page.runner.loader(read.pair)
            stays = [gr.skip()] * len(shown) if read == base else [whole(None), None, NO_SAMPLE]
            return *stays, *(gr.skip() if a == b else a for a, b in zip(read.values(), base.values(), strict=True))
        except Exception as error:
            return message(status=failure(error)), *[gr.skip()] * (len(shown) - 1 + len(controls))

    page.demo.load(on_load, [kept], [*shown, *controls], js="() => SpecvizApp.interrupted()", **QUIET)

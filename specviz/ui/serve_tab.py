"""The Serve tab: the settings of the moment for vLLM, old calls brought up to date, a running server beside us.

Wiring and layout. The settings are those of the page (see `desk.py`); while another tab is open, the server is asked
for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz.i18n import LANGUAGES, t
from specviz.serving.known import SERVED
from specviz.serving.versions import NEWEST, OFFERED
from specviz.trace import Trace
from specviz.ui import serve_handlers
from specviz.ui.desk import Desk
from specviz.ui.fields import ChoiceField, TextField, number
from specviz.ui.page import LANE, QUIET, Page

OLD_CALL = """LLM(
    model="facebook/opt-6.7b",
    speculative_model="facebook/opt-125m",
    num_speculative_tokens=5,
    use_v2_block_manager=True,
)"""
OPEN = "(open, ...rest) => [SpecvizApp.currentTab(), ...rest]"


def build(page: Page, desk: Desk) -> None:
    """Adds the tab to the page that is being built, and wires it."""
    labels = page.labels
    with gr.Column(elem_classes="sv-on-serve", elem_id="sv-serve"):
        labels.add(gr.Markdown(elem_classes="sv-note"), value="serve.tab_note")
        version = _settings(page, desk)
        _translator(page, version)
        if page.runner.options.vllm_url is not None:
            _comparison(page, desk)


def _settings(page: Page, desk: Desk) -> gr.Dropdown:
    labels, runner = page.labels, page.runner
    with gr.Row(elem_classes="sv-settings sv-serve-choices"):
        version = labels.add(
            ChoiceField(
                [str(v) for v in OFFERED], value=str(NEWEST), elem_id="sv-vllm-version", min_width=110, scale=0
            ),
            label="serve.version",
        )
        models = labels.add(
            ChoiceField([serve_handlers.PAGE, *SERVED], value=serve_handlers.PAGE, elem_id="sv-vllm-models", scale=3),
            label="serve.models",
            choices=[(_of_page(runner.default), serve_handlers.PAGE), *((_named(p), p) for p in SERVED)],
        )
        gpus = labels.add(number(1, 1, 64, 1, elem_id="sv-vllm-gpus", min_width=150, scale=0), label="serve.gpus")
    with gr.Row(elem_classes="sv-serve-blocks"):
        with gr.Column(min_width=300, scale=5):
            python = _block(page, "python")
        with gr.Column(min_width=300, scale=4):
            command = _block(page, "command")
            json = _block(page, "json")
    labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="serve.carries")
    notes = gr.HTML(padding=False, elem_id="sv-vllm-notes")
    models.select(serve_handlers.gpus_of, [models], [gpus], **QUIET)

    def on_change(tab: Any, lang: str, version: Any, models: Any, gpus: Any, *values: Any) -> tuple:
        if tab != "serve":
            return (gr.skip(),) * 4
        return serve_handlers.written(runner, lang, version, models, gpus, values)

    open_tab = gr.Textbox(visible=False)
    inputs = [page.lang, version, models, gpus, *desk.controls]
    gr.on(
        [desk.tabs["serve"].select, page.demo.load, *(one.change for one in inputs)],
        on_change,
        [open_tab, *inputs],
        [python, command, json, notes],
        js=OPEN,
        trigger_mode="always_last",
        **QUIET,
    )
    return version


def _block(page: Page, name: str) -> gr.HTML:
    """Code under a heading, with a button that copies it."""
    with gr.Row(elem_classes="sv-code-head"):
        page.labels.add(gr.Markdown(elem_classes="sv-p-heading"), value=f"serve.{name}")
        copy = page.labels.add(gr.Button(size="sm", scale=0, min_width=60), value="serve.copy")
    block = gr.HTML(padding=False, elem_id=f"sv-vllm-{name}")
    copied = copy.click(None, None, [copy], js=f"() => SpecvizApp.copyCode('sv-vllm-{name}')")
    copied.then(None, None, [copy], js="() => SpecvizApp.copyAgain()")
    return block


def _translator(page: Page, version: gr.Dropdown) -> None:
    labels = page.labels
    labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="serve.translator")
    labels.add(gr.Markdown(elem_classes="sv-note"), value="serve.translator_note")
    with gr.Row(elem_classes="sv-serve-blocks"):
        with gr.Column(min_width=300):
            old = labels.add(TextField(OLD_CALL, lines=8, max_lines=16, elem_id="sv-old-call"), label="serve.old_code")
            go = labels.add(gr.Button(size="sm", elem_id="sv-translate"), value="serve.translate")
        with gr.Column(min_width=300):
            code = _block(page, "new_code")
    told = gr.HTML(padding=False, elem_id="sv-vllm-changes")
    once = gr.State(False)  # whether the visitor has asked: then another language or version asks again

    def on_translate(text: Any, version: Any, lang: str) -> tuple:
        return *serve_handlers.translated(text, version, lang), True

    def on_other(asked: bool, text: Any, version: Any, lang: str) -> tuple:
        return serve_handlers.translated(text, version, lang) if asked else (gr.skip(), gr.skip())

    go.click(on_translate, [old, version, page.lang], [code, told, once], api_name="translate_vllm", queue=False)
    gr.on([page.lang.change, version.change], on_other, [once, old, version, page.lang], [code, told], **QUIET)


def _comparison(page: Page, desk: Desk) -> None:
    labels, runner = page.labels, page.runner
    labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="serve.compare")
    labels.add(gr.Markdown(elem_classes="sv-note"), value="serve.compare_note")
    with gr.Row(elem_classes="sv-files"):
        go = labels.add(gr.Button(size="sm", elem_id="sv-ask-server"), value="serve.compare_button")
        stop = gr.Button(size="sm", elem_id="sv-ask-stop", interactive=False, scale=0, min_width=90)
        labels.add(stop, value="ui.stop")
    table = gr.HTML(padding=False, elem_id="sv-vllm-beside")

    def on_compare(trace: Trace | None, lang: str, request: gr.Request) -> Iterator[tuple]:
        yield from serve_handlers.compare(runner, trace, request.session_hash or "", lang)

    def on_stop(request: gr.Request) -> None:
        runner.stop(request.session_hash or "", {serve_handlers.PLACE})

    go.click(on_compare, [desk.trace, page.lang], [table, go, stop], api_visibility="private", **LANE)
    stop.click(on_stop, None, None, **QUIET)


def _of_page(pair: str) -> dict[str, str]:
    return {lang: t(lang, "serve.models_page", pair=pair) for lang in LANGUAGES}


def _named(name: str) -> dict[str, str]:
    p = SERVED[name]
    words = {"target": p.target.rpartition("/")[2], "draft": p.draft.rpartition("/")[2], "memory": p.memory_gb}
    return {lang: t(lang, "serve.models_pair", **words) for lang in LANGUAGES}

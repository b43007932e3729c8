"""Taking a run away and bringing one in: the trace as a file, the settings as a link."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import gradio as gr

from specviz.errors import SpecvizError
from specviz.export import trace_page
from specviz.trace import Trace
from specviz.trace_json import dump_trace, load_trace
from specviz.ui import settings
from specviz.ui.message import failure, message, whole, worded
from specviz.ui.page import Page
from specviz.ui.runner import Runner
from specviz.ui.stage import Stage
from specviz.ui.step_handlers import show


def build(page: Page, stage: Stage, trace: gr.State, controls: Sequence[Any]) -> gr.events.Dependency:
    """Adds the row of four buttons. Returns the import event, after which other parts empty themselves."""
    labels, runner = page.labels, page.runner
    with gr.Row(elem_classes="sv-files"):
        save = labels.add(gr.Button(size="sm", elem_id="sv-save"), value="ui.save")
        page_ = labels.add(gr.Button(size="sm", elem_id="sv-save-page"), value="handout.save_page")
        open_ = labels.add(
            gr.UploadButton(size="sm", file_types=[".json"], type="filepath", elem_id="sv-open"), label="ui.open"
        )
        link = labels.add(gr.Button(size="sm", elem_id="sv-link"), value="ui.copy_link")
    written = gr.Textbox(visible=False)
    address = labels.add(gr.Textbox(visible=False, interactive=True, elem_id="sv-address"), label="ui.address")

    save.click(export, [trace], [written, stage], queue=False, api_name="export").then(
        None, [written], None, js="(text) => SpecvizApp.download(text, 'json')"
    )
    page_.click(export_page, [trace, page.lang], [written, stage], queue=False, api_name="export_page").then(
        None, [written], None, js="(text) => SpecvizApp.download(text, 'html')"
    )

    def open_file(path: Any, request: gr.Request) -> tuple:
        runner.drop(request.session_hash or "")
        return read(path, runner)

    opened = open_.upload(open_file, [open_], [stage, trace, *controls], queue=False, api_name="open_trace")
    link.click(
        None,
        [*controls, page.lang],
        [address],
        js=f"(...values) => SpecvizApp.copyLink({list(settings.FIELDS)}, {settings.MAX_LINK}, values)",
    )
    return opened


def export(trace: Trace | None) -> tuple:
    """(the trace's JSON, a message to the stage)."""
    if trace is None:
        return "", message(status=failure(SpecvizError("ui.nothing_to_save")))
    return dump_trace(trace), gr.skip()


def resumed(text: Any, runner: Runner) -> tuple:
    """A run that was interrupted, as the browser has kept it, on the stage again, at its last round."""
    trace = _checked(text.encode("utf-8", "replace") if isinstance(text, str) else b"", runner)
    n = len(trace.rounds)
    status = worded("empty", "ui.resumed", {"n": n}, title="ui.resumed_title")
    _, _, *controls = show(trace, runner)
    return whole(trace, play=False, at=max(0, n - 1), status=status), trace, *controls


def _checked(data: bytes, runner: Runner) -> Trace:
    """A trace from outside. Raises SpecvizError."""
    limit = runner.options.max_trace_bytes
    if len(data) > limit:
        raise SpecvizError("errors.trace_size", size=len(data), limit=limit)
    trace = load_trace(data)
    runner.options.check_trace(trace)
    return trace


def export_page(trace: Trace | None, lang: str) -> tuple:
    """(a page that plays the trace without this app, a message to the stage)."""
    if trace is None:
        return "", message(status=failure(SpecvizError("ui.nothing_to_save")))
    return trace_page(trace, lang).html, gr.skip()


def read(path: Any, runner: Runner) -> tuple:
    """The trace in a file, on the stage, with its settings; or what is wrong with the file, and nothing changes."""
    try:
        if not isinstance(path, str):
            raise SpecvizError("ui.no_file")
        size = os.path.getsize(path)
        limit = runner.options.max_trace_bytes
        if size > limit:
            raise SpecvizError("errors.trace_size", size=size, limit=limit)
        with open(path, "rb") as file:
            return show(_checked(file.read(), runner), runner)
    except Exception as error:
        return message(status=failure(error)), gr.skip(), *[gr.skip()] * len(settings.FIELDS)

"""The stage as a Gradio component: Python sends messages, the browser keeps the trace and draws."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

# The names of the events stand in quotes for Gradio, which makes listeners of them.
ON_LOAD = """
SpecvizApp.attach({element, props, trigger, watch}, NAME);
// events: 'select' {round, position}; 'cursor' {round} when the round on the board has changed;
// 'resync' when a message did not fit to the trace in the browser
"""


class Stage(gr.HTML):
    """Its value is a message (see `specviz.ui.message`), to be understood as an instruction and not as a state.

    name   unique on the page; what the browser keeps of a stage, it keeps under this name, also when Gradio mounts
           the component anew
    """

    def __init__(self, value: dict | None = None, *, name: str = "main", **options: Any) -> None:
        super().__init__(
            value,
            html_template='<div class="sv-host"></div>',
            js_on_load=ON_LOAD.replace("NAME", repr(name)),
            elem_id=f"sv-stage-{name}",
            elem_classes="sv-stage",
            padding=False,
            **options,
        )
        self.name = name

    def postprocess(self, value: dict | None) -> str | None:
        """A message on its way to the browser, as one text.

        Not as nested lists: between two yields Gradio 6.31 sends differences, and its browser side applies those of
        shrinking nested lists wrongly, so that numbers of the round before would stay on the screen.
        """
        return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def preprocess(self, payload: dict | None) -> dict | None:
        """Nothing is ever read back from it."""
        return None

    def api_info(self) -> dict[str, Any]:
        """Shown in the API's documentation."""
        return {"type": "string", "description": "a message as JSON: trace, append, status"}

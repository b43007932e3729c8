"""The stage as a Gradio component: Python sends messages, the browser keeps the trace and draws."""

from __future__ import annotations

from typing import Any

from specviz.ui.oneway import Receiver

# The names of the events stand in quotes for Gradio, which makes listeners of them.
ON_LOAD = """
SpecvizApp.attach({element, props, trigger, watch}, NAME);
// events: 'select' {round, position}; 'cursor' {round} when the round on the board has changed;
// 'resync' when a message did not fit to the trace in the browser
"""


class Stage(Receiver):
    """Its value is a message (see `specviz.ui.message`), to be understood as an instruction and not as a state.

    name   unique on the page; what the browser keeps of a stage, it keeps under this name, also when Gradio mounts
           the component anew
    """

    holds = "a message as JSON: trace, append, status"

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

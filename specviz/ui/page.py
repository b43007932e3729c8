"""What the parts of the page share while it is being built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import gradio as gr

from specviz.ui.labels import Labels
from specviz.ui.runner import Runner

# Options of an event: answered at once, without a sign of it; taking its turn with all that runs models.
QUIET: Final[dict[str, Any]] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
LANE: Final[dict[str, Any]] = {"show_progress": "hidden", "concurrency_id": "lane", "concurrency_limit": None}


@dataclass(frozen=True, slots=True)
class Page:
    """A tab is a module with `build(page)`; it adds its components and wires them.

    lang   the language switch; handlers take its value as an input
    state  the line in the header that says how far the models' loading is
    """

    demo: gr.Blocks
    runner: Runner
    labels: Labels
    lang: gr.Radio
    state: gr.HTML

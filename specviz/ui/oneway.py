"""Components that Python fills and the browser draws: nothing is ever read back from them."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr


class OneWay(gr.HTML):
    """holds: what its value is, for the API's documentation."""

    holds = ""

    def preprocess(self, payload: Any) -> None:
        """Nothing is ever read back from it."""

    def api_info(self) -> dict[str, Any]:
        """Shown in the API's documentation."""
        return {"type": "string", "description": self.holds}


class Receiver(OneWay):
    """Its value is a message, a dict or None, to be understood as an instruction and not as a state."""

    def postprocess(self, value: dict | None) -> str | None:
        """A message on its way to the browser, as one text.

        Not as nested lists: between two yields Gradio 6.31 sends differences, and its browser side applies those of
        shrinking nested lists wrongly, so that numbers of the round before would stay on the screen.
        """
        return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

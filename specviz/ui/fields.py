"""Inputs that hand on what they get: what a number may be is decided in one place, `RunConfig`, and said there."""

from __future__ import annotations

from typing import Any

import gradio as gr


class NumberField(gr.Number):
    """A number field whose limits are hints for the browser."""

    is_template = True  # drawn by its parent's script

    def preprocess(self, payload: Any) -> Any:
        """Unchecked, as it came."""
        return payload


class ChoiceField(gr.Dropdown):
    """A list of choices; other values are refused by the handlers, in words."""

    is_template = True  # drawn by its parent's script

    def preprocess(self, payload: Any) -> Any:
        """Unchecked, as it came."""
        return payload


class TextField(gr.Textbox):
    """A text field; a value that is no text is refused by the handlers."""

    is_template = True  # drawn by its parent's script

    def preprocess(self, payload: Any) -> Any:
        """Unchecked, as it came."""
        return payload


def number(value: float, low: float, high: float, step: float, **options: Any) -> NumberField:
    """A number field from `low` to `high`."""
    return NumberField(value, minimum=low, maximum=high, step=step, **options)

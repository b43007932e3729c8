"""Inputs that hand on what they get: what a number may be is decided in one place, `RunConfig`, and said there.

Only the language is put right here, for what is wrong is said in it.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from specviz.i18n import pick_language


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


class LanguageField(gr.Radio):
    """The language switch. Whatever is sent in, by a script for example, handlers get a language that there is."""

    is_template = True  # drawn by its parent's script

    def preprocess(self, payload: Any) -> str:
        """The nearest language."""
        return pick_language(payload)


def sent(event: gr.EventData, name: str) -> Any:
    """What an event brings along under this name, unchecked; None where there is no such thing, whatever was sent."""
    try:
        return getattr(event, name, None)
    except TypeError:  # what was sent is no dict
        return None


def number(value: float, low: float, high: float, step: float, **options: Any) -> NumberField:
    """A number field from `low` to `high`."""
    return NumberField(value, minimum=low, maximum=high, step=step, **options)

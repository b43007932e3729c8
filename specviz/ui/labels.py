"""The words of the page's components, in one table: each language switch is this table read in another language.

The table goes to the browser once, so that the page opens in the visitor's language, and switching asks no server and
waits in no queue.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from specviz.bundle import script_json
from specviz.i18n import LANGUAGES, strings

Choice = tuple[str | dict[str, str], Any]  # (key, or a text per language; value)


class Labels:
    """Collects components with the keys of their words."""

    def __init__(self) -> None:
        self.components: list[gr.components.Component] = []
        self._rows: list[dict] = []

    def add(self, component: Any, choices: list[Choice] | None = None, **keys: str) -> Any:
        """The component, to be relabelled by `keys`: property -> key of a text. Sets the English words at once."""
        row: dict[str, Any] = dict(keys)
        for name, key in keys.items():
            setattr(component, name, strings("en")[key])
        if choices is not None:
            row["choices"] = [[text, value] for text, value in choices]
            component.choices = [(self._english(text), value) for text, value in choices]
        self.components.append(component)
        self._rows.append(row)
        return component

    def texts(self, lang: str) -> list[dict]:
        """What `relabel` will show, for tests: one dict of properties a component."""
        words = strings(lang)
        return [
            {
                name: [[words[t] if isinstance(t, str) else t[lang], v] for t, v in key]
                if name == "choices"
                else words[key]
                for name, key in row.items()
            }
            for row in self._rows
        ]

    def script(self) -> str:
        """JavaScript for the page's head: the whole table."""
        for lang in LANGUAGES:
            self.texts(lang)  # a missing key is found here and not on a visitor's screen
        rows = [[one._id, row] for one, row in zip(self.components, self._rows, strict=True)]
        return f"SpecvizApp.openWith({script_json(rows)});"

    @staticmethod
    def _english(text: str | dict[str, str]) -> str:
        return strings("en")[text] if isinstance(text, str) else text["en"]

"""Sentences that travel as keys, so that the screen can say them in the visitor's language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from specviz.i18n import t


@dataclass(frozen=True, slots=True)
class Note:
    """A key of the locale files and what its placeholders stand for."""

    key: str
    values: dict[str, object] = field(default_factory=dict)

    def text(self, lang: str) -> str:
        """The sentence in a language."""
        return t(lang, self.key, **self.values)


def note(name: str, /, **values: object) -> Note:
    """A sentence of `serve.json`."""
    return Note(f"serve.{name}", values)


def texts(notes: Iterable[Note], lang: str) -> list[str]:
    """The sentences, each once."""
    return list(dict.fromkeys(n.text(lang) for n in notes))

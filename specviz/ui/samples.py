"""The bundled runs: real traces that play before any model is loaded."""

from __future__ import annotations

from specviz.i18n import ASSETS
from specviz.lessons.records import recorded as sample

FIRST = "sky"  # the one that a new visitor sees
__all__ = ["FIRST", "names", "sample"]


def names() -> tuple[str, ...]:
    """Names of the bundled traces; the first one is shown first."""
    found = [file.stem for file in (ASSETS / "traces").glob("*.json")]
    return tuple(sorted(found, key=lambda name: (name != FIRST, name)))

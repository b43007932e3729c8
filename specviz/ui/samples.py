"""The bundled runs: real traces that play before any model is loaded."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from specviz.i18n import ASSETS
from specviz.trace import Trace
from specviz.trace_json import load_trace

FOLDER = ASSETS / "traces"
FIRST = "sky"  # the one that a new visitor sees


def names() -> tuple[str, ...]:
    """Names of the bundled traces; the first one is shown first."""
    found = [file.stem for file in Path(FOLDER).glob("*.json")]
    return tuple(sorted(found, key=lambda name: (name != FIRST, name)))


@cache
def sample(name: str) -> Trace:
    """The bundled trace of that name, which must be one of `names()`."""
    if name not in names():
        raise KeyError(name)
    return load_trace((FOLDER / f"{name}.json").read_bytes())

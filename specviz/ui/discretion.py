"""What strangers are told: the reason, but not where things lie on this machine. No Gradio here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePath, PureWindowsPath
from typing import Any

from specviz.errors import SpecvizError

PLACE = re.compile(r"(?<![\w:/\\.~-])(?:~|[A-Za-z]:(?=\\))?(?:[/\\][^\s/\\'\":;,()<>|]+)+[/\\]?")


def unlocated(text: str) -> str:
    """`text` with the last part of each absolute path in it instead of the whole."""
    whole = text.strip()
    if PurePath(whole).is_absolute() or PureWindowsPath(whole).is_absolute() or whole.startswith("~"):
        return _last(whole)  # it may have spaces in it
    return PLACE.sub(lambda found: _last(found[0]), text)


def _last(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1].lstrip("~") or "…"


def told(values: Mapping[str, Any]) -> dict[str, Any]:
    """What is filled into a sentence, without places."""
    return {name: unlocated(value) if isinstance(value, str) else value for name, value in values.items()}


@contextmanager
def discretion(public: bool) -> Iterator[None]:
    """On a public page, foreseen failures leave without places."""
    try:
        yield
    except SpecvizError as error:
        if not public:
            raise
        raise SpecvizError(error.key, **told(error.values)) from error


def discreet(load: Callable[..., Any]) -> Callable[..., Any]:
    """`load(pair, progress)`, whose progress and failures name no places."""

    def quiet(pair: str, progress: Callable[..., None]) -> Any:
        with discretion(True):
            return load(pair, lambda fraction, key, **values: progress(fraction, key, **told(values)))

    return quiet

"""Runs a download and tells how far it has come, by looking at how the files grow.

That works for any downloader: those of pip and of the hub's client show their own progress on a terminal only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from specviz.models.prepared import Progress

Result = TypeVar("Result")


def watched(work: Callable[[], Result], folder: Path, total: int, progress: Progress, source: str, name: str) -> Result:
    """Runs `work` and reports how far `folder` has grown towards `total` bytes (0 to .9 of the whole preparation)."""
    results: list[Result] = []
    raised: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # handed to the caller below
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)
        size = min(_size_of(folder), total)
        values = {"source": source, "model": name, "done": round(size / 1e6), "total": round(total / 1e6)}
        progress(0.9 * size / max(total, 1), "models.downloading", **values)
    if raised:
        raise raised[0]
    return results[0]


def _size_of(folder: Path) -> int:
    size = 0
    for file in folder.rglob("*"):
        try:
            size += file.stat().st_size if file.is_file() and not file.is_symlink() else 0
        except FileNotFoundError:  # renamed while we looked
            continue
    return size


def one_line(error: Exception) -> str:
    """What went wrong, short enough for a sentence."""
    first, *rest = f"{type(error).__name__}: {error}".splitlines()
    if first.endswith(":") and rest:  # torch names the tensors that do not fit on the lines after
        first += f" {rest[0].strip()}"
    return first[:300]

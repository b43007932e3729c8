"""The file that holds the evaluations of several drafters beside each other: method -> what `evaluate` returned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from specviz.errors import SpecvizError
from specviz.training.files import explained
from specviz.training.report import write_report

PATIENCE = 60  # seconds for another evaluation to write its figures, which takes it none


def check(path: Path) -> None:
    """Makes the folder. Raises SpecvizError where figures cannot be put into the file: known before they are made."""
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with held(path):
        evaluations(path)


def record(path: Path, method: str, figures: dict) -> None:
    """Puts the figures of a method beside those of others, which may have come meanwhile."""
    with held(path):
        write_report(path, evaluations(path) | {method: figures})


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Holds the file against other processes."""
    lock = path.with_name(f".{path.name}.lock")
    with explained(path):
        lock.touch()  # where nothing can be written FileLock would wait
        with FileLock(lock, timeout=PATIENCE):
            yield


def evaluations(path: Path) -> dict:
    """What the file holds; nothing where there is none. Raises SpecvizError("train.other_file") for other content."""
    if not path.exists():
        return {}
    if not path.is_file():
        raise SpecvizError("train.other_file", path=str(path))
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise SpecvizError("train.other_file", path=str(path)) from error
    if not isinstance(found, dict) or not all(
        name == "revision" or (isinstance(value, dict) and "temperatures" in value) for name, value in found.items()
    ):
        raise SpecvizError("train.other_file", path=str(path))
    return found

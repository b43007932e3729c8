"""The files of corpora and trainings: each is whole or not there, one run at a time works in a folder, and what cannot
be read or written is one sentence that names the file and says what to do.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from safetensors import SafetensorError

from specviz.errors import SpecvizError
from specviz.models.prepared import put_whole
from specviz.models.watch import one_line

LOCK = ".lock"
# what the libraries raise on a file that holds something else (bad JSON and bad UTF-8 are ValueErrors)
DAMAGED = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    RuntimeError,
    EOFError,
    SafetensorError,
    pickle.UnpicklingError,
)


@contextmanager
def explained(path: Path | None = None) -> Iterator[None]:
    """Turns what the system says about a file or a folder into one sentence; `path` where it does not say which."""
    try:
        yield
    except BrokenPipeError:  # nobody reads what we say: no matter of files
        raise
    except OSError as error:
        where, reason = error.filename or path or "?", error.strerror or one_line(error)
        raise SpecvizError("train.files", path=str(where), reason=reason) from error


@contextmanager
def reading(path: Path, key: str = "train.damaged") -> Iterator[None]:
    """Around reading `path`: where it is damaged, SpecvizError(key)."""
    try:
        with explained(path):
            yield
    except DAMAGED as error:
        raise SpecvizError(key, path=str(path), reason=one_line(error)) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Around writing `path`. torch and safetensors tell of a full disk in their own ways."""
    try:
        with explained(path):
            yield
    except (RuntimeError, SafetensorError) as error:
        raise SpecvizError("train.files", path=str(path), reason=one_line(error)) from error


def put(path: Path, write: Callable[[Path], object]) -> None:
    """`put_whole`; what hinders it is told in a sentence."""
    with writing(path):
        put_whole(path, write)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Makes `folder` and holds it. The system frees it when its holder dies, so a killed run blocks nobody."""
    with explained():
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise SpecvizError("train.taken", path=str(folder)) from error
    try:
        yield
    finally:
        lock.release()

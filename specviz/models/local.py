"""Files and folders of this machine by the name that a person gave, which may be anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def local_file(name: str) -> Path | None:
    """The file of that name, if there is one."""
    return _existing(name, Path.is_file)


def local_folder(name: str) -> Path | None:
    """The folder of that name, if there is one."""
    return _existing(name, Path.is_dir)


def _existing(name: str, exists: Callable[[Path], bool]) -> Path | None:
    try:
        path = Path(name).expanduser()
        return path if name and exists(path) else None
    except (OSError, RuntimeError):  # longer than a name can be; in a closed folder; ~nobody, who has no home
        return None

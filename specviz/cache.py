"""Where specviz keeps what it has fetched, made or measured."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from platformdirs import user_cache_path


def cache_dir() -> Path:
    """$SPECVIZ_CACHE, else the user's cache directory (~/.cache/specviz on Linux).

    In a container the home folder may be closed to us: then beside the models of the hub's client ($HF_HOME), and where
    that is closed, too, among the temporary files.
    """
    chosen = os.environ.get("SPECVIZ_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    usual = user_cache_path("specviz", appauthor=False)
    hub = os.environ.get("HF_HOME")
    places = [usual, *([Path(hub).resolve() / "specviz"] if hub else [])]
    return next((place for place in places if place.is_absolute() and can_write(place)), None) or _temporary() or usual


def can_write(folder: Path) -> bool:
    """Whether files can be put there, or it can be made."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def settle() -> None:
    """Sends the hub's client to our folder where it could not write to its own. Before it is imported."""
    usual = Path(os.path.expanduser("~/.cache/huggingface"))
    if "HF_HOME" not in os.environ and not (usual.is_absolute() and can_write(usual)):
        os.environ["HF_HOME"] = str(cache_dir() / "huggingface")


def _temporary() -> Path | None:
    """A folder of our own among everybody's temporary files; None where somebody else was there first."""
    owner = getattr(os, "getuid", lambda: 0)()
    folder = Path(tempfile.gettempdir()) / f"specviz-{owner}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
    except OSError:
        return None
    ours = folder.is_dir() and not folder.is_symlink() and facts.st_uid == owner
    return folder if ours or os.name == "nt" else None

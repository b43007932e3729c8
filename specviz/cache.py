"""Where specviz keeps what it has fetched, made or measured."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_dir() -> Path:
    """$SPECVIZ_CACHE, else the user's cache directory (~/.cache/specviz on Linux)."""
    chosen = os.environ.get("SPECVIZ_CACHE")
    return Path(chosen).expanduser().resolve() if chosen else user_cache_path("specviz", appauthor=False)

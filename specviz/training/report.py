"""What was made, from what, how: JSON files beside the results, so that they can be judged and made again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from specviz.i18n import ASSETS
from specviz.training.shards import replace


def write_report(path: Path, facts: dict) -> None:
    """Writes `facts` as JSON, with the revision of the code."""
    replace(path, (json.dumps(facts | {"revision": revision()}, indent=1, ensure_ascii=False) + "\n").encode())


def revision() -> str | None:
    """The git commit of this code, with "+" where files differ from it; None outside of a repository."""
    try:
        run = {"cwd": ASSETS.parent, "capture_output": True, "text": True, "check": True}
        commit = subprocess.run(["git", "rev-parse", "HEAD"], **run).stdout.strip()
        changed = subprocess.run(["git", "status", "--porcelain", "--untracked-files=no"], **run).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit + "+" * bool(changed)

"""Known weaknesses of what requirements-cpu.lock installs, by pip-audit. Where it cannot be had, or the service that it
asks does not answer, that is said and nothing fails; a weakness that is known ends with status 1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOOL = "pip-audit==2.10.1"
LOCK = Path(__file__).parents[1] / "requirements-cpu.lock"
PATIENCE = 30  # seconds for all of it


def verdict(report: str) -> tuple[int, str]:
    """(status, a line or some) for pip-audit's JSON."""
    try:
        packages = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 0, "audit skipped: the service that knows of weaknesses does not answer"
    asked = [one for one in packages if "vulns" in one]
    found = [f"{p['name']} {p['version']}: {v['id']}, fixed in {v['fix_versions']}" for p in asked for v in p["vulns"]]
    if found:
        return 1, "\n".join(["audit: known weaknesses", *found])
    if not asked:
        return 0, "audit skipped: the service that knows of weaknesses knows none of the packages"
    return 0, f"audit: no known weakness in {len(asked)} of {len(packages)} packages"


def run(until: float, *command: str, **more: str) -> subprocess.CompletedProcess:
    """A command, ended at that time."""
    left = until - time.monotonic()
    return subprocess.run(command, env=os.environ | more, capture_output=True, text=True, timeout=left, check=False)


def main() -> int:
    """Installs pip-audit aside, so that nothing that is tested changes, and asks it."""
    until = time.monotonic() + PATIENCE
    with tempfile.TemporaryDirectory() as aside:
        try:
            made = run(until, sys.executable, "-m", "pip", "install", "-q", "--target", aside, TOOL)
            if made.returncode:
                print(f"audit skipped: {TOOL} cannot be installed here")
                return 0
            options = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")
            told = run(until, sys.executable, "-m", "pip_audit", "-r", str(LOCK), *options, PYTHONPATH=aside)
        except subprocess.TimeoutExpired:
            print(f"audit skipped: no answer within {PATIENCE} s")
            return 0
    status, text = verdict(told.stdout)
    print(text, *(told.stderr.splitlines()[-1:] if told.returncode and not status else ()), sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main())

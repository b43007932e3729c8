"""What a measurement on this machine has chosen (`python -m specviz tune`), remembered for the next starts.

Read before torch is imported: how idle threads wait, and how many there are, cannot be changed afterwards. Environment
variables and command-line options that are given stand above it.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

from specviz.cache import cache_dir


@dataclass(frozen=True, slots=True)
class Tuned:
    """spin: how often an idle thread looks before it sleeps (GOMP_SPINCOUNT); threads: OMP_NUM_THREADS, None: one for
    each core; dtype: what "auto" means on the CPU.

    A pass has hundreds of parallel products with hardly anything between them. Threads that sleep at once must be woken
    each time (a quarter of the speed on two cores); threads that spin for long, as is OpenMP's default, take the core
    away from whoever else has work, and everything waits for the scheduler (20 times slower). 1000 looks are some
    microseconds: enough to be there for the next product, too few to harm anybody.
    """

    spin: int = 1000
    threads: int | None = None
    dtype: str = "float32"


def machine() -> str:
    """What a measurement holds for."""
    return f"{platform.machine()} {processor()} x{usable_cores()}"


def usable_cores() -> int:
    """How many this process may use: in a container or under a scheduler fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS and Windows


def remembered() -> Tuned:
    """What was chosen for this machine; the defaults where nothing was, or the file is damaged."""
    try:
        data = json.loads(_file().read_text(encoding="utf-8"))
        found = Tuned(**data["chosen"])
        whole = found.threads is None or (type(found.threads) is int and 1 <= found.threads <= 1024)
        known = type(found.spin) is int and found.spin >= 0 and found.dtype in ("float32", "bfloat16")
        return found if whole and known and data["machine"] == machine() else Tuned()
    except (OSError, ValueError, TypeError, KeyError):
        return Tuned()


def remember(chosen: Tuned) -> Path:
    """Writes it down. Returns the file."""
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"machine": machine(), "chosen": asdict(chosen)}, indent=1)
    file.write_text(text + "\n", encoding="utf-8")
    return file


def forget() -> None:
    """Back to the defaults."""
    _file().unlink(missing_ok=True)


def apply() -> None:
    """Into the environment of this process, where nothing else is said. Before torch is imported."""
    found = remembered()
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "passive"  # for OpenMP libraries that know nothing of a count
        os.environ.setdefault("GOMP_SPINCOUNT", str(found.spin))
    if found.threads is not None:
        os.environ.setdefault("OMP_NUM_THREADS", str(found.threads))


def _file() -> Path:
    return cache_dir() / "tuned.json"


def processor() -> str:
    """The processor's name; what Python knows of it where there is no /proc."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())

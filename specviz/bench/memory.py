"""Peak memory of a process while something runs. Linux forgets an old peak when asked; elsewhere there is no figure."""

from __future__ import annotations

import ctypes
import gc
from dataclasses import dataclass
from pathlib import Path

import torch

FORGET_PEAK = "5"  # proc(5), /proc/pid/clear_refs


@dataclass(frozen=True, slots=True)
class Peak:
    """Megabytes (10^6 bytes).

    total  resident memory of the process at its highest, the models of all contenders in it included
    extra  how much of that came on top during the run: caches and intermediate results
    """

    total: float
    extra: float


class PeakMeter:
    """Between `start` and `stop`: the peak of process `pid`, or with `cuda` of the device's memory."""

    def __init__(self, pid: int | None = None, cuda: bool = False) -> None:
        self.place, self.cuda = Path("/proc") / ("self" if pid is None else str(pid)), cuda and pid is None
        self.before: float | None = None

    def start(self) -> None:
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
            self.before = torch.cuda.memory_allocated() / 1e6
            return
        if self.place.name == "self":
            _give_back()
        try:
            (self.place / "clear_refs").write_text(FORGET_PEAK, encoding="ascii")
        except OSError:  # not Linux, or not ours
            self.before = None
            return
        self.before = self._read("VmRSS")

    def stop(self) -> Peak | None:
        """None where the system does not say."""
        if self.before is None:
            return None
        highest = torch.cuda.max_memory_allocated() / 1e6 if self.cuda else self._read("VmHWM")
        return None if highest is None else Peak(highest, max(0.0, highest - self.before))

    def _read(self, name: str) -> float | None:
        try:
            lines = (self.place / "status").read_text(encoding="ascii", errors="replace").splitlines()
        except OSError:
            return None
        found = next((line.split()[1] for line in lines if line.startswith(name + ":")), None)
        return None if found is None else int(found) * 1024 / 1e6  # it says kB and means KiB


def _give_back() -> None:
    """What earlier runs have freed goes back to the system: else it would seem to be there already."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc
    if trim is not None:
        trim(0)

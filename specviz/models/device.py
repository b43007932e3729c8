"""Where a model runs and in which precision, and whether it fits."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from specviz.errors import SpecvizError
from specviz.models.names import INT8, check_device, check_dtype
from specviz.tuned import remembered

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    INT8: torch.bfloat16,  # what is not a weight of the target's products
}
HEADROOM = 1.15  # beside the weights: KV caches, activations, one copy of a layer while loading
CGROUP = Path("/sys/fs/cgroup")


def choose_device(wanted: str = "auto") -> torch.device:
    """ "auto" takes CUDA, else MPS, else the CPU. Raises SpecvizError for a device that is unknown or not there."""
    name, index = check_device(wanted)
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind in ("cuda", "mps", "cpu") if there[kind]))
    if not there[name] or (index and int(index) >= torch.cuda.device_count()):
        present = ", ".join(kind for kind, is_there in there.items() if is_there)
        raise SpecvizError("errors.device_missing", device=wanted, present=present)
    return torch.device(wanted)


def choose_dtype(wanted: str, device: torch.device) -> torch.dtype:
    """The precision by name, or by what the device is good at. Raises SpecvizError for an unknown name."""
    name = check_dtype(wanted)
    if name == INT8 and device.type != "cpu":
        raise SpecvizError("errors.int8_device", device=str(device))
    if name != "auto":
        return DTYPES[name]
    if device.type == "cuda":
        # Emulated bf16 (before Ampere) is slow; fp16 is what those cards were made for.
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    if device.type == "mps":
        return torch.float16  # fast on every Apple chip; bf16 only on the newer ones
    # bf16 is faster only on some processors and far slower on others, so it wants a measurement, not a guess. In fp32 a
    # batched pass and a single step agree to 1e-5, which keeps the greedy identity check exact.
    return DTYPES[remembered().dtype]


def dtype_name(dtype: torch.dtype) -> str:
    """torch.float32 -> "float32"."""
    return str(dtype).removeprefix("torch.")


def free_memory(device: torch.device) -> int | None:
    """Bytes that can still be had on `device`; None where the system does not say."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    known = [size for size in (_system_memory(), _cgroup_memory()) if size is not None]
    return min(known, default=None)


def check_memory(needed: int, device: torch.device, name: str) -> None:
    """Raises SpecvizError("errors.memory") when weights of `needed` bytes, with some room to work, do not fit."""
    free = free_memory(device)
    if free is not None and needed * HEADROOM > free:
        values = {"needed": f"{needed * HEADROOM / 1e9:.1f}", "free": f"{free / 1e9:.1f}"}
        raise SpecvizError("errors.memory", model=name, device=str(device), **values)


def _system_memory() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:  # not Linux
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # macOS: all there is, free or not
    except (AttributeError, ValueError, OSError):
        return None


def _cgroup_memory() -> int | None:
    """What a container may still use: its limit less what cannot be given back (the file cache can)."""
    try:
        limit = (CGROUP / "memory.max").read_text(encoding="ascii").strip()
        stat = (CGROUP / "memory.stat").read_text(encoding="ascii").split()
    except OSError:  # no container, or an older kind
        return None
    used = int(stat[stat.index("anon") + 1]) if "anon" in stat else 0
    return None if limit == "max" else max(0, int(limit) - used)

"""What the figures were measured on: without it, a benchmark says nothing."""

from __future__ import annotations

import os
import platform

import torch
import transformers

from specviz import __version__
from specviz.models.pair import Pair
from specviz.tuned import processor, usable_cores


def machine(pair: Pair) -> dict[str, object]:
    """Processor or GPU, threads, versions, how busy it is, and which models run."""
    cuda = pair.device.type == "cuda"
    return {
        "specviz": __version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "gpu": torch.cuda.get_device_name(pair.device) if cuda else None,
        "cores": usable_cores(),
        "threads": torch.get_num_threads(),
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY"),
        "load": load(),
        "device": str(pair.device),
        "dtype": pair.dtype_name,
        "target": pair.target_name,
        "draft": pair.draft_name,
    }


def load() -> float | None:
    """Processes that wanted a core in the last minute, on average; this one counts, too."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None

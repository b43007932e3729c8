"""When the memory runs out in the middle of a run: one sentence, whatever the device calls it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from specviz.errors import SpecvizError

SAID_BY_CPU = ("not enough memory", "can't allocate memory")  # torch raises a plain RuntimeError there


@contextmanager
def memory_explained() -> Iterator[None]:
    """Turns what is raised when memory runs out into SpecvizError("errors.memory_out"). All else passes through."""
    try:
        yield
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise SpecvizError("errors.memory_out") from error
    except RuntimeError as error:
        if any(said in str(error) for said in SAID_BY_CPU):
            raise SpecvizError("errors.memory_out") from error
        raise

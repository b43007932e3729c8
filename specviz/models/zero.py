"""ZeroGPU, the GPUs that Hugging Face lends to Spaces: one is there only while a decorated function runs.

That function runs in a process forked for it; what goes in and what comes out is pickled. So a pair goes by its id, and
is found in the fork where its parent had it. Where the package `spaces` is missing, or lends nothing, nothing changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from specviz.errors import SpecvizError

if TYPE_CHECKING:
    from specviz.models.pair import Pair

try:
    import spaces  # before torch, or it refuses
except ImportError:
    spaces = None

ACTIVE = spaces is not None and os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")
SECONDS = 60  # for which a GPU is asked at a time; what takes longer ends with a sentence

_pairs: dict[str, Pair] = {}  # by id; a fork has those of the moment it was made
_lent = False  # in a fork: the GPU is here


@dataclass(frozen=True, slots=True)
class Failed:
    """A foreseen failure on its way back: of an exception only the name of its class would arrive."""

    error: SpecvizError


def on_gpu(task: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Decorator of a generator function of a pair, what it reads and what it yields being plain values.

    A keyword `stopped` stays here: whoever reads the results asks it between two of them, and closes the generator.
    """
    if not ACTIVE:
        return task

    def there(pair: str, args: tuple, more: dict[str, Any]) -> Iterator[Any]:
        global _lent
        _lent = True
        import torch

        torch.set_num_threads(1)  # the threads of the parent are not in its fork, and would be waited for
        try:
            yield from task(_pairs[pair], *args, **more)
        except SpecvizError as error:
            yield Failed(error)

    lent = spaces.GPU(there, duration=SECONDS)

    @wraps(task)
    def here(pair: Pair, *args: Any, stopped: object = None, **more: Any) -> Iterator[Any]:
        if _lent:
            yield from task(pair, *args, **more)
            return
        _pairs[pair.id] = pair
        with closing(lent(pair.id, args, more)) as results:
            try:
                for result in results:
                    if isinstance(result, Failed):
                        raise result.error
                    yield result
            except Exception as error:
                raise _refused(error) from error

    return here


def as_visitor(work: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """`work` as the visitor who asks for it now, though another thread does it: GPUs are lent to visitors."""
    if not ACTIVE:
        return work
    context = copy_context()

    def within(job: Any) -> Iterator[Any]:
        turns = work(job)
        while True:
            try:
                turn = context.run(next, turns)
            except StopIteration:
                return
            yield turn

    return within


def _refused(error: Exception) -> Exception:
    """No GPU to be had, or not for so long, in a sentence. Anything else as it is."""
    if type(error).__module__.partition(".")[0] not in ("gradio", "spaces"):
        return error
    return SpecvizError("errors.zero_gpu", reason=str(getattr(error, "message", error))[:300])

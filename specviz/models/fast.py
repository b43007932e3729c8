"""Which forward pass runs a model: the lean one where it fits, with weights prepacked where that is possible."""

from __future__ import annotations

from torch import nn
from transformers import PreTrainedModel

from specviz.engine.lean import LeanModel, fits, lean
from specviz.engine.products import can_pack, int8, packed, plain, prepacked
from specviz.models.device import free_memory

ROOM = 2.0  # prepacked weights are a second copy: only where this many more would fit


def fast(model: PreTrainedModel, rounded: bool = False) -> LeanModel | None:
    """The weights of `model` for the lean pass; None: it is left to transformers. rounded: to 8 bits."""
    if not fits(model):
        return None
    if rounded:
        return lean(model, int8)
    return lean(model, packed if can_double(model) else plain)


def swift(module: nn.Module) -> nn.Module:
    """Layers of heads, prepacked in place where that is possible; they are for running, not for training."""
    return prepacked(module) if can_double(module) else module


def can_double(module: nn.Module) -> bool:
    """Whether its weights can be prepacked, and there is room for this second copy."""
    weights = [*module.parameters()]
    free = free_memory(weights[0].device)
    return can_pack(weights[0]) and (free is None or free > ROOM * sum(weight.nbytes for weight in weights))

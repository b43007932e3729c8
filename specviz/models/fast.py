"""Which forward pass runs a model: the lean one where it fits, with weights prepacked where that is possible."""

from __future__ import annotations

from transformers import PreTrainedModel

from specviz.engine.lean import LeanModel, fits, lean
from specviz.engine.products import can_pack, int8, packed, plain
from specviz.models.device import free_memory

ROOM = 2.0  # prepacked weights are a second copy: only where this many more would fit


def fast(model: PreTrainedModel, rounded: bool = False) -> LeanModel | None:
    """The weights of `model` for the lean pass; None: it is left to transformers. rounded: to 8 bits."""
    if not fits(model):
        return None
    if rounded:
        return lean(model, int8)
    free = free_memory(model.device)
    copy = sum(weight.nbytes for weight in model.parameters())
    roomy = free is None or free > ROOM * copy
    return lean(model, packed if roomy and can_pack(model.model.norm.weight) else plain)

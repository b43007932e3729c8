"""Self-speculation: the target without some of its decoder layers drafts for the target.

No weight is copied and the target is left as it is: what changes (the list of layers, the config, each layer's place
in the KV cache) sits in shallow copies, everything else is shared. Idea: Zhang et al., "Draft & Verify", 2309.08168.
"""

from __future__ import annotations

import copy
import re

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from specviz.config import short
from specviz.errors import SpecvizError

RUN = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?", re.ASCII)  # "7" or "14-17"


def default_layers(total: int) -> tuple[int, ...]:
    """An eighth of the layers, just behind the middle: 14-17 of SmolLM2's 30, where alpha was measured as about .6."""
    count = max(1, round(total / 8))
    start = min((total - count) // 2 + 1, total - count)
    return tuple(range(start, start + count))


def parse_layers(text: str, total: int) -> tuple[int, ...]:
    """ "14-17,20" -> (14, 15, 16, 17, 20). Raises SpecvizError unless all are layers and at least one is left."""
    layers: set[int] = set()
    for part in text.split(","):
        run = RUN.fullmatch(part.strip())
        low, high = (int(run[1]), int(run[2] or run[1])) if run else (0, total)
        if not low <= high < total:
            raise SpecvizError("errors.skip_layers", value=short(text), last=total - 1)
        layers.update(range(low, high + 1))
    return check_layers(layers, total)


def check_layers(layers: set[int] | tuple[int, ...], total: int) -> tuple[int, ...]:
    """Sorted and without doubles. Raises SpecvizError unless all are layers and at least one is left."""
    wanted = tuple(sorted(set(layers)))
    if not wanted or wanted[0] < 0 or wanted[-1] >= total or len(wanted) >= total:
        raise SpecvizError("errors.skip_layers", value=format_layers(wanted)[:40], last=total - 1)
    return wanted


def format_layers(layers: tuple[int, ...]) -> str:
    """(14, 15, 16, 17, 20) -> "14-17, 20"."""
    runs: list[list[int]] = []
    for layer in layers:
        if runs and layer == runs[-1][1] + 1:
            runs[-1][1] = layer
        else:
            runs.append([layer, layer])
    return ", ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in runs)


def layer_count(model: PreTrainedModel) -> int:
    """Decoder layers of a model."""
    return model.config.get_text_config(decoder=True).num_hidden_layers


def skip_layers(model: PreTrainedModel, layers: tuple[int, ...]) -> PreTrainedModel:
    """`model` without `layers`: same weights, own config, fit for a KV cache of its own.

    Raises SpecvizError("errors.skip_model") for models whose layers lean on each other's caches or cannot be found.
    """
    total = layer_count(model)
    skipped = set(check_layers(layers, total))
    kept = [i for i in range(total) if i not in skipped]
    path = _path_to_layers(model, total)
    if path is None or getattr(model.config.get_text_config(decoder=True), "num_kv_shared_layers", 0):
        raise SpecvizError("errors.skip_model", model=type(model).__name__)
    config = _shorter_config(model.config, kept)
    whole = node = _shallow(model)
    for name in path[:-1]:
        node._modules[name] = _shallow(node._modules[name])
        node = node._modules[name]
    old = node._modules[path[-1]]
    node._modules[path[-1]] = nn.ModuleList(_placed(old[i], new) for new, i in enumerate(kept))
    for module in (whole, *whole.children()):  # the layers keep the config that they were built by
        if getattr(module, "config", None) is model.config:
            module.config = config
    return whole.eval()


def _path_to_layers(model: PreTrainedModel, total: int) -> list[str] | None:
    """Names that lead from the model to its list of decoder layers, for example ["model", "layers"]."""
    for name, module in model.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) == total and name.rpartition(".")[2] in ("layers", "h"):
            return name.split(".")
    return None


def _shorter_config(config: PreTrainedConfig, kept: list[int]) -> PreTrainedConfig:
    config = copy.deepcopy(config)
    text = config.get_text_config(decoder=True)
    types = getattr(text, "layer_types", None)
    text.num_hidden_layers = len(kept)
    if types:
        text.layer_types = [types[i] for i in kept]
    return config


def _shallow(module: nn.Module) -> nn.Module:
    """A copy that shares all tensors and children, but whose own dictionaries (children, hooks) can be changed."""
    twin = copy.copy(module)
    twin.__dict__ = {k: copy.copy(v) if isinstance(v, dict) else v for k, v in module.__dict__.items()}
    return twin


def _placed(module: nn.Module, index: int) -> nn.Module:
    """The layer at its new place: every part of it that knows its `layer_idx` is told the new one."""
    twin = _shallow(module)
    if getattr(twin, "layer_idx", None) is not None:
        twin.layer_idx = index
    for name, child in module._modules.items():
        if child is not None and any(hasattr(part, "layer_idx") for part in child.modules()):
            twin._modules[name] = _placed(child, index)
    return twin

"""Which models of ours a vLLM server would load: their hub ids or folders. Reads no weights, imports no torch."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from specviz.cache import cache_dir
from specviz.config import check_choice
from specviz.errors import SpecvizError
from specviz.models.fetch import HUB_ID, target_dir
from specviz.models.local import LAYERS, local_folder
from specviz.models.presets import DEFAULT, PRESETS
from specviz.serving.carry_over import Served


def served_of(
    pair: str | None,
    target: str | None = None,
    draft: str | None = None,
    heads: str | None = None,
    gpus: int = 1,
    folders: bool = True,
) -> Served:
    """A preset by its id (None: the bundled pair), or a target and a draft of one's own.

    `folders`: the bundled models by their folders on this machine, once they are prepared; otherwise by the hub id.
    """
    if pair is not None and (target is not None or draft is not None):
        raise SpecvizError("errors.pair_or_models")
    if target is not None or draft is not None:
        return Served(target or HUB_ID, draft and _whole(draft, target), heads=heads, tensor_parallel=gpus)
    preset = PRESETS[check_choice("pair", pair or DEFAULT, PRESETS)]
    made = _prepared(preset.target.rpartition("/")[2]) if folders and preset.bundled else None
    name, beside = (str(made[0]), str(made[1])) if made else (preset.target, preset.draft)
    return Served(name, beside, preset.bundled, heads, gpus)


@cache  # the Serve tab asks with every change of a setting, and the target's weights may have to be hashed
def _whole(draft: str, target: str | None) -> str:
    """A draft as vLLM can load it: of one that holds layers only, the model that they make with the target.

    Raises SpecvizError where the target is not on this machine, or does not fit.
    """
    layers = local_folder(draft)
    if layers is None or not (layers / LAYERS).is_file():
        return draft
    folder = target_dir() if target in (None, HUB_ID) else local_folder(target)
    if folder is None or not (folder / "config.json").is_file():
        raise SpecvizError("errors.draft_target", draft=draft, target=target or HUB_ID)
    from specviz.models.compose import compose_draft  # torch is needed for this alone

    return str(compose_draft(layers, folder))


def _prepared(name: str) -> tuple[Path, Path] | None:
    """The folders of the bundled target and of the latest bundled draft made for it."""
    target = cache_dir() / name
    drafts = sorted(target.parent.glob(f"{name}-draft-*/model.safetensors"), key=lambda file: file.stat().st_mtime)
    return (target, drafts[-1].parent) if drafts and (target / "model.safetensors").is_file() else None

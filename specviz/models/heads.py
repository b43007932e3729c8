"""Drafters that read the target's hidden states: which weights belong to a target, and fresh drafters of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import ModelInfo
from safetensors import SafetensorError
from transformers import PreTrainedModel

from specviz.config import LEARNED
from specviz.engine import eagle_layer
from specviz.engine.drafters import Drafter
from specviz.engine.eagle_tree import EagleTreeDrafter
from specviz.engine.medusa_drafter import MedusaDrafter
from specviz.errors import SpecvizError
from specviz.i18n import ASSETS
from specviz.models import medusa_files
from specviz.models.fast import swift
from specviz.models.hub import files_to_get
from specviz.models.open import locate
from specviz.models.prepared import Progress, no_progress, sha256
from specviz.models.watch import one_line

SHOWN = 6  # digits of a hash in a name
FILES = (eagle_layer.WEIGHTS, *medusa_files.FILES)
# those of the bundled target
BUNDLED = {method: folder for method in LEARNED if (folder := ASSETS / "weights" / method).is_dir()}


def heads_in(source: str | Path, progress: Progress = no_progress) -> dict[str, Path]:
    """What a folder or a hub id holds: {method: folder}.

    Raises SpecvizError where it holds neither kind of heads, or Medusa heads that are not whole.
    """
    folder = locate(str(source), progress, hub_files)
    found = {}
    if (folder / eagle_layer.WEIGHTS).is_file():
        found["eagle"] = folder
    medusa = medusa_files.find(folder)
    if medusa is not None and (not found or medusa.name.startswith("medusa")):  # beside EAGLE a model is just a model
        medusa_files.inspect(folder)
        found["medusa"] = folder
    if not found:
        raise SpecvizError("errors.heads_folder", path=str(source), files=", ".join(FILES))
    return found


def hub_files(info: ModelInfo) -> dict[str, int]:
    """Which files of a hub repository hold heads: those of heads alone, else those of a whole model with heads in it.

    Raises SpecvizError where there are neither.
    """
    sizes = {file.rfilename: file.size or 0 for file in info.siblings}
    medusa = next((name for name in (medusa_files.WEIGHTS, medusa_files.PICKLE) if name in sizes), None)
    alone = [name for name in (eagle_layer.WEIGHTS, medusa) if name in sizes]
    files = files_to_get(info)
    if alone:
        return {name: sizes[name] for name in (*alone, "config.json") if name in sizes}
    if not any(name.endswith(".safetensors") for name in files):
        raise SpecvizError("errors.heads_folder", path=info.id, files=", ".join(FILES))
    return files


def drafter_maker(
    target: PreTrainedModel, vocab_size: int, method: str, folders: Mapping[str, Path]
) -> Callable[[], Drafter]:
    """What gives drafters of `method` ("eagle" or "medusa"), each with a state of its own; they share the weights.

    Raises SpecvizError where `folders` has none for it, and where they do not fit the target.
    """
    name = Path(target.config.name_or_path or type(target).__name__).name
    if method not in folders:
        raise SpecvizError("errors.no_heads", target=name, method=method)
    head = target.get_output_embeddings()
    with fitting(folders[method], name):
        if method == "eagle":
            layer, reader = map(swift, eagle_layer.load_eagle(folders[method], head))
            depth = target.config.get_text_config(decoder=True).num_hidden_layers
            if max(layer.layers) >= depth:
                raise ValueError(f"it reads the states after {max(layer.layers)} layers, and the target has {depth}")
            embed = target.get_input_embeddings()
            return lambda: EagleTreeDrafter(layer, embed, reader, vocab_size)
        heads = swift(medusa_files.load_medusa(folders[method], head))
        if not heads.own_lm_heads:
            heads.read_by(swift(heads.reader))
        return lambda: MedusaDrafter(heads, vocab_size)


@contextmanager
def fitting(weights: Path, target: str) -> Iterator[None]:
    """Turns what the libraries raise on weights that are not there, damaged or of another model into one sentence."""
    try:
        yield
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, IndexError, SafetensorError) as error:
        reason = one_line(error)
        raise SpecvizError("errors.heads_broken", path=str(weights), target=target, reason=reason) from error


@dataclass(frozen=True, slots=True)
class About:
    """What the weights of a drafter are.

    name    as a person knows it; with the beginning of a hash of the weights, for a run goes on by the same ones only
    levels  how far ahead they can draft at most; None: no limit
    """

    name: str
    levels: int | None = None


def describe(method: str, folders: Mapping[str, Path], target: str) -> About:
    """The weights for `method` in `folders`, or that there are none. Reads them all."""
    if method not in folders:
        return About("EAGLE-style layer" if method == "eagle" else "Medusa heads")
    folder = folders[method]
    if method == "eagle":
        with fitting(folder, target):
            return About(f"EAGLE-style layer ({sha256(folder / eagle_layer.WEIGHTS)[:SHOWN]})")
    heads = medusa_files.inspect(folder).heads
    return About(f"{heads} Medusa heads ({medusa_files.fingerprint(folder)[:SHOWN]})", heads)

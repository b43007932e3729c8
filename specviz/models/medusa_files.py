"""Medusa heads as files, in the layouts that are published. What does not fit is refused by the tensor's name.

    v1        `{head}.{block}.linear.weight` [d, d], `{head}.{block}.linear.bias` [d], `{head}.{L}.weight` [V, d]
    v2        the same without `{head}.{L}.weight`: the heads share the target's LM head
    Medusa-2  either of them under the prefix `medusa_head.`, in the files of a whole model

Heads and blocks are counted from these names: published config.json files are known to be wrong about them. Our own
v2 files may hold `draft_vocab_ids` [W]: the heads were trained to put out these ids of the target's only.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import statistics
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from specviz.config import short
from specviz.engine.medusa import MedusaHeads
from specviz.engine.reduced import ReducedHead
from specviz.errors import SpecvizError
from specviz.models.prepared import put_whole
from specviz.models.watch import one_line

WEIGHTS = "medusa_lm_head.safetensors"
PICKLE = "medusa_lm_head.pt"
INDEX = "model.safetensors.index.json"
FILES = (WEIGHTS, PICKLE, "model.safetensors", INDEX)  # the first that is there counts; the last two: Medusa-2
PREFIX = "medusa_head."
IDS = "draft_vocab_ids"
NAME = re.compile(r"(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(?:(linear)\.(?:weight|bias)|weight)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Layout:
    """`heads` heads of `layers` blocks each on hidden states of `size` numbers; `rows` of each one's own LM head, None
    where they share the target's."""

    heads: int
    layers: int
    size: int
    rows: int | None

    def shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """(name, shape) of each tensor, in order."""
        for head in range(self.heads):
            for block in range(self.layers):
                yield f"{head}.{block}.linear.weight", (self.size, self.size)
                yield f"{head}.{block}.linear.bias", (self.size,)
            if self.rows is not None:
                yield f"{head}.{self.layers}.weight", (self.rows, self.size)


def find(folder: Path) -> Path | None:
    """The file of `folder` that would hold Medusa heads, if any."""
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def inspect(folder: Path) -> Layout:
    """How many heads of what size are in `folder`, all names and shapes checked. Reads no weights, only about them."""
    path, tensors = _stored(folder)
    return _layout(tensors, str(path))


def fingerprint(folder: Path) -> str:
    """The same for the same weights under the same names, in whatever layout they are kept. Reads them all."""
    _, tensors = _stored(folder)
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def load_medusa(folder: Path, lm_head: nn.Module, dtype: torch.dtype | None = None) -> MedusaHeads:
    """The heads of `folder` for the target with this LM head (weight [V, d]), in `dtype` or its precision.

    Raises SpecvizError "errors.medusa_..." with the file and, where it is about one, the tensor's name.
    """
    path, tensors = _stored(folder)
    found = _layout(tensors, str(path))
    rows, size = lm_head.weight.shape
    if found.size != size:
        raise SpecvizError("errors.medusa_hidden", path=str(path), found=found.size, expected=size)
    if found.rows not in (None, rows):
        raise SpecvizError("errors.medusa_vocabulary", path=str(path), found=found.rows, expected=rows)
    ids = tensors.pop(IDS, None)
    shared = None if found.rows is not None else lm_head
    if ids is not None:
        try:
            shared = ReducedHead(lm_head.weight, ids)
        except ValueError as error:
            raise SpecvizError("errors.medusa_ids", path=str(path), name=IDS, rows=rows) from error
    with torch.device("meta"):  # no memory is taken for weights that are replaced at once
        heads = MedusaHeads(found.heads, size, rows, found.layers, _residual(folder), shared)
    like = {"device": lm_head.weight.device, "dtype": dtype or lm_head.weight.dtype}
    # copies, for the file may change later, and some .pt files hold one tensor under several names
    heads.load_state_dict({name: t.detach().to(**like, copy=True) for name, t in tensors.items()}, assign=True)
    return heads.eval().requires_grad_(False)


def save_medusa(
    folder: Path,
    heads: MedusaHeads,
    base_model: str,
    *,
    dtype: torch.dtype | None = None,
    facts: Mapping[str, object] | None = None,
) -> None:
    """Writes v1 (own LM heads) or v2 (a shared one), and config.json with `facts` added.

    dtype None keeps the precision. A file that is there is replaced as a whole, never written into.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state = heads.state_dict()
    tensors = {name: t.detach().to("cpu", dtype or t.dtype, copy=True).contiguous() for name, t in state.items()}
    if isinstance(heads.reader, ReducedHead):
        tensors[IDS] = heads.reader.ids.to("cpu", torch.int32)
    put_whole(folder / WEIGHTS, lambda part: save_file(tensors, part, metadata={"format": "pt"}))
    about = {"base_model_name_or_path": base_model, "medusa_num_heads": len(heads), "medusa_num_layers": heads.layers}
    if not heads.residual:
        about["medusa_residual"] = False  # ours: the weights do not tell
    text = json.dumps(about | dict(facts or {}), indent=1, ensure_ascii=False)
    put_whole(folder / "config.json", lambda part: part.write_text(text + "\n", encoding="utf-8"))


def _residual(folder: Path) -> bool:
    """The published files know heads with the residual only; ours say so in config.json when they have none."""
    file = folder / "config.json"
    if not file.is_file():
        return True
    try:
        return json.loads(file.read_text(encoding="utf-8")).get("medusa_residual", True) is not False
    except (OSError, ValueError, AttributeError) as error:
        raise SpecvizError("errors.medusa_broken", path=str(file), reason=one_line(error)) from error


def _stored(folder: Path) -> tuple[Path, dict[str, Tensor]]:
    """The file and its Medusa tensors, without prefix. They are mapped into memory, so what is not used is not read."""
    path = find(folder)
    if path is None:
        raise SpecvizError("errors.heads_folder", path=str(folder), files=", ".join(FILES))
    read = {PICKLE: _from_pickle, INDEX: _from_shards}.get(path.name, _from_safetensors)
    try:
        return path, read(path)
    except SpecvizError:
        raise
    except pickle.UnpicklingError as error:
        raise SpecvizError("errors.medusa_pickle", path=str(path)) from error
    except Exception as error:  # the libraries raise many kinds on a damaged file
        raise SpecvizError("errors.medusa_broken", path=str(path), reason=one_line(error)) from error


def _from_safetensors(path: Path) -> dict[str, Tensor]:
    with safe_open(path, framework="pt") as file:
        return {bare: file.get_tensor(name) for bare, name in _chosen(file.keys(), path).items()}


def _from_shards(path: Path) -> dict[str, Tensor]:
    """From those of the files named in an index that hold heads."""
    places = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
    chosen = _chosen(places, path)
    tensors = {}
    for shard in sorted({places[name] for name in chosen.values()}):
        if Path(shard).name != shard:
            raise ValueError(f"{shard} is not a file beside it")
        with safe_open(path.parent / shard, framework="pt") as file:
            held = set(file.keys())
            tensors |= {bare: file.get_tensor(name) for bare, name in chosen.items() if name in held}
    return tensors


def _from_pickle(path: Path) -> dict[str, Tensor]:
    """A pickle of nothing but tensors; one that asks for anything more raises UnpicklingError, and nothing is run."""
    # torch.save writes zip files, which can be mapped; before 2020 it wrote plain pickles, which cannot
    held = torch.load(path, weights_only=True, map_location="cpu", mmap=zipfile.is_zipfile(path))
    if not isinstance(held, dict) or not all(isinstance(name, str) for name in held):
        raise ValueError(f"it holds {type(held).__name__} instead of named tensors")
    chosen = _chosen(held, path)
    for name in chosen.values():
        _check_whole(name, held[name])
    return {bare: held[name] for bare, name in chosen.items()}


def _check_whole(name: str, tensor: object) -> None:
    """A pickle may hold other things than tensors, and tensors without their numbers: sparse, meta, expanded ones."""
    if not isinstance(tensor, Tensor):
        raise ValueError(f"{name} is of the type {type(tensor).__name__}")
    if tensor.layout != torch.strided or tensor.is_meta or tensor.untyped_storage().nbytes() < tensor.nbytes:
        raise ValueError(f"{name} does not hold a number for each of its places")


def _chosen(names: Iterable[str], path: Path) -> dict[str, str]:
    """Name without prefix -> name in the file. With a prefix the other tensors are a whole model's, not our business.

    Raises SpecvizError where there are no heads, and where there are some with and some without the prefix.
    """
    names = sorted(names)
    chosen = {name.removeprefix(PREFIX): name for name in names if name.startswith(PREFIX)}
    if not chosen:
        chosen = {name: name for name in names}
    elif stray := [name for name in names if NAME.fullmatch(name) or name == IDS]:
        raise SpecvizError("errors.medusa_extra", path=str(path), name=short(stray[0]))
    if not any(map(NAME.fullmatch, chosen)):
        raise SpecvizError("errors.medusa_no_keys", path=str(path))
    return chosen


def _layout(tensors: Mapping[str, Tensor], path: str) -> Layout:
    """Raises SpecvizError that names the first tensor that is missing, then one too many, then of a wrong shape."""
    parsed = {name: match for name in tensors if (match := NAME.fullmatch(name))}
    for name in parsed:
        if not tensors[name].is_floating_point():
            raise SpecvizError("errors.medusa_kind", path=path, name=name, found=str(tensors[name].dtype))
    blocks = [match for match in parsed.values() if match[3]]
    counted = blocks or list(parsed.values())  # without blocks the LM heads are all that there is
    heads = 1 + max(int(match[1]) for match in counted)
    layers = bool(blocks) + max(int(match[2]) for match in counted)
    own = [tensors[name] for name, match in parsed.items() if not match[3] and int(match[2]) == layers]
    size = statistics.mode(tensors[name].shape[-1] if tensors[name].ndim else 0 for name in parsed)  # all end in it
    rows = statistics.mode(tensor.numel() // max(size, 1) for tensor in own) if own else None
    expected = Layout(heads, layers, size, rows)
    missing = next((name for name, _ in expected.shapes() if name not in tensors), None)
    if missing is not None:
        raise SpecvizError("errors.medusa_missing", path=path, name=missing, heads=heads, layers=layers)
    shapes = dict(expected.shapes())
    extra = next((n for n in tensors if n not in shapes and (n != IDS or rows is not None)), None)
    if extra is not None:
        raise SpecvizError("errors.medusa_extra", path=path, name=short(extra, 80))  # it may be anything
    for name, shape in shapes.items():
        found = tuple(tensors[name].shape)
        if found != shape:
            raise SpecvizError("errors.medusa_shape", path=path, name=name, found=list(found), expected=list(shape))
    return expected

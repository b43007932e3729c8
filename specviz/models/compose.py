"""Puts the bundled draft together: its own layers from `assets/weights/draft`, embeddings and LM head of the target.

The result is an ordinary Hugging Face folder in the cache, which any tool can load. The draft was trained to output
some of the target's tokens only (`draft_vocab_ids`); here it is run with that part of the LM head, for the head would
be the dearest part of a draft step. The rest gets q = 0, and the rule of acceptance stays exact.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel

from specviz.cache import cache_dir
from specviz.engine.reduced import ReducedHead
from specviz.errors import SpecvizError
from specviz.i18n import ASSETS
from specviz.models.heads import fitting
from specviz.models.local import LAYERS
from specviz.models.prepared import prepare, read_manifest, sha256

DRAFT_WEIGHTS = ASSETS / "weights" / "draft"
SHARED = ("model.embed_tokens.weight", "lm_head.weight")  # the second is missing where embeddings are tied
COPIED = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")


def compose_draft(weights: Path, target_dir: Path) -> Path:
    """The draft of `weights` (a folder with config.json and draft_layers.safetensors) for the target of `target_dir`.

    Made on first use, again when either of the two has changed; what is not the bundled draft has another name. Raises
    SpecvizError: "errors.draft_weights" when they do not fit together, "errors.heads_broken" when `weights` is damaged.
    """
    with fitting(weights, target_dir.name):
        shared = _shared(target_dir)
        hashes = [sha256(weights / LAYERS), sha256(weights / "config.json")]
        hashes += [_hash(target_dir, file) for file in sorted(set(shared.values()))]
        key = hashlib.sha256("".join(hashes).encode()).hexdigest()[:12]
        kind = "draft" if weights.resolve() == DRAFT_WEIGHTS.resolve() else "trained"
        folder = cache_dir() / f"{target_dir.name}-{kind}-{key}"
        return prepare(folder, lambda made: _compose(made, weights, target_dir, shared))


def with_small_head(model: PreTrainedModel, weights: Path) -> PreTrainedModel:
    """A draft of `weights`, its LM head cut down to the tokens that they were trained for. Reads nothing else."""
    with safe_open(weights / LAYERS, framework="pt") as file:
        if "draft_vocab_ids" in file.keys():  # noqa: SIM118 not a dict
            chosen = file.get_tensor("draft_vocab_ids")
            model.set_output_embeddings(ReducedHead(model.get_output_embeddings().weight, chosen))
    return model


def _shared(target_dir: Path) -> dict[str, Path]:
    """In which of the target's files each of SHARED is, as far as it has them."""
    whole, index = target_dir / "model.safetensors", target_dir / "model.safetensors.index.json"
    if not whole.is_file():
        where = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        return {name: target_dir / where[name] for name in SHARED if name in where}
    with safe_open(whole, framework="pt") as target:
        stored = set(target.keys())
    return {name: whole for name in SHARED if name in stored}


def _hash(target_dir: Path, file: Path) -> str:
    known = read_manifest(target_dir).get("files", {}).get(file.name, {}).get("sha256")
    return known or sha256(file)


def _compose(made: Path, weights: Path, target_dir: Path, shared: dict[str, Path]) -> dict:
    about = json.loads((weights / "config.json").read_text(encoding="utf-8"))
    config = json.loads((target_dir / "config.json").read_text(encoding="utf-8"))
    tensors = load_file(weights / LAYERS)
    tensors.pop("draft_vocab_ids", None)
    if tensors["model.norm.weight"].shape[0] != config["hidden_size"]:
        raise SpecvizError("errors.draft_weights", draft=str(weights), target=str(target_dir))
    theirs = {}
    for name, file in shared.items():
        with safe_open(file, framework="pt") as target:
            theirs[name] = target.get_tensor(name)
    dtype = theirs[SHARED[0]].dtype
    tensors = {name: tensor.to(dtype) for name, tensor in tensors.items()} | theirs
    save_file(tensors, made / "model.safetensors", metadata={"format": "pt"})
    config |= {"num_hidden_layers": about["num_hidden_layers"], "dtype": str(dtype).removeprefix("torch.")}
    if config.get("layer_types"):
        config["layer_types"] = config["layer_types"][: about["num_hidden_layers"]]
    (made / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    for name in (*COPIED, "generation_config.json"):
        if (target_dir / name).is_file():
            shutil.copyfile(target_dir / name, made / name)
    return {"source": "composed", "draft": about["target"], "layers_from_target": about["layers_from_target"]}

"""What trainers take from the target: its parts, in fp32, frozen."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from specviz.errors import SpecvizError
from specviz.models.local import LAYERS


@dataclass(frozen=True, slots=True)
class Parts:
    """The target's name, configuration, embeddings [V, d], LM head [V, d], decoder layers and final norm."""

    name: str
    config: object
    embedding: Tensor
    head: Tensor
    layers: nn.ModuleList
    norm: nn.Module

    @classmethod
    def of(cls, model: PreTrainedModel, name: str) -> Parts:
        """Raises SpecvizError("train.architecture") for models that are not built like Llama."""
        base = model.base_model
        built = all(hasattr(base, part) for part in ("layers", "norm", "embed_tokens", "rotary_emb"))
        if not built or not read_by_head_alone(model):
            raise SpecvizError("train.architecture", model=name)
        embedding = base.embed_tokens.weight.detach().float()
        head = model.get_output_embeddings().weight.detach().float()
        return cls(name, model.config, embedding, head, base.layers, base.norm)


def name_of(model: PreTrainedModel) -> str:
    """The name of a target, also for the drafts made of it."""
    return model.config.name_or_path.rstrip("/").rpartition("/")[2] or type(model).__name__


def check_layers(model: PreTrainedModel, layers: tuple[int, ...]) -> None:
    """Raises SpecvizError("train.layers") for a list that does not name layers of `model` in rising order."""
    total = model.config.num_hidden_layers
    if not layers or list(layers) != sorted(set(layers)) or not 0 <= layers[0] <= layers[-1] < total:
        raise SpecvizError("train.layers", layers=",".join(map(str, layers)), total=total, last=total - 1)


@torch.no_grad()
def read_by_head_alone(model: PreTrainedModel) -> bool:
    """Whether its logits are its LM head's product with the last hidden state, as trainers take them to be. Gemma 2
    bends them afterwards, Cohere and Granite scale them.
    """
    out = model(torch.arange(4, device=model.device)[None], use_cache=False, output_hidden_states=True)
    plain = model.get_output_embeddings()(out.hidden_states[-1])
    return torch.allclose(plain.float(), out.logits.float(), rtol=4 * torch.finfo(plain.dtype).eps, atol=1e-6)


def pruned(model: PreTrainedModel, layers: tuple[int, ...]) -> PreTrainedModel:
    """A model of the same kind made of copies of some of `model`'s layers, in fp32; embeddings and head are shared.

    Only its layers and its final norm learn.
    """
    check_layers(model, layers)
    config = copy.deepcopy(model.config)
    config.num_hidden_layers = len(layers)
    if getattr(config, "layer_types", None):
        config.layer_types = [config.layer_types[i] for i in layers]
    with torch.device("meta"):
        small = type(model)(config)
    small.load_state_dict(model.state_dict(), strict=False, assign=True)
    for at, layer in enumerate(layers):
        own = copy.deepcopy(model.base_model.layers[layer]).float()
        own.self_attn.layer_idx = at
        small.base_model.layers[at] = own
    small.base_model.norm = copy.deepcopy(model.base_model.norm).float()
    small.base_model.rotary_emb = copy.deepcopy(model.base_model.rotary_emb)  # a meta buffer holds no numbers
    small.requires_grad_(False)
    small.base_model.layers.requires_grad_(True)
    small.base_model.norm.requires_grad_(True)
    if any(x.is_meta for x in (*small.parameters(), *small.buffers())):  # parts that were not copied
        raise SpecvizError("train.architecture", model=name_of(model))
    return small


def load_layers(model: nn.Module, weights: Path) -> None:
    """Puts a draft's own layers and norm into a decoder that `pruned` made.

    Raises what the libraries raise (see `models.heads.fitting`), and KeyError for tensors too few or too many.
    """
    tensors = load_file(weights / LAYERS)
    tensors.pop("draft_vocab_ids", None)
    named = {name.removeprefix("model."): tensor.float() for name, tensor in tensors.items()}
    wrong = named.keys() ^ {name for name, p in model.named_parameters() if p.requires_grad}
    if wrong:
        raise KeyError(min(wrong))
    model.load_state_dict(named, strict=False)  # embeddings stay the target's

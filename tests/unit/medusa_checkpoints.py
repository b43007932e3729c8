"""Small Medusa checkpoints in every published layout, and the sentences that refuse unfit ones."""

import json

import pytest
import torch
from safetensors.torch import save_file

from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES, t
from tests.tiny import V, tiny_model
from tests.unit.test_medusa_model import D

LM_HEAD = torch.nn.Linear(D, V, bias=False)


def tensors_of(heads, layers=1, own=False, seed=0, size=D, rows=V):
    """Named as FasterDecoding's files are."""
    torch.manual_seed(seed)
    made = {}
    for i in range(heads):
        for block in range(layers):
            made[f"{i}.{block}.linear.weight"] = torch.randn(size, size)
            made[f"{i}.{block}.linear.bias"] = torch.randn(size)
        if own:
            made[f"{i}.{layers}.weight"] = torch.randn(rows, size)
    return made


def whole_model(tensors):
    base = {name: tensor.clone() for name, tensor in tiny_model().state_dict().items()}
    return {f"medusa_head.{name}": tensor for name, tensor in tensors.items()} | base


def write_safetensors(folder, tensors):
    save_file(tensors, folder / "medusa_lm_head.safetensors")


def write_pt(folder, tensors):
    torch.save(tensors, folder / "medusa_lm_head.pt")


def write_old_pt(folder, tensors):
    torch.save(tensors, folder / "medusa_lm_head.pt", _use_new_zipfile_serialization=False)


def write_prefixed(folder, tensors):
    write_safetensors(folder, {f"medusa_head.{name}": tensor for name, tensor in tensors.items()})


def write_whole(folder, tensors):
    save_file(whole_model(tensors), folder / "model.safetensors")


def write_whole_pt(folder, tensors):
    write_pt(folder, whole_model(tensors))


def write_sharded(folder, tensors):
    """The heads lie in two of three files; the third, of the base model alone, need not even be there."""
    everything = whole_model(tensors)
    names = [name for name in everything if name.startswith("medusa_head.")]
    places = dict.fromkeys(everything, "model-00003-of-00003.safetensors")
    for at, part in enumerate(([*names[::2], "model.norm.weight"], names[1::2]), 1):
        file = f"model-0000{at}-of-00003.safetensors"
        save_file({name: everything[name] for name in part}, folder / file)
        places |= dict.fromkeys(part, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))


WRITERS = [write_safetensors, write_pt, write_old_pt, write_prefixed, write_whole, write_whole_pt, write_sharded]


def refusal(call, *arguments):
    """The error of a call, whose sentences hold all its values in both languages."""
    with pytest.raises(SpecvizError) as raised:
        call(*arguments)
    error = raised.value
    for lang in LANGUAGES:
        text = t(lang, error.key, **error.values)
        assert "\n" not in text
        assert all(str(value) in text for value in error.values.values())
    return error

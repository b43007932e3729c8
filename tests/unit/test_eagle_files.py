"""Folders of an EAGLE-style layer: read as they were written, and what does not fit is refused in a sentence."""

import json
import math
from dataclasses import asdict, replace

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from specviz.engine.eagle_layer import LARGEST, WEIGHTS, EagleLayer, EagleSizes, load_eagle, save_config
from specviz.engine.reduced import ReducedHead
from specviz.errors import SpecvizError
from specviz.models.heads import drafter_maker
from tests.tiny import V, tiny_model

SIZES = EagleSizes(hidden=32, heads=4, kv_heads=2, head_dim=8, inner=64, theta=1e4, eps=1e-6)
TAPPED = replace(SIZES, taps=(1, 0))
IDS = torch.tensor([3, 0, 60, 7], dtype=torch.int32)


def written(folder, ids=IDS, sizes=SIZES):
    layer = EagleLayer(sizes)
    save_file(layer.state_dict() | ({} if ids is None else {"draft_vocab_ids": ids}), folder / WEIGHTS)
    save_config(folder / "config.json", sizes, {"target": "tiny"})
    return layer


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_was_written_is_read(dtype, tmp_path):
    head = nn.Linear(32, V, bias=False, dtype=dtype)
    for ids, sizes in ((IDS, TAPPED), (None, SIZES)):
        layer = written(tmp_path, ids, sizes)
        found, reader = load_eagle(tmp_path, head)
        assert found.sizes == sizes
        for name, weight in found.named_parameters():
            assert weight.dtype is dtype
            assert not weight.requires_grad
            assert weight.equal(layer.state_dict()[name].to(dtype))
        assert reader is head if ids is None else reader.ids.tolist() == ids.tolist()


SPOILED = {
    "hidden of another target": ({"hidden": 48}, "48.*32"),
    "an absurd size": ({"inner": 10**12}, "inner is 1000000000000"),
    "just too large": ({"inner": LARGEST + 1}, "inner"),
    "a size of 0": ({"head_dim": 0}, "head_dim is 0"),
    "a negative size": ({"heads": -4}, "heads is -4"),
    "half a head": ({"heads": 4.5}, "heads is 4.5"),
    "a size in words": ({"kv_heads": "two"}, "kv_heads is 'two'"),
    "a truth for a size": ({"kv_heads": True}, "kv_heads is True"),
    "heads that cannot be shared": ({"kv_heads": 3}, "4 heads.*3"),
    "an odd head": ({"head_dim": 7}, "head_dim is 7"),
    "theta that is none": ({"theta": math.nan}, "theta is nan"),
    "eps of 0": ({"eps": 0}, "eps is 0"),
    "other sizes than the weights": ({"inner": 63}, r"down.weight has the shape \[32, 64\] instead of \[32, 63\]"),
    "taps that are none": ({"taps": 3}, "taps is 3"),
    "a tap below 0": ({"taps": [2, -1]}, "taps is"),
    "taps without weights": ({"taps": [1]}, "fuse.weight is missing"),
    "a size too many": ({"layers": 2}, '"sizes" with hidden, heads'),
}


@pytest.mark.parametrize("what", SPOILED)
def test_sizes_that_do_not_fit(what, tmp_path):
    changes, said = SPOILED[what]
    written(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"sizes": asdict(SIZES) | changes}))
    refused(tmp_path, said)


def test_layers_written_before_there_were_taps(tmp_path):
    written(tmp_path)
    sizes = {name: size for name, size in asdict(SIZES).items() if name != "taps"}
    (tmp_path / "config.json").write_text(json.dumps({"sizes": sizes}))
    assert load_eagle(tmp_path, nn.Linear(32, V, bias=False))[0].sizes == SIZES


def test_a_tap_deeper_than_the_target(tmp_path):
    target = tiny_model()
    depth = target.config.num_hidden_layers
    written(tmp_path, sizes=replace(SIZES, taps=(depth,)))
    with pytest.raises(SpecvizError, match=f"after {depth} layers"):
        drafter_maker(target, V, "eagle", {"eagle": tmp_path})


@pytest.mark.parametrize("text", ["[]", "{}", '{"sizes": 3}', '{"sizes": {"hidden": 32}}', "3", "{", ""])
def test_a_config_that_is_none(text, tmp_path):
    written(tmp_path)
    (tmp_path / "config.json").write_text(text)
    refused(tmp_path, "Expecting" if text in ("", "{") else "sizes")


TENSORS = {
    "ids out of range": ("draft_vocab_ids", torch.tensor([3, V]), f"below {V}"),
    "ids below 0": ("draft_vocab_ids", torch.tensor([3, -1]), f"below {V}"),
    "ids twice": ("draft_vocab_ids", torch.tensor([3, 7, 3]), "different"),
    "no ids": ("draft_vocab_ids", torch.zeros(0, dtype=torch.long), r"\[0\]"),
    "ids in rows": ("draft_vocab_ids", torch.tensor([[3], [7]]), r"\[2, 1\]"),
    "one id": ("draft_vocab_ids", torch.tensor(3), "not a list"),
    "ids that are no whole numbers": ("draft_vocab_ids", torch.tensor([3.0, 7.0]), "float32"),
    "a weight of whole numbers": ("fc.weight", torch.ones(32, 64, dtype=torch.int64), "fc.weight is of int64"),
    "a weight of another shape": ("q.weight", torch.ones(32, 31), r"q.weight has the shape \[32, 31\]"),
    "a weight too many": ("bias", torch.ones(3), "no place for the tensor 'bias'"),
}


@pytest.mark.parametrize("what", TENSORS)
def test_tensors_that_do_not_fit(what, tmp_path):
    name, tensor, said = TENSORS[what]
    written(tmp_path)
    save_file(load_file(tmp_path / WEIGHTS) | {name: tensor}, tmp_path / WEIGHTS)
    refused(tmp_path, said)


def test_a_weight_that_is_missing(tmp_path):
    written(tmp_path)
    tensors = load_file(tmp_path / WEIGHTS)
    del tensors["o.weight"]
    save_file(tensors, tmp_path / WEIGHTS)
    refused(tmp_path, "o.weight is missing")


def refused(folder, said):
    """By the engine with a reason, and by what opens it in a sentence that holds the reason."""
    target = tiny_model()
    with pytest.raises(ValueError, match=said):
        load_eagle(folder, target.get_output_embeddings())
    with pytest.raises(SpecvizError, match=said) as error:
        drafter_maker(target, V, "eagle", {"eagle": folder})
    assert error.value.key == "errors.heads_broken"
    assert len(str(error.value)) < 500


def test_a_reduced_head_takes_different_rows_only():
    weight = torch.ones(5, 2)
    assert ReducedHead(weight, torch.tensor([4, 0])).ids.tolist() == [4, 0]
    for ids in ([0, 0], [5], [-1], [0.0], [[0]], [True], []):
        with pytest.raises(ValueError, match="vocabulary"):
            ReducedHead(weight, torch.tensor(ids))

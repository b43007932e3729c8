"""Medusa checkpoints that do not fit, are damaged or would run code: each is refused by name, in a sentence."""

import json
import os

import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz.models.heads import drafter_maker, heads_in
from specviz.models.medusa_files import load_medusa
from tests.tiny import V, tiny_model
from tests.unit.medusa_checkpoints import (
    LM_HEAD,
    refusal,
    tensors_of,
    whole_model,
    write_old_pt,
    write_prefixed,
    write_pt,
    write_safetensors,
    write_sharded,
    write_whole,
)
from tests.unit.test_medusa_model import D


def without(*names):
    return lambda tensors: [tensors.pop(name) for name in names]


def put(name, tensor):
    return lambda tensors: tensors.update({name: tensor})


@pytest.mark.parametrize("write", [write_safetensors, write_pt, write_whole, write_sharded])
@pytest.mark.parametrize(
    ("own", "change", "key", "values"),
    [
        (True, without("1.0.linear.bias"), "missing", {"name": "1.0.linear.bias", "heads": 4, "layers": 2}),
        (True, without("2.1.linear.weight", "3.0.linear.weight"), "missing", {"name": "2.1.linear.weight"}),
        (True, without("2.2.weight"), "missing", {"name": "2.2.weight"}),
        (False, put("5.0.linear.weight", torch.ones(D, D)), "missing", {"name": "4.0.linear.weight", "heads": 6}),
        (True, put("0.0.linear.scale", torch.ones(D)), "extra", {"name": "'0.0.linear.scale'"}),
        (True, put("3.2.bias", torch.ones(V)), "extra", {"name": "'3.2.bias'"}),
        (True, put("00.0.linear.weight", torch.ones(D, D)), "extra", {"name": "'00.0.linear.weight'"}),
        (True, put("9" * 5000 + ".0.linear.weight", torch.ones(1)), "extra", {"name": "'" + "9" * 79 + "…"}),
        (True, put("<b>\n</b>", torch.ones(1)), "extra", {"name": r"'<b>\n</b>'"}),
        (True, put("draft_vocab_ids", torch.arange(3)), "extra", {"name": "'draft_vocab_ids'"}),
        (False, put("1.5.weight", torch.ones(V, D)), "extra", {"name": "'1.5.weight'"}),
        (
            False,
            put("1.1.linear.weight", torch.ones(D, D + 1)),
            "shape",
            {"name": "1.1.linear.weight", "found": [D, D + 1], "expected": [D, D]},
        ),
        (
            True,
            put("0.0.linear.bias", torch.ones(D - 1)),
            "shape",
            {"name": "0.0.linear.bias", "found": [D - 1], "expected": [D]},
        ),
        (
            True,
            put("3.2.weight", torch.ones(V + 2, D)),
            "shape",
            {"name": "3.2.weight", "found": [V + 2, D], "expected": [V, D]},
        ),
        (False, put("0.0.linear.bias", torch.tensor(1.0)), "shape", {"found": [], "expected": [D]}),
        (
            False,
            put("2.0.linear.weight", torch.ones(D, D, dtype=torch.int8)),
            "kind",
            {"name": "2.0.linear.weight", "found": "torch.int8"},
        ),
    ],
)
def test_unfit_files_are_refused_by_name(own, change, key, values, write, tmp_path):
    tensors = tensors_of(4, 2, own)
    change(tensors)
    write(tmp_path, tensors)
    for call, arguments in ((heads_in, (tmp_path,)), (load_medusa, (tmp_path, LM_HEAD))):
        error = refusal(call, *arguments)
        assert error.key == f"errors.medusa_{key}"
        assert values.items() <= error.values.items()
        assert error.values["path"].startswith(str(tmp_path))


@pytest.mark.parametrize("file", ["medusa_lm_head.safetensors", "model.safetensors"])
def test_files_without_heads_are_refused(file, tmp_path):
    save_file({name: tensor.clone() for name, tensor in tiny_model().state_dict().items()}, tmp_path / file)
    error = refusal(heads_in, tmp_path)
    assert (error.key, error.values) == ("errors.medusa_no_keys", {"path": str(tmp_path / file)})


@pytest.mark.parametrize("name", ["0.0.linear.weight", "draft_vocab_ids"])
def test_names_with_and_without_the_prefix_are_not_mixed(name, tmp_path):
    save_file(whole_model(tensors_of(3)) | {name: torch.ones(D, D)}, tmp_path / "model.safetensors")
    error = refusal(heads_in, tmp_path)
    assert (error.key, error.values["name"]) == ("errors.medusa_extra", repr(name))


@pytest.mark.parametrize(
    "ids",
    [
        torch.tensor([1, V]),
        torch.tensor([-1, 3]),
        torch.tensor([4, 4]),
        torch.tensor([[1], [2]]),
        torch.ones(2),
        torch.arange(0),
    ],
    ids=["high", "negative", "twice", "matrix", "float", "none"],
)
def test_ids_that_cannot_be_are_refused(ids, tmp_path):
    write_safetensors(tmp_path, tensors_of(3) | {"draft_vocab_ids": ids})
    error = refusal(load_medusa, tmp_path, LM_HEAD)
    assert (error.key, error.values["rows"]) == ("errors.medusa_ids", V)


class Bomb:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_pickle_that_would_run_code_is_refused_and_not_run(tmp_path):
    write_pt(tmp_path, tensors_of(3) | {"x": Bomb(tmp_path / "ran")})
    for call, arguments in ((heads_in, (tmp_path,)), (load_medusa, (tmp_path, LM_HEAD))):
        error = refusal(call, *arguments)
        assert (error.key, error.values) == ("errors.medusa_pickle", {"path": str(tmp_path / "medusa_lm_head.pt")})
    assert not (tmp_path / "ran").exists()
    torch.load(tmp_path / "medusa_lm_head.pt", weights_only=False)
    assert (tmp_path / "ran").exists()  # it was a real one


@pytest.mark.parametrize(("held", "key"), [([1, 2], "broken"), ({1: torch.ones(2)}, "broken"), ({}, "no_keys")])
def test_a_pickle_of_something_else_is_refused(held, key, tmp_path):
    torch.save(held, tmp_path / "medusa_lm_head.pt")
    assert refusal(heads_in, tmp_path).key == f"errors.medusa_{key}"


@pytest.mark.parametrize(
    ("name", "held", "why"),
    [
        ("1.0.linear.bias", [0.0] * D, "is of the type list"),
        ("draft_vocab_ids", "all", "is of the type str"),
        ("1.0.linear.bias", torch.randn(D).to_sparse(), "does not hold a number"),
        ("draft_vocab_ids", torch.arange(5).to_sparse(), "does not hold a number"),
        ("0.0.linear.weight", torch.empty(D, D, device="meta"), "does not hold a number"),
        ("0.0.linear.weight", torch.zeros(1).expand(10**6, 10**6), "does not hold a number"),  # 4 bytes for 4 TB
    ],
    ids=["list", "text", "sparse", "sparse ids", "meta", "expanded"],
)
def test_what_only_a_pickle_can_hold_is_refused(name, held, why, tmp_path):
    write_pt(tmp_path, tensors_of(3) | {name: held})
    error = refusal(heads_in, tmp_path)
    assert error.key == "errors.medusa_broken"
    assert error.values["reason"] == f"ValueError: {name} {why}" + " for each of its places" * why.startswith("does")


@pytest.mark.parametrize("cut", [0, 5, 200], ids=["empty", "stub", "half"])
@pytest.mark.parametrize("write", [write_safetensors, write_pt, write_old_pt, write_sharded])
def test_damaged_files_are_a_sentence(write, cut, tmp_path):
    write(tmp_path, tensors_of(3))
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:cut])
    assert refusal(heads_in, tmp_path).key in ("errors.medusa_broken", "errors.medusa_pickle")


def test_an_index_leads_to_no_other_folder(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    write_prefixed(tmp_path, tensors_of(3))
    places = {f"medusa_head.{name}": "../medusa_lm_head.safetensors" for name in tensors_of(3)}
    (inner / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    error = refusal(heads_in, inner)
    assert error.key == "errors.medusa_broken"
    assert "../medusa_lm_head.safetensors" in error.values["reason"]


def test_a_missing_shard_and_a_tensor_missing_from_its_shard(tmp_path):
    write_sharded(tmp_path, tensors_of(3))
    shard = tmp_path / "model-00002-of-00003.safetensors"
    save_file({n: t for n, t in load_file(shard).items() if n != "medusa_head.1.0.linear.bias"}, shard)
    error = refusal(heads_in, tmp_path)
    assert (error.key, error.values["name"]) == ("errors.medusa_missing", "1.0.linear.bias")
    shard.unlink()
    assert refusal(heads_in, tmp_path).key == "errors.medusa_broken"


def test_a_broken_config_is_a_sentence(tmp_path):
    write_safetensors(tmp_path, tensors_of(3))
    (tmp_path / "config.json").write_text("[1, 2]")
    error = refusal(load_medusa, tmp_path, LM_HEAD)
    assert (error.key, error.values["path"]) == ("errors.medusa_broken", str(tmp_path / "config.json"))


@pytest.mark.parametrize(
    ("sizes", "key", "found", "expected"),
    [({"size": 48}, "hidden", 48, D), ({"rows": V + 3}, "vocabulary", V + 3, V), ({"rows": 9}, "vocabulary", 9, V)],
)
def test_heads_of_another_model_are_refused(sizes, key, found, expected, tmp_path):
    write_safetensors(tmp_path, tensors_of(3, own=True, **sizes))
    assert heads_in(tmp_path)  # as files they are sound
    error = refusal(drafter_maker, tiny_model(), V, "medusa", {"medusa": tmp_path})
    assert error.key == f"errors.medusa_{key}"
    assert (error.values["found"], error.values["expected"]) == (found, expected)

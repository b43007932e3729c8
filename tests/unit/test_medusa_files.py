"""Small Medusa checkpoints in every published layout: read as written, saved as read, refused by name when unfit."""

import json
import os
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

import specviz.models.open as open_module
from specviz.engine import eagle
from specviz.engine.reduced import ReducedHead
from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES, t
from specviz.models.heads import describe, drafter_maker, heads_in
from specviz.models.medusa_files import Layout, inspect, load_medusa, save_medusa
from specviz.training.medusa import MedusaTask
from tests.tiny import V, tiny_model
from tests.unit.test_medusa_model import D, by_hand

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


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__.removeprefix("write_"))
@pytest.mark.parametrize("own", [True, False], ids=["v1", "v2"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("count", [3, 4, 5])
def test_every_layout_is_read_as_written(count, layers, own, write, tmp_path):
    tensors = tensors_of(count, layers, own)
    write(tmp_path, tensors)
    assert inspect(tmp_path) == Layout(count, layers, D, V if own else None)
    heads = load_medusa(tmp_path, LM_HEAD)
    assert {name: t.shape for name, t in heads.state_dict().items()} == {n: t.shape for n, t in tensors.items()}
    assert (heads.reader is LM_HEAD) == (not own)
    assert not heads.training
    assert not any(weight.requires_grad for weight in heads.parameters())
    hidden = torch.randn(6, D)
    with torch.inference_mode():
        for i, logits in enumerate(heads(hidden)):
            lm_head = tensors[f"{i}.{layers}.weight"] if own else LM_HEAD.weight
            torch.testing.assert_close(logits, by_hand(hidden, tensors, i, layers, True, lm_head), atol=1e-3, rtol=1e-4)
    assert heads_in(tmp_path) == {"medusa": tmp_path}
    assert describe("medusa", {"medusa": tmp_path}, "tiny").levels == count


def test_a_wrong_config_changes_nothing(tmp_path):
    """As published: medusa-vicuna-7b-v1.3 says 2 heads and holds 5."""
    write_pt(tmp_path, tensors_of(5, 1, own=True))
    (tmp_path / "config.json").write_text(json.dumps({"medusa_num_heads": 2, "medusa_num_layers": 3}))
    assert (len(load_medusa(tmp_path, LM_HEAD)), load_medusa(tmp_path, LM_HEAD).layers) == (5, 1)


def test_heads_take_the_targets_precision(tmp_path):
    tensors = tensors_of(3)
    write_safetensors(tmp_path, tensors)
    low = torch.nn.Linear(D, V, bias=False, dtype=torch.bfloat16)
    state = load_medusa(tmp_path, low).state_dict()
    assert all(torch.equal(state[name], tensor.bfloat16()) for name, tensor in tensors.items())
    assert {weight.dtype for weight in load_medusa(tmp_path, low, torch.float32).parameters()} == {torch.float32}


@pytest.mark.parametrize("own", [True, False], ids=["v1", "v2"])
@pytest.mark.parametrize("residual", [True, False], ids=["residual", "plain"])
@pytest.mark.parametrize(("count", "layers"), [(3, 1), (4, 2), (5, 2)])
def test_round_trips_are_exact(count, layers, residual, own, tmp_path):
    tensors = tensors_of(count, layers, own)
    write_safetensors(tmp_path, tensors)
    (tmp_path / "config.json").write_text(json.dumps({"medusa_residual": residual}))
    heads = load_medusa(tmp_path, LM_HEAD)
    again = tmp_path / "again"
    save_medusa(again, heads, "some/base", facts={"note": "世界"})
    saved = load_file(again / "medusa_lm_head.safetensors")
    assert saved.keys() == tensors.keys()
    assert all(torch.equal(saved[name], tensor) for name, tensor in tensors.items())
    about = json.loads((again / "config.json").read_text(encoding="utf-8"))
    expected = {"base_model_name_or_path": "some/base", "medusa_num_heads": count, "medusa_num_layers": layers}
    assert about == expected | ({} if residual else {"medusa_residual": False}) | {"note": "世界"}
    hidden = torch.randn(3, D)
    loaded = load_medusa(again, LM_HEAD)
    assert torch.equal(loaded(hidden), heads(hidden))
    lm_head = tensors[f"1.{layers}.weight"] if own else LM_HEAD.weight
    torch.testing.assert_close(
        loaded(hidden)[1], by_hand(hidden, tensors, 1, layers, residual, lm_head), atol=1e-3, rtol=1e-4
    )
    assert sorted(file.name for file in again.iterdir()) == ["config.json", "medusa_lm_head.safetensors"]


def test_heads_for_some_ids_only(tmp_path):
    ids = torch.tensor([2, 3, 50], dtype=torch.int32)
    tensors = tensors_of(4) | {"draft_vocab_ids": ids}
    write_safetensors(tmp_path, tensors)
    heads = load_medusa(tmp_path, LM_HEAD)
    assert isinstance(heads.reader, ReducedHead)
    logits = heads(torch.randn(2, D))
    assert logits.shape == (4, 2, V)
    assert torch.isfinite(logits).sum(-1).eq(3).all()
    assert torch.isfinite(logits[..., ids.long()]).all()
    save_medusa(tmp_path / "again", heads, "some/base")
    saved = load_file(tmp_path / "again" / "medusa_lm_head.safetensors")
    assert torch.equal(saved["draft_vocab_ids"], ids)
    assert saved.keys() == tensors.keys()


def test_a_tensor_under_two_names_becomes_two(tmp_path):
    """FasterDecoding's own heads of several layers repeat one block, so their .pt files hold it once."""
    tensors = tensors_of(3, 2)
    for i in range(3):
        for part in ("weight", "bias"):
            tensors[f"{i}.1.linear.{part}"] = tensors[f"{i}.0.linear.{part}"]
    write_pt(tmp_path, tensors)
    heads = load_medusa(tmp_path, LM_HEAD)
    assert torch.equal(heads[0][0].linear.weight, heads[0][1].linear.weight)
    assert heads[0][0].linear.weight.data_ptr() != heads[0][1].linear.weight.data_ptr()
    save_medusa(tmp_path / "again", heads, "some/base")
    assert inspect(tmp_path / "again") == Layout(3, 2, D, None)


def test_a_file_may_change_while_its_heads_are_in_use(tmp_path):
    tensors = tensors_of(3)
    write_safetensors(tmp_path, tensors)
    heads = load_medusa(tmp_path, LM_HEAD)
    write_safetensors(tmp_path, {name: torch.zeros_like(tensor) for name, tensor in tensors.items()})
    assert all(torch.equal(heads.state_dict()[name], tensor) for name, tensor in tensors.items())


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


def test_a_name_without_a_tensor_is_refused(tmp_path):
    write_pt(tmp_path, tensors_of(3) | {"1.0.linear.bias": [0.0] * D})
    error = refusal(heads_in, tmp_path)
    assert (error.key, error.values["found"]) == ("errors.medusa_kind", "list")


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


def test_what_a_folder_holds(tmp_path):
    error = refusal(heads_in, tmp_path)
    assert error.key == "errors.heads_folder"
    assert "medusa_lm_head.pt" in error.values["files"]
    (tmp_path / eagle.WEIGHTS).touch()
    assert heads_in(tmp_path) == {"eagle": tmp_path}
    save_file({"lm_head.weight": torch.ones(2)}, tmp_path / "model.safetensors")  # just a model, beside
    assert heads_in(tmp_path) == {"eagle": tmp_path}
    write_pt(tmp_path, tensors_of(3))
    assert heads_in(tmp_path) == {"eagle": tmp_path, "medusa": tmp_path}
    assert refusal(heads_in, tmp_path / "nowhere").key == "errors.model_folder"


@pytest.mark.parametrize(
    ("held", "fetched"),
    [
        ("medusa_lm_head.pt config.json README.md", "medusa_lm_head.pt config.json"),
        ("medusa_lm_head.pt medusa_lm_head.safetensors", "medusa_lm_head.safetensors"),
        ("eagle.safetensors config.json medusa_lm_head.pt", "eagle.safetensors medusa_lm_head.pt config.json"),
        ("model.safetensors config.json pytorch_model.bin", "model.safetensors config.json"),
        ("medusa_lm_head.safetensors model.safetensors", "medusa_lm_head.safetensors"),
        ("pytorch_model.bin config.json", None),
    ],
)
def test_what_is_fetched_of_a_hub_repository(held, fetched, tmp_path, monkeypatch):
    write_pt(tmp_path, tensors_of(3))
    files = [SimpleNamespace(rfilename=name, size=7) for name in held.split()]
    monkeypatch.setattr(open_module, "ask_hub", lambda name: SimpleNamespace(id=name, siblings=files))
    asked = []
    monkeypatch.setattr(open_module, "download", lambda info, progress, files: asked.append(files) or tmp_path)
    if fetched is None:
        error = refusal(heads_in, "some/heads")
        assert (error.key, error.values["path"]) == ("errors.heads_folder", "some/heads")
    else:
        assert heads_in("some/heads")["medusa"] == tmp_path
        assert asked == [dict.fromkeys(fetched.split(), 7)]


@pytest.mark.parametrize("residual", [True, False])
def test_training_goes_on_from_a_file(residual, tmp_path):
    target, chosen = tiny_model().bfloat16(), torch.arange(40)  # the target may be in 16 bits, what learns is not
    tensors = tensors_of(3, 2)
    write_safetensors(tmp_path, tensors)
    (tmp_path / "config.json").write_text(json.dumps({"medusa_residual": residual}))
    task = MedusaTask(target, "tiny", chosen, tmp_path)
    assert all(torch.equal(task.module.state_dict()[name], tensor) for name, tensor in tensors.items())
    assert all(weight.requires_grad for weight in task.module.parameters())
    task.save(tmp_path / "out")
    assert inspect(tmp_path / "out") == Layout(3, 2, D, None)
    saved = load_medusa(tmp_path / "out", target.get_output_embeddings())
    assert torch.equal(saved.reader.ids, chosen)
    assert saved.residual == residual
    write_safetensors(tmp_path, tensors_of(3, own=True))
    assert refusal(MedusaTask, target, "tiny", chosen, tmp_path).key == "train.own_lm_heads"

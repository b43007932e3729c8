"""Medusa checkpoints of every published layout: read as written, saved as read, found in folders and on the hub."""

import json
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

import specviz.models.open as open_module
from specviz.engine import eagle_layer
from specviz.engine.reduced import ReducedHead
from specviz.models.heads import describe, heads_in
from specviz.models.medusa_files import Layout, inspect, load_medusa, save_medusa
from specviz.training.medusa import MedusaTask
from tests.tiny import V, tiny_model
from tests.unit.medusa_checkpoints import LM_HEAD, WRITERS, refusal, tensors_of, write_pt, write_safetensors
from tests.unit.test_medusa_model import D, by_hand


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


def test_what_a_folder_holds(tmp_path):
    error = refusal(heads_in, tmp_path)
    assert error.key == "errors.heads_folder"
    assert "medusa_lm_head.pt" in error.values["files"]
    (tmp_path / eagle_layer.WEIGHTS).touch()
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

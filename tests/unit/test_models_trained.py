"""A trained draft, of which there are layers only: made whole with its target, or refused in a sentence."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from specviz.errors import SpecvizError
from specviz.models.load import load_pair
from specviz.models.local import LAYERS
from specviz.models.served import served_of
from specviz.training.draft import DraftTask
from tests.tiny import tiny_model
from tests.unit.tiny_tokenizers import byte_level

VOCAB = len(byte_level())


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def target(tmp_path):
    folder = tmp_path / "target"
    byte_level().save_pretrained(folder)
    tiny_model("llama", vocab_size=VOCAB, eos_token_id=0).save_pretrained(folder)
    return folder


@pytest.fixture
def trained(target, tmp_path):
    model = AutoModelForCausalLM.from_pretrained(target).requires_grad_(False)
    folder = tmp_path / "trained"
    folder.mkdir()
    DraftTask(model, "target", (0, 1), torch.arange(0, VOCAB, 2), None).save(folder)
    return folder


def load(target, draft):
    return load_pair(target=str(target), draft=str(draft), device="cpu", dtype="float32")


def test_a_target_in_several_files_makes_the_same_draft(target, trained, tmp_path):
    whole = load(target, trained)
    several = tmp_path / "several"
    byte_level().save_pretrained(several)
    AutoModelForCausalLM.from_pretrained(target).save_pretrained(several, max_shard_size="20KB")
    assert not (several / "model.safetensors").exists()
    for a, b in zip(whole.draft.parameters(), load(several, trained).draft.parameters(), strict=True):
        torch.testing.assert_close(a, b)


def damaged(folder, how):
    config, weights = folder / "config.json", folder / LAYERS
    tensors = load_file(weights)
    if how == "no config":
        config.unlink()
    elif how == "cut config":
        config.write_text("{")
    elif how == "a list":
        config.write_text("[]")
    elif how == "more layers":
        config.write_text(json.dumps(json.loads(config.read_text()) | {"num_hidden_layers": 3}))
    elif how == "cut weights":
        weights.write_bytes(weights.read_bytes()[:-100])
    elif how == "a tensor less":
        save_file({name: x for name, x in tensors.items() if "layers.1.self_attn.q_proj" not in name}, weights)
    elif how == "no norm":
        save_file({name: x for name, x in tensors.items() if name != "model.norm.weight"}, weights)
    elif how == "ids":
        save_file(tensors | {"draft_vocab_ids": torch.tensor([3, VOCAB])}, weights)


HOW = ["no config", "cut config", "a list", "more layers", "cut weights", "a tensor less", "no norm", "ids"]


@pytest.mark.parametrize("how", HOW)
def test_a_damaged_one_is_refused(target, trained, how):
    damaged(trained, how)
    with pytest.raises(SpecvizError, match="trained") as raised:
        load(target, trained)
    assert raised.value.key in ("errors.heads_broken", "errors.model_holes")


def test_vllm_is_given_the_whole_model(target, trained):
    folder = served_of(None, str(target), str(trained)).draft
    assert AutoModelForCausalLM.from_pretrained(folder).config.num_hidden_layers == 2
    assert "-draft-" not in folder  # that is what the bundled one is called
    with pytest.raises(SpecvizError, match="not on this machine"):
        served_of(None, "somebody/elsewhere", str(trained))

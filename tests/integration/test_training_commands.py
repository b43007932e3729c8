"""The whole way on a tiny target of one's own, by the commands a user types."""

import json

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from specviz import cli
from specviz.training.shards import read_shard
from tests.tiny import tiny_model
from tests.unit.tiny_tokenizers import byte_level


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny-target")
    tokenizer = byte_level()
    tokenizer.save_pretrained(folder)
    model = tiny_model("llama", vocab_size=len(tokenizer), max_position_embeddings=640, eos_token_id=0)
    model.generation_config.eos_token_id = 0
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def corpus(target, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    assert run("corpus", target, "--out", folder, "--tokens", 1, "--rows", 100) == 0
    return folder


def run(what, target, *options):
    common = ["--target", target, "--device", "cpu", "--dtype", "float32", "--json"]
    return cli.main(["train", what, *map(str, [*common, *options])])


def test_a_corpus_has_a_report(corpus):
    report = json.loads((corpus / "corpus.json").read_text())
    assert report["tokens"] > 5000
    assert report["texts"] > 100
    assert len(report["texts_by_temperature"]) == 5


@pytest.mark.parametrize("what", ["draft", "eagle", "medusa"])
def test_weights_come_with_a_report_and_can_be_evaluated(what, target, corpus, tmp_path, capsys):
    out = tmp_path / "weights"
    options = ["--steps", 6, "--batch", 8, "--vocabulary", 100, "--prompts", 1]
    options += ["--layers", "0,2"] if what == "draft" else []
    assert run(what, target, "--corpus", corpus, "--out", out, *options) == 0
    report = json.loads((out / "report.json").read_text())
    assert report["what"] == what
    assert report["steps_done"] == 6
    assert report["vocabulary"] == 100
    assert sum(report["held_out"][-1]["loss"]) < sum(report["held_out"][0]["loss"])
    assert set(report["acceptance"]["temperatures"]) == {"0", "0.7"}
    capsys.readouterr()
    assert (
        run("evaluate", target, "--method", what, "--weights", out, "--prompts", 1, "--out", tmp_path / "e.json") == 0
    )
    told, kept = json.loads(capsys.readouterr().out), json.loads((tmp_path / "e.json").read_text())[what]
    assert told["temperatures"]["0"]["all"]["rounds"] == kept["temperatures"]["0"]["all"]["rounds"] > 0
    assert kept["prompts"] == dict.fromkeys(kept["temperatures"]["0"]["kinds"], 1)
    plain = generated(target, capsys, "--method", "none")
    used = generated(target, capsys, "--method", what, "--draft" if what == "draft" else "--heads", str(out))
    assert used["tokens"] == plain["tokens"]
    assert used["drafted"] > 0


def generated(target, capsys, *options):
    common = ["--target", str(target), "--device", "cpu", "--dtype", "float32", "--temperature", "0", "--json"]
    assert cli.main(["generate", "Hi there", "--max-new-tokens", "12", *common, *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_missing_corpus_is_a_sentence(target, tmp_path, capsys):
    assert run("medusa", target, "--corpus", tmp_path, "--out", tmp_path / "x") == 2
    assert "no corpus" in capsys.readouterr().err
    assert run("medusa", target, "--out", tmp_path / "x") == 2
    assert "--corpus" in capsys.readouterr().err


def test_a_draft_writes_text_that_the_target_judges(target, corpus, tmp_path):
    """Learning from its own drafts: the draft writes, the labels are the target's."""
    first, texts, second = tmp_path / "first", tmp_path / "texts", tmp_path / "second"
    options = ["--steps", 2, "--batch", 8, "--prompts", 1, "--layers", "0,2", "--vocabulary", 100]
    assert run("draft", target, "--corpus", corpus, "--out", first, *options) == 0
    assert run("corpus", target, "--weights", first, "--out", texts, "--tokens", 1, "--rows", 100) == 0
    assert not (texts / "teacher").exists()
    assert json.loads((texts / "corpus.json").read_text())["writer"] == "first"
    assert all(path.name.startswith("draft-seed0-") for path in texts.glob("*.bin"))
    assert run("draft", target, "--corpus", texts, "--out", second, "--weights", first, *options) == 0
    labels = load_file(next((texts / "teacher").glob("*.safetensors")))
    ids = torch.tensor(read_shard(next(texts.glob("*.bin")))[0].tokens.astype("int64"))
    model = AutoModelForCausalLM.from_pretrained(target).eval()
    with torch.inference_mode():
        fresh = model(ids[None]).logits[0].softmax(-1).topk(3)
    assert torch.allclose(labels["probs"][: len(ids), :3].float(), fresh.values, atol=2e-3)

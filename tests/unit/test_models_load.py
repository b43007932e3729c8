"""Pairs from local folders: what fits is loaded as transformers would, what does not is refused in a sentence."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    BertLMHeadModel,
    MambaConfig,
    MambaForCausalLM,
    Qwen3NextConfig,
    T5Config,
    T5ForConditionalGeneration,
)

import specviz.models.device as device_module
from specviz.errors import SpecvizError
from specviz.models.load import load_pair
from specviz.models.text import TextCodec
from tests.tiny import tiny_model
from tests.unit.tiny_tokenizers import byte_level

VOCAB = len(byte_level())


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """name -> folder of a small model with its tokenizer."""
    root = tmp_path_factory.mktemp("models")

    def save(name, model, tokenizer=None, **options):
        if tokenizer is not False:
            (tokenizer or byte_level()).save_pretrained(root / name)
        model.save_pretrained(root / name, **options)

    save("llama", tiny_model("llama", vocab_size=VOCAB, eos_token_id=0))
    save("llama-draft", tiny_model("llama", seed=1, vocab_size=VOCAB))
    save("padded", tiny_model("llama", seed=2, vocab_size=VOCAB + 19))
    save("gpt2", tiny_model("gpt2", seed=3, vocab_size=VOCAB))
    save("sliding", tiny_model("sliding", seed=4, vocab_size=VOCAB))
    save("other-words", tiny_model("llama", vocab_size=VOCAB), _swapped())
    save("short-table", tiny_model("llama", vocab_size=VOCAB - 3))
    save("short-context", tiny_model("llama", vocab_size=VOCAB, max_position_embeddings=8))
    save("wordless", tiny_model("llama", vocab_size=VOCAB), tokenizer=False)
    torch.manual_seed(0)
    save("mamba", MambaForCausalLM(MambaConfig(vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, state_size=4)))
    t5 = T5Config(vocab_size=VOCAB, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2)
    save("t5", T5ForConditionalGeneration(t5))
    bert = BertConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.5,
    )
    save("bert", BertLMHeadModel(bert))
    save("hybrid", AutoModelForCausalLM.from_config(_hybrid()))
    return root


def _swapped():
    """The same size, but two words have changed places."""
    tokenizer = byte_level()
    data = json.loads(tokenizer.backend_tokenizer.to_str())
    vocab = data["model"]["vocab"]
    vocab["a"], vocab["b"] = vocab["b"], vocab["a"]
    tokenizer._tokenizer = type(tokenizer.backend_tokenizer).from_str(json.dumps(data))
    return tokenizer


def _hybrid():
    return Qwen3NextConfig(
        vocab_size=VOCAB, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, linear_num_value_heads=2, linear_num_key_heads=2, linear_key_head_dim=16,
        linear_value_head_dim=16, num_experts=0, layer_types=["linear_attention", "full_attention"],
        max_position_embeddings=64,
    )  # fmt: skip


def load(models, target, draft=None, **options):
    draft = None if draft is None else str(models / draft)
    options = {"method": "draft" if draft else "skip", "device": "cpu", **options}
    return load_pair(target=str(models / target), draft=draft, **options)


@pytest.mark.parametrize("target", ["llama", "gpt2", "sliding", "padded"])
@pytest.mark.parametrize("draft", ["llama-draft", "gpt2", "padded"])
def test_pairs_that_fit(models, target, draft):
    pair = load(models, target, draft)
    oracle = AutoModelForCausalLM.from_pretrained(models / target, dtype=torch.float32).eval()
    text = torch.tensor([pair.codec.encode("hello world")])
    with torch.inference_mode():
        torch.testing.assert_close(pair.target(input_ids=text).logits, oracle(input_ids=text).logits)
    assert pair.vocab_size == VOCAB
    assert pair.id == "custom"
    assert not pair.target.training
    assert not any(p.requires_grad for m in (pair.target, pair.draft) for p in m.parameters())
    info = pair.models_info("draft")
    assert (info.target, info.draft, info.device, info.dtype) == (target, draft, "cpu", "float32")
    assert pair.models_info("skip").draft == f"{target} without layers 2"
    assert pair.models_info("lookup").draft == "prompt lookup"
    assert pair.models_info("none").draft == "no draft"
    assert pair.drafter_model("skip") is pair.drafter_model("skip")
    assert pair.drafter_model("skip").config.num_hidden_layers == 2
    assert (pair.draft is pair.target) == (target == draft)


@pytest.mark.parametrize(
    ("target", "draft", "key"),
    [
        ("llama", "other-words", "vocabularies"),
        ("llama", "short-table", "vocabularies"),
        ("llama", "wordless", "tokenizer"),
        ("wordless", None, "tokenizer"),
        ("mamba", None, "cache_fixed"),
        ("llama", "mamba", "cache_fixed"),
        ("hybrid", None, "cache_fixed"),
        ("bert", None, "cache_fixed"),
        ("t5", None, "model_encoder_decoder"),
        ("short-context", None, "context_small"),
        ("nowhere", None, "model_folder"),
    ],
)
def test_pairs_that_cannot_work_are_refused(models, target, draft, key):
    with pytest.raises(SpecvizError) as raised:
        load(models, target, draft)
    assert raised.value.key == f"errors.{key}"
    assert "{" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_reason_names_the_words_that_differ(models):
    with pytest.raises(SpecvizError, match=r"token \d+ is '[ab]' for the target, '[ab]' for the draft"):
        load(models, "llama", "other-words")


def test_rows_that_the_model_lacks_are_no_tokens(models):
    assert load(models, "short-table").vocab_size == VOCAB - 3


def test_eos(models):
    def eos(**ids):
        folder = models / "llama"
        (folder / "generation_config.json").write_text(json.dumps(ids), encoding="utf-8")
        return load(models, "llama").eos

    assert eos(eos_token_id=[1, 2]) == (1, 2)
    assert eos(eos_token_id=1) == (1,)
    assert eos() == (0,)  # the config's


def test_pickles_and_code_are_refused(models, tmp_path):
    folder = tmp_path / "pickle"
    byte_level().save_pretrained(folder)
    tiny_model(vocab_size=VOCAB).config.save_pretrained(folder)
    torch.save(tiny_model(vocab_size=VOCAB).state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(SpecvizError) as raised:
        load(tmp_path, "pickle")
    assert raised.value.key == "errors.model_pickle"
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(SpecvizError) as raised:
        load(tmp_path, "pickle")
    assert raised.value.key in ("errors.model_code", "errors.tokenizer")
    assert not (tmp_path / "ran").exists()


def test_the_tokenizer_is_what_its_file_says(models, tmp_path):
    """By the class name in its config it would be rebuilt without the splitting of digits."""
    tokenizer = byte_level()
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), tokenizer.backend_tokenizer.pre_tokenizer]
    )
    tokenizer.save_pretrained(tmp_path / "digits")
    tiny_model(vocab_size=VOCAB).save_pretrained(tmp_path / "digits")
    file = tmp_path / "digits" / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"tokenizer_class": "GPT2Tokenizer"}))
    codec = load(tmp_path, "digits").codec
    assert codec.encode("a  12", chat=False) == tokenizer("a  12")["input_ids"]
    assert codec.encode("<|end|>  12") == TextCodec(tokenizer, VOCAB).encode("<|end|>  12")


def test_a_model_with_holes_is_refused(models, tmp_path):
    """transformers fills them with random numbers: another model on each start."""
    shutil.copytree(models / "llama", tmp_path / "holes")
    weights = tmp_path / "holes" / "model.safetensors"
    tensors = load_file(weights)
    lost = "model.layers.1.self_attn.q_proj.weight"
    save_file({name: x for name, x in tensors.items() if name != lost}, weights, metadata={"format": "pt"})
    with pytest.raises(SpecvizError, match=lost) as raised:
        load(tmp_path, "holes")
    assert raised.value.key == "errors.model_holes"


@pytest.mark.parametrize("damage", ["truncated", "config", "weights"])
def test_damaged_folders_are_refused(models, tmp_path, damage):
    folder = tmp_path / "broken"
    byte_level().save_pretrained(folder)
    tiny_model(vocab_size=VOCAB).save_pretrained(folder)
    if damage == "truncated":
        weights = folder / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-100])
    elif damage == "config":
        (folder / "config.json").write_text("{")
    else:
        (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(SpecvizError) as raised:
        load(tmp_path, "broken")
    assert raised.value.key in ("errors.model_broken", "errors.tokenizer")
    assert len(str(raised.value)) < 500


def test_too_little_memory_is_noticed_before_loading(models, monkeypatch):
    monkeypatch.setattr(device_module, "free_memory", lambda device: 1000)
    with pytest.raises(SpecvizError) as raised:
        load(models, "llama")
    assert raised.value.key == "errors.memory"


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"pair": "nonsense"}, "choice"),
        ({"pair": "../../etc/passwd"}, "choice"),
        ({"pair": "smollm2-135m", "target": "x"}, "pair_or_models"),
        ({"target": "some/model"}, "no_draft"),
        ({"method": "guess"}, "choice"),
        ({"device": "gpu"}, "choice"),
        ({"dtype": "int3"}, "choice"),
        ({"target": "a b", "method": "none"}, "model_folder"),
        ({"target": "../nowhere", "method": "none"}, "model_folder"),
        ({"target": "/no/where", "method": "none"}, "model_folder"),
        ({"target": "a/b/c", "method": "none"}, "model_folder"),
        ({"target": "", "method": "none"}, "model_folder"),
        ({"target": "~nobody-of-this-name/x", "method": "none"}, "model_folder"),
        ({"target": "x" * 5000, "method": "none"}, "model_folder"),  # longer than a file's name can be
        ({"target": "a--b", "method": "none"}, "model_folder"),
        ({"heads": "[[0],[1]]" * 100, "method": "medusa"}, "model_folder"),
    ],
)
def test_unfit_arguments(options, key):
    with pytest.raises(SpecvizError) as raised:
        load_pair(**{"device": "cpu"} | options)
    assert raised.value.key == f"errors.{key}"
    assert "{" not in str(raised.value)


def test_a_method_without_draft_says_so(models):
    pair = load(models, "llama")
    assert pair.draft is None
    with pytest.raises(SpecvizError) as raised:
        pair.drafter_model("draft")
    assert raised.value.key == "errors.no_draft"


def test_layers_to_skip(models):
    assert load(models, "llama", skip="0-1").skip == (0, 1)
    assert load(models, "llama", skip=(1,)).models_info("skip").draft == "llama without layers 1"
    with pytest.raises(SpecvizError):
        load(models, "llama", skip="3")

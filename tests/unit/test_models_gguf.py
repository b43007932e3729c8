"""GGUF and back: a small Llama is written as llama.cpp's converter would and must come back with the same logits."""

import numpy as np
import pytest
import torch
from gguf import GGUFWriter
from transformers import AutoModelForCausalLM, AutoTokenizer

from specviz.models.gguf import TENSORS, convert
from tests.tiny import tiny_model
from tests.unit.tiny_tokenizers import byte_level


def write_gguf(file, model, tokenizer):
    """By the rules of the GGUF format, independent of the code under test."""
    config, writer = model.config, GGUFWriter(str(file), "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    by_id = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(by_id)
    writer.add_token_types([3 if token in tokenizer.all_special_tokens else 1 for token in by_id])
    writer.add_token_merges(["h e"])
    for add in (writer.add_bos_token_id, writer.add_eos_token_id, writer.add_pad_token_id, writer.add_unk_token_id):
        add(0)
    writer.add_chat_template("{{ messages[0]['content'] }}")
    for name, tensor in model.state_dict().items():
        array = tensor.numpy()
        for part, ours in TENSORS.items():
            name = name.replace(f".{ours}.", f".{part}.")
        if part_heads := {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}.get(
            name.split(".")[-2]
        ):  # the permutation of llama.cpp's convert_hf_to_gguf.py
            shape = (part_heads, 2, array.shape[0] // part_heads // 2, *array.shape[1:])
            array = array.reshape(shape).swapaxes(1, 2).reshape(array.shape)
        name = name.replace("model.layers.", "blk.").replace("model.embed_tokens", "token_embd")
        writer.add_tensor(name.replace("model.norm", "output_norm").replace("lm_head", "output"), np.array(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("tied", [False, True])
def test_round_trip(tmp_path, tied):
    tokenizer = byte_level()
    model = tiny_model("llama", vocab_size=len(tokenizer), tie_word_embeddings=tied)
    if tied:
        state = {k: v for k, v in model.state_dict().items() if k != "lm_head.weight"}
        model.state_dict = lambda: state
    write_gguf(tmp_path / "m.gguf", model, tokenizer)
    (tmp_path / "out").mkdir()
    convert(tmp_path / "m.gguf", tmp_path / "out")
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "out", dtype=torch.float32)
    text = torch.arange(3, 20).unsqueeze(0)
    with torch.inference_mode():
        torch.testing.assert_close(again(text).logits, model(text).logits, rtol=1e-5, atol=1e-5)
    read = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert read.get_vocab() == tokenizer.get_vocab()
    assert read.tokenize("12  34he") == ["1", "2", "Ġ", "Ġ", "3", "4", "he"]
    assert read.apply_chat_template([{"role": "user", "content": "x"}], tokenize=False) == "x"

"""Turns a GGUF file of a Llama with a GPT-2 style tokenizer (SmolLM2) into a plain Hugging Face model folder.

The package `gguf` reads the file and undoes its quantisation. transformers can load GGUF as well, but only with
`accelerate` installed, seven times slower, and with a tokenizer that does not split digits as this model's does.

The weights are written in fp32: each one is scale * integer + offset, a product that bf16 would round, and the
folder should hold exactly the numbers of the file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.models.quiet import no_bars

CONTROL = 3  # token type of special tokens in GGUF

TENSORS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""Names of a block's tensors in GGUF -> in LlamaForCausalLM."""


def convert(gguf_file: Path, folder: Path) -> None:
    """Writes config.json, model.safetensors, generation_config.json and the tokenizer's files into `folder`."""
    reader = GGUFReader(gguf_file)
    config = _config(reader)
    with torch.device("meta"):  # no memory for random weights that are replaced at once
        model = LlamaForCausalLM(config)
    weights = _weights(reader, config)
    if config.tie_word_embeddings:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model.load_state_dict(weights, assign=True)
    model.tie_weights()
    ids = {name: getattr(config, name) for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
    model.generation_config = GenerationConfig(**ids)
    with no_bars():
        model.save_pretrained(folder)
    _tokenizer(reader, config).save_pretrained(folder)


def _value(reader: GGUFReader, name: str, default: object = None) -> object:
    field = reader.get_field(name)
    return default if field is None else field.contents()


def _config(reader: GGUFReader) -> LlamaConfig:
    found = {name: _value(reader, f"llama.{name}") for name in ("embedding_length", "feed_forward_length")}
    heads = _value(reader, "llama.attention.head_count")
    return LlamaConfig(
        vocab_size=len(_value(reader, "tokenizer.ggml.tokens")),
        hidden_size=found["embedding_length"],
        intermediate_size=found["feed_forward_length"],
        num_hidden_layers=_value(reader, "llama.block_count"),
        num_attention_heads=heads,
        num_key_value_heads=_value(reader, "llama.attention.head_count_kv", heads),
        max_position_embeddings=_value(reader, "llama.context_length"),
        rms_norm_eps=_value(reader, "llama.attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": _value(reader, "llama.rope.freq_base", 10000.0)},
        tie_word_embeddings=all(tensor.name != "output.weight" for tensor in reader.tensors),
        bos_token_id=_value(reader, "tokenizer.ggml.bos_token_id"),
        eos_token_id=_value(reader, "tokenizer.ggml.eos_token_id"),
        pad_token_id=_value(reader, "tokenizer.ggml.padding_token_id"),
        dtype=torch.float32,
    )


def _weights(reader: GGUFReader, config: LlamaConfig) -> dict[str, torch.Tensor]:
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    ends = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
    weights = {}
    for tensor in reader.tensors:
        array = dequantize(tensor.data, tensor.tensor_type)
        stem = tensor.name.removesuffix(".weight")
        if stem.startswith("blk."):
            _, layer, part = stem.split(".")
            name = f"model.layers.{layer}.{TENSORS[part]}"
            if part in heads:
                array = _rotate_half_order(array, heads[part])
        else:
            name = ends[stem]
        weights[f"{name}.weight"] = torch.from_numpy(np.array(array, dtype=np.float32))
    return weights


def _rotate_half_order(array: np.ndarray, heads: int) -> np.ndarray:
    """[heads * head_dim, hidden]: GGUF keeps the two numbers that RoPE turns together side by side (0,1),(2,3);
    transformers keeps them half a head apart."""
    rows, columns = array.shape
    pairs = array.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


def _tokenizer(reader: GGUFReader, config: LlamaConfig) -> PreTrainedTokenizerFast:
    """Byte-level BPE. The pre-tokenizer "smollm" is GPT-2's after every digit has been split off."""
    if _value(reader, "tokenizer.ggml.pre") != "smollm":
        raise ValueError("only the pre-tokenizer of SmolLM is known here")
    tokens = _value(reader, "tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in _value(reader, "tokenizer.ggml.merges")]
    backend = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.ByteLevel(trim_offsets=True)
    types = _value(reader, "tokenizer.ggml.token_type")
    special = [token for token, kind in zip(tokens, types, strict=True) if kind == CONTROL]
    backend.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=tokens[config.bos_token_id],
        eos_token=tokens[config.eos_token_id],
        pad_token=tokens[config.pad_token_id],
        unk_token=tokens[_value(reader, "tokenizer.ggml.unknown_token_id")],
        chat_template=_value(reader, "tokenizer.chat_template"),
        model_max_length=config.max_position_embeddings,
        clean_up_tokenization_spaces=False,
    )

"""Small random models of several families. Weights are wide (0.3) so that a wrong cache row changes the logits."""

import torch
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig, MistralConfig, PreTrainedModel, Qwen2Config

V = 61
SIZES = {
    "vocab_size": V,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,
}
CONFIGS = {
    "llama": lambda: LlamaConfig(**SIZES),
    "qwen2": lambda: Qwen2Config(**SIZES),
    "gpt2": lambda: GPT2Config(
        vocab_size=V,
        n_embd=32,
        n_layer=3,
        n_head=4,
        n_positions=128,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=0,
    ),
    "sliding": lambda: MistralConfig(**SIZES, sliding_window=8),
}


def tiny_model(family: str = "llama", seed: int = 0, **changes) -> PreTrainedModel:
    """A model of `family`, the same for the same seed."""
    config = CONFIGS[family]()
    for name, value in changes.items():
        setattr(config, name, value)
    torch.manual_seed(seed)
    return AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()

"""Models that people serve: pairs for vLLM, and what their config.json says that decides whether vLLM takes them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """From the model's own config.json.

    rows   vocab_size; vLLM compares it, padding and all
    heads  attention heads; the number of GPUs must divide them
    """

    rows: int
    heads: int


FACTS = {
    "HuggingFaceTB/SmolLM2-135M-Instruct": Facts(49_152, 9),
    "HuggingFaceTB/SmolLM2-1.7B-Instruct": Facts(49_152, 32),
    "Qwen/Qwen2.5-0.5B-Instruct": Facts(151_936, 14),
    "Qwen/Qwen2.5-7B-Instruct": Facts(152_064, 28),
    "Qwen/Qwen2.5-72B-Instruct": Facts(152_064, 64),
    "Qwen/Qwen3-0.6B": Facts(151_936, 16),
    "Qwen/Qwen3-32B": Facts(151_936, 64),
    "meta-llama/Llama-3.2-1B-Instruct": Facts(128_256, 32),
    "meta-llama/Llama-3.1-8B-Instruct": Facts(128_256, 32),
    "meta-llama/Llama-3.1-70B-Instruct": Facts(128_256, 64),
    "meta-llama/Llama-3.3-70B-Instruct": Facts(128_256, 64),
}


@dataclass(frozen=True, slots=True)
class ServedPair:
    """A target and a draft for a server.

    tensor_parallel  GPUs that share each layer
    memory_gb        both models' weights in 16 bits; the KV cache comes on top
    """

    id: str
    target: str
    draft: str
    tensor_parallel: int
    memory_gb: int


_ALL = (
    ServedPair("llama-70b-1b", "meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Llama-3.2-1B-Instruct", 4, 144),
    ServedPair("llama-70b-8b", "meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-8B-Instruct", 4, 157),
    ServedPair("qwen-72b-7b", "Qwen/Qwen2.5-72B-Instruct", "Qwen/Qwen2.5-7B-Instruct", 4, 161),
    ServedPair("qwen-32b-0.6b", "Qwen/Qwen3-32B", "Qwen/Qwen3-0.6B", 2, 67),
)
SERVED = {pair.id: pair for pair in _ALL}


def facts(model: str | None) -> Facts | None:
    """What is known of a model; None for any other."""
    return FACTS.get(model) if model else None

"""A causal language model together with its KV cache, which grows by a pass and shrinks by a rollback.

The cache is never recomputed: a rollback drops rows. Only models whose cache can drop rows are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import Cache, DynamicCache, PretrainedConfig, PreTrainedModel, StaticCache

from specviz.engine.send import send
from specviz.engine.tree import Branches
from specviz.errors import SpecvizError


@dataclass(frozen=True, slots=True)
class Pass:
    """What one forward pass over n tokens gives."""

    logits: Tensor  # [rows, V], after the last `rows` tokens
    hidden: Tensor | None  # [n, layers * d], hidden states of the layers asked for, side by side; None if none were


class CachedLM:
    """`model` and the KV rows of the first `length` tokens of one text (batch of 1).

    vocab_size: logits beyond it are cut off, so that padded vocabularies of different sizes can be compared.
    cache: an empty one of the model's, such as a StaticCache with all its rows allocated; None: one that grows.
    """

    def __init__(self, model: PreTrainedModel, vocab_size: int | None = None, cache: Cache | None = None) -> None:
        self.model = model
        self.device = model.device
        text_config = model.config.get_text_config(decoder=True)
        self.vocab_size = vocab_size or text_config.vocab_size
        self.max_context: int | None = getattr(text_config, "max_position_embeddings", None)
        self.window = sliding_window(text_config)
        self.capacity: int | None = cache.get_max_length() if isinstance(cache, StaticCache) else None  # rows
        self.length = 0
        self._begin(cache)

    @torch.inference_mode()
    def forward(
        self, tokens: Tensor, rows: int = 1, layers: Sequence[int] = (), branches: Branches | None = None
    ) -> Pass:
        """Read `tokens` [n] after the cached ones; logits after each of the last `rows` of them.

        layers: whose hidden states to give as well; 0 is the embeddings, -1 what the LM head sees. branches: the tokens
        are not one text but nodes of a tree. Adds n rows to the cache. Raises SpecvizError when the text would outgrow
        the context.
        """
        end = self._admit(len(tokens), branches)
        shaped = {}
        if branches is not None:
            position, sees = send(branches.position, self.device), send(branches.sees, self.device, torch.bool)
            mask = Branches(sees, position).mask(self.length, self.model.dtype, self.capacity)  # large: made over there
            shaped = {"attention_mask": mask, "position_ids": position.unsqueeze(0)}
        out = self.model(
            input_ids=tokens.to(self.device).unsqueeze(0),  # [1, n]
            **shaped,
            cache=self.cache,
            use_cache=True,
            logits_to_keep=rows,
            output_hidden_states=bool(layers),
        )
        self.length = end
        states = torch.cat([out.hidden_states[i][0] for i in layers], dim=-1) if layers else None
        return Pass(out.logits[0, -rows:, : self.vocab_size], states)

    def prefill(self, tokens: Tensor, layers: Sequence[int] = ()) -> Tensor | None:
        """Read the beginning of a text, of which no logits are needed; gives the hidden states of `layers`, if any."""
        if not len(tokens):
            return None
        seen = self.forward(tokens, layers=layers)
        self.rollback(self.length)
        return seen.hidden

    def rollback(self, length: int) -> None:
        """Keep the first `length` rows. Cropping by 0 still lets a sliding window drop what has left it."""
        if not self.length:
            return  # nothing was read yet, and some layers of transformers cannot be cropped before that
        length = min(length, self.length)
        if not self.cache.is_croppable:
            raise SpecvizError("errors.cache_fixed", model=type(self.model).__name__)
        self.cache.crop(length - self.length)
        self.length = length

    @torch.inference_mode()
    def keep(self, length: int, rows: Sequence[int]) -> None:
        """Keep the first `length` rows and, behind them, those with the given numbers: an accepted path of a tree."""
        wanted = range(length, length + len(rows))
        if list(rows) != list(wanted):
            at = send(rows, self.device)
            for layer in self.cache.layers:
                for store in (layer.keys, layer.values):  # [1, heads, rows, head_dim]
                    if store is not None:  # some layers read another's
                        store[:, :, wanted.start : wanted.stop] = store.index_select(2, at.to(store.device))
        self.rollback(wanted.stop)

    def _begin(self, cache: Cache | None) -> None:
        """An empty cache."""
        self.cache = DynamicCache(config=self.model.config) if cache is None else cache
        self.cache.activate_past_recording()  # without it a sliding window could not be rolled back

    def _admit(self, n: int, branches: Branches | None) -> int:
        """The length after n more rows. Raises SpecvizError where they do not fit."""
        end = self.length + n
        deepest = end if branches is None else 1 + max(branches.position.tolist())
        for tokens, most in ((deepest, self.max_context), (end, self.capacity)):
            if most is not None and tokens > most:
                raise SpecvizError("errors.prompt_long", tokens=tokens, context=most)
        if branches is not None and self.window is not None and end > self.window:
            raise SpecvizError("errors.tree_window", tokens=end, window=self.window)
        return end


def sliding_window(config: PretrainedConfig) -> int | None:
    """How long a text may be for all layers to see all of it; None where they always do.

    Some have a window of the latest tokens, others (Llama 4) cut the text into chunks.
    """
    kinds = getattr(config, "layer_types", None)
    windows = [
        getattr(config, name, None)
        for kind, name in (("sliding_attention", "sliding_window"), ("chunked_attention", "attention_chunk_size"))
        if kinds is None or kind in kinds
    ]
    return min(filter(None, windows), default=None)

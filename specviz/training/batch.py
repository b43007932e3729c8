"""One token for each of many texts per forward pass: the fast way to have a model write a corpus.

A row of the batch holds one text; rows are at different positions. Prompts are fed token by token through the same
pass, so every pass has the same shape and no row ever waits for another. All rows begin with the same prefix (the
chat template's opening), which is read once; a row starts a new text by going back to the prefix's end.

What the target thinks at each place is noted on the way (see `labels`): reading the text again would cost half of
what writing it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, PreTrainedModel

from specviz.training.labels import likeliest, no_states, states, taps

BLOCK = 256  # ids whose probabilities are summed together when a token is drawn
GROUPED = "specviz_one_token"


class RowCache:
    """Preallocated keys and values [rows, KV heads, width, head_dim] of each layer, written at each row's position.

    It has the interface that transformers' attention layers use: `update` and `get_seq_length`.
    """

    is_compileable = False

    def __init__(self, rows: int, width: int) -> None:
        self.rows, self.width = rows, width
        self.layers: dict[int, tuple[Tensor, Tensor]] = {}
        self.position = torch.zeros(rows, dtype=torch.long)  # where the next token of each row goes
        self.end = 0  # columns in use

    def update(self, keys: Tensor, values: Tensor, layer_idx: int, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        """Stores this pass's keys and values [rows, KV heads, 1, head_dim]; returns the columns in use."""
        if layer_idx not in self.layers:
            self.layers[layer_idx] = tuple(
                x.new_zeros(self.rows, x.shape[1], self.width, x.shape[3]) for x in (keys, values)
            )
        every = torch.arange(self.rows, device=keys.device)
        for store, new in zip(self.layers[layer_idx], (keys, values), strict=True):
            store[every, :, self.position] = new[:, :, 0]
        all_keys, all_values = self.layers[layer_idx]
        return all_keys[:, :, : self.end], all_values[:, :, : self.end]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0


def one_token_attention(
    _module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    scaling: float | None = None,
    **_: object,
) -> tuple[Tensor, None]:
    """transformers' sdpa attention for one token a row: query [rows, heads, 1, D] -> [rows, 1, heads, D].

    The heads that share keys are read as several queries of one head. torch would copy the keys for each of them,
    which took 40 % of the time of a pass of 256 rows.
    """
    rows, heads, _one, size = query.shape
    grouped = query.reshape(rows, key.shape[1], -1, size)  # [rows, KV heads, heads of a group, D]
    attended = nn.functional.scaled_dot_product_attention(grouped, key, value, attn_mask=mask, scale=scaling)
    return attended.reshape(rows, 1, heads, size), None


AttentionInterface.register(GROUPED, one_token_attention)


@contextmanager
def grouped_attention(model: PreTrainedModel) -> Iterator[None]:
    """`one_token_attention` in the place of sdpa; models with another attention keep theirs."""
    before = model.config._attn_implementation
    if before == "sdpa":
        model.config._attn_implementation = GROUPED
    try:
        yield
    finally:
        model.config._attn_implementation = before


class Batch:
    """`rows` texts of up to `width` tokens, all beginning with `prefix`."""

    def __init__(self, model: PreTrainedModel, rows: int, width: int, prefix: Sequence[int]) -> None:
        self.model, self.rows, self.width = model, rows, width
        self.device = model.device
        self.cache = RowCache(rows, width)
        size, depth = model.get_output_embeddings().weight.shape
        top = likeliest(torch.zeros(1, size))[0].shape[1]
        self.ids = torch.zeros(rows, width, top, dtype=torch.int32)
        self.probs = torch.zeros(rows, width, top, dtype=torch.float16)
        self.layers = taps(model)
        self.states = no_states(rows, width, depth=depth, layers=self.layers)
        for i, token in enumerate(prefix):
            self.step(torch.full((rows,), token), torch.full((rows,), i))

    @torch.inference_mode()
    def step(self, tokens: Tensor, position: Tensor) -> Tensor:
        """tokens [rows] at their positions [rows] -> logits [rows, V] of each row's next token."""
        cache = self.cache
        cache.position = position.to(self.device)
        cache.end = min(self.width, -(-(int(position.max()) + 1) // 32) * 32)
        unseen = torch.arange(cache.end, device=self.device) > cache.position[:, None]  # [rows, columns]
        dtype = self.model.dtype
        mask = torch.zeros(unseen.shape, dtype=dtype, device=self.device).masked_fill(unseen, torch.finfo(dtype).min)
        with grouped_attention(self.model):
            out = self.model(
                input_ids=tokens.to(self.device)[:, None],
                attention_mask=mask[:, None, None],  # [rows, 1, 1, columns]
                position_ids=cache.position[:, None],
                cache=cache,
                use_cache=True,
                output_hidden_states=True,
            )
        logits = out.logits[:, -1]
        where = torch.arange(self.rows), position
        ids, probs = likeliest(logits)
        self.ids[where], self.probs[where] = ids.cpu(), probs.cpu()
        for name, state in states([x[:, -1] for x in out.hidden_states], self.layers).items():
            self.states[name][where] = state
        return logits

    def labels(self, row: int, n: int) -> dict[str, Tensor]:
        """What the target thought along the n tokens in a row; zeros for the last one, which was never read."""
        read = {"ids": self.ids, "probs": self.probs} | self.states
        return {name: torch.cat([x[row, : n - 1], torch.zeros_like(x[row, :1])]) for name, x in read.items()}


@torch.inference_mode()
def draw_rows(logits: Tensor, temperature: Tensor, u: Tensor) -> Tensor:
    """One token per row: logits [rows, V], temperature [rows] (0 is greedy), u [rows] uniform -> ids [rows].

    The inverse of the cumulative distribution, block by block: only one block per row is summed up entry by entry.
    """
    rows, size = logits.shape
    p = torch.nn.functional.pad(logits.float(), (0, -size % BLOCK), value=-torch.inf)  # a copy, changed in place
    top, argmax = p.max(-1, keepdim=True)
    p = p.sub_(top).div_(temperature.clamp(min=1e-3)[:, None]).exp_().view(rows, -1, BLOCK)  # not normalised
    sums = p.sum(-1).cumsum(-1, dtype=torch.float64)  # [rows, blocks]
    wanted = u.to(sums)[:, None] * sums[:, -1:]
    block = torch.searchsorted(sums, wanted, right=True).clamp(max=sums.shape[1] - 1)  # [rows, 1]
    before = torch.where(block > 0, sums.gather(1, (block - 1).clamp(min=0)), 0.0)
    inside = p.gather(1, block[:, :, None].expand(-1, 1, BLOCK))[:, 0].double().cumsum(-1)  # [rows, BLOCK]
    place = torch.searchsorted(inside, wanted - before, right=True)
    place = torch.minimum(place, torch.searchsorted(inside, inside[:, -1:].contiguous()))  # rounding: last with weight
    drawn = (block * BLOCK + place)[:, 0].clamp(max=size - 1)
    return torch.where(temperature == 0, argmax[:, 0], drawn)

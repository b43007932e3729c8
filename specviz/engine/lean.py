"""A lean forward pass for the Llama family: the numbers of transformers' own pass, sooner.

Keys and values lie in memory that is set aside at once, so a rollback is a number and a step copies nothing; products
that read the same input are one product, with weights in the order that the processor wants them; and a pass does
nothing in Python that it does not need. Llama, SmolLM2, Qwen2 and Mistral are run this way (see `fits`); every other
architecture is run by transformers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import rms_norm, scaled_dot_product_attention, silu
from transformers import Cache, PreTrainedModel

from specviz.engine.model import CachedLM, Pass, sliding_window
from specviz.engine.products import Form, Product, packed, plain, prepacked
from specviz.engine.send import send
from specviz.engine.tree import Branches

FAMILY = ("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM")
ROPES = ("default", "linear", "llama3", "yarn")  # angles that depend on the position alone, not on the text's length
FIRST_ROWS = 512  # of the cache; doubled when a text outgrows them


def fits(model: PreTrainedModel) -> bool:
    """Whether `model` is built just as this pass expects: one of the family, no sliding window, ordinary layers."""
    if type(model).__name__ not in FAMILY or not type(model).__module__.startswith("transformers."):
        return False
    config = model.config
    products = [part for part in model.model.layers.modules() if getattr(part, "weight", None) is not None]
    ordinary = all(type(part) is nn.Linear for part in products if part.weight.ndim == 2)  # else: quantized, adapters
    rope = getattr(model.model.rotary_emb, "rope_type", "")
    return ordinary and config.hidden_act == "silu" and rope in ROPES and sliding_window(config) is None


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer. d: hidden size, D: size of a head."""

    before: Tensor  # [d] norm before the attention
    qkv: Product  # [n, d] -> [n, (heads + 2 KV heads) * D]
    out: Product  # [n, heads * D] -> [n, d]
    after: Tensor  # [d] norm before the MLP
    gate_up: Product  # [n, d] -> [n, 2 * inner]
    down: Product  # [n, inner] -> [n, d]


@dataclass(frozen=True, slots=True)
class LeanModel:
    """A model's weights as this pass reads them. Made once by `lean`, shared by all runs."""

    model: PreTrainedModel
    layers: tuple[Layer, ...]
    head: Callable[[Tensor], Tensor]  # the LM head: [n, d] -> [n, V]

    def without(self, skipped: Sequence[int], model: PreTrainedModel) -> LeanModel:
        """The same less some layers; `model` is what transformers would run in its place. Copies nothing."""
        return replace(self, model=model, layers=tuple(x for i, x in enumerate(self.layers) if i not in set(skipped)))


@torch.no_grad()
def lean(model: PreTrainedModel, form: Form = plain) -> LeanModel:
    """The weights of a model that `fits`.

    form: of the products (see `specviz.engine.products`). All but `plain` keep a second copy of the weights. With
    `plain`, products that are one now hold the weights, and the model's own are views of them.
    """
    return LeanModel(model, tuple(_layer(layer, form) for layer in model.model.layers), _head(model, form))


def _layer(layer: nn.Module, form: Form) -> Layer:
    attention, mlp = layer.self_attn, layer.mlp
    return Layer(
        layer.input_layernorm.weight,
        _fused(form, attention.q_proj, attention.k_proj, attention.v_proj),
        _fused(form, attention.o_proj),
        layer.post_attention_layernorm.weight,
        _fused(form, mlp.gate_proj, mlp.up_proj),
        _fused(form, mlp.down_proj),
    )


def _head(model: PreTrainedModel, form: Form) -> Callable[[Tensor], Tensor]:
    head = model.get_output_embeddings()
    if type(head) is nn.Linear:
        return head if form is plain else _fused(form, head)
    return prepacked(head) if form is packed else head  # a ReducedHead


def _fused(form: Form, *linears: nn.Linear) -> Product:
    """One product in place of several that read the same input; their outputs come side by side."""
    weight = torch.cat([one.weight for one in linears]) if len(linears) > 1 else linears[0].weight.detach()
    bias = None if linears[0].bias is None else torch.cat([one.bias for one in linears])
    if form is plain and len(linears) > 1:
        for one, part in zip(linears, weight.split([one.out_features for one in linears]), strict=True):
            one.weight = nn.Parameter(part, requires_grad=False)
    return form(weight, bias)


@dataclass(eq=False)
class Memory:
    """What a run writes to, and what it can hand on to the next: the cache, and the angles of all its positions."""

    keys: Tensor  # [layers, KV heads, rows, D]
    values: Tensor  # [layers, KV heads, rows, D]
    cos: Tensor  # [rows, 1, D]
    sin: Tensor  # [rows, 1, D]
    steps: OrderedDict = field(default_factory=OrderedDict)  # for `specviz.engine.graphs`

    @property
    def rows(self) -> int:
        return self.keys.shape[2]


class LeanLM(CachedLM):
    """A `CachedLM` with a forward pass and a cache of its own."""

    def __init__(self, weights: LeanModel, vocab_size: int | None = None) -> None:
        self.weights = weights
        super().__init__(weights.model, vocab_size)

    def _begin(self, cache: Cache | None) -> None:
        config, base = self.model.config, self.model.model
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.size, self.eps = base.layers[0].self_attn.head_dim, config.rms_norm_eps
        self.embedding = base.embed_tokens.weight
        store = self.embedding.new_empty(len(self.weights.layers), self.kv_heads, 0, self.size)
        none = self.embedding.new_empty(0, 1, self.size)
        self.memory = Memory(store, store, none, none)

    @torch.inference_mode()
    def forward(
        self, tokens: Tensor, rows: int = 1, layers: Sequence[int] = (), branches: Branches | None = None
    ) -> Pass:
        begin, end = self.length, self._admit(len(tokens), branches)
        self._make_room(end)
        at = torch.arange(begin, end, device=self.device)
        position = at if branches is None else send(branches.position, self.device)
        seen = self._seen(begin, len(tokens), branches)
        logits, hidden = self._through(tokens.to(self.device), position, at, end, seen, rows, layers)
        self.length = end
        return Pass(logits, hidden)

    def _through(
        self,
        tokens: Tensor,
        position: Tensor,
        at: Tensor,
        span: int,
        seen: dict,
        rows: int,
        layers: Sequence[int],
    ) -> tuple[Tensor, Tensor | None]:
        """The pass itself: n `tokens` at `position` [n], into the cache rows `at` [n]; attention over the first `span`.

        -> logits [rows, V], hidden states [n, layers * d] or None. Asks nothing of the host.
        """
        n, memory = len(tokens), self.memory
        cos, sin = memory.cos[position], memory.sin[position]  # [n, 1, D]
        x = self.embedding[tokens]  # [n, d]
        states = [x]
        for i, layer in enumerate(self.weights.layers):
            y = layer.qkv(rms_norm(x, x.shape[-1:], layer.before, self.eps)).view(n, -1, self.size)
            q, k, v = y.split([self.heads, self.kv_heads, self.kv_heads], 1)  # [n, heads, D]
            memory.keys[i].index_copy_(1, at, rotated(k, cos, sin).transpose(0, 1))
            memory.values[i].index_copy_(1, at, v.transpose(0, 1))
            attended = scaled_dot_product_attention(
                rotated(q, cos, sin).transpose(0, 1)[None],  # [1, heads, n, D]
                memory.keys[i : i + 1, :, :span],
                memory.values[i : i + 1, :, :span],
                **seen,
                enable_gqa=True,
            )
            x = x + layer.out(attended[0].transpose(0, 1).reshape(n, -1))
            gate, up = layer.gate_up(rms_norm(x, x.shape[-1:], layer.after, self.eps)).chunk(2, -1)
            x = x + layer.down(silu(gate) * up)
            states.append(x)
        states[-1] = rms_norm(x, x.shape[-1:], self.model.model.norm.weight, self.eps)  # as transformers names them
        logits = self.weights.head(states[-1][-rows:])[:, : self.vocab_size]
        return logits, torch.cat([states[i] for i in layers], -1) if layers else None

    def rollback(self, length: int) -> None:
        self.length = min(length, self.length)

    @torch.inference_mode()
    def keep(self, length: int, rows: Sequence[int]) -> None:
        wanted = range(length, length + len(rows))
        if list(rows) != list(wanted):
            at = send(rows, self.device)
            for store in (self.memory.keys, self.memory.values):
                store[:, :, wanted.start : wanted.stop] = store.index_select(2, at)
        self.rollback(wanted.stop)

    def _seen(self, begin: int, n: int, branches: Branches | None) -> dict:
        """What each of the n tokens may look at, as attention wants it."""
        if branches is not None:
            sees = send(branches.sees, self.device, torch.bool)
            return {"attn_mask": Branches(sees, branches.position).whole(begin)}
        if n == 1 or not begin:
            return {"is_causal": n > 1}
        return {"attn_mask": torch.ones(n, begin + n, dtype=torch.bool, device=self.device).tril(begin)}

    def _make_room(self, rows: int) -> None:
        old, have = self.memory, self.memory.rows
        if rows <= have:
            return
        wanted = max(FIRST_ROWS, 2 * have, rows)
        stores = [torch.nn.functional.pad(store, (0, 0, 0, wanted - have)) for store in (old.keys, old.values)]
        everywhere = torch.arange(wanted, device=self.device)[None]
        cos, sin = self.model.model.rotary_emb(self.embedding[None, :1], everywhere)  # [1, rows, D]
        self.memory = Memory(*stores, cos[0, :, None], sin[0, :, None])


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions in Llama's layout of halves: x [n, heads, D]; cos, sin [n, 1, D]."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin

"""An EAGLE-style drafter: one decoder layer that carries the target's last hidden state on, a token at a time.

Li et al., "EAGLE", arXiv 2401.15077, and "EAGLE-3", arXiv 2503.01840. Row t reads the hidden state after token t and
the embedding of token t + 1, and gives a guess of the hidden state after token t + 1, which the target's LM head
turns into q for token t + 2. Where the target has been, its own states are read; further on, the layer's guesses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.drafters import NO_LIMIT, Proposal
from specviz.engine.reduced import ReducedHead
from specviz.engine.sampling import Draws, draw, shape
from specviz.engine.tree import Branches, Tree

WEIGHTS = "eagle.safetensors"


@dataclass(frozen=True, slots=True)
class EagleSizes:
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    inner: int
    theta: float
    eps: float


class Norm(nn.Module):
    """Root mean square norm, in the precision of its input (torch's own warns when weights are kept in another)."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), self.eps)


class EagleLayer(nn.Module):
    """fc([norm(hidden); norm(embedding)]), then one Llama decoder layer and a norm."""

    def __init__(self, sizes: EagleSizes) -> None:
        super().__init__()
        s = self.sizes = sizes
        self.hidden_norm = Norm(s.hidden, s.eps)
        self.embed_norm = Norm(s.hidden, s.eps)
        self.fc = nn.Linear(2 * s.hidden, s.hidden, bias=False)
        self.input_norm = Norm(s.hidden, s.eps)
        self.q = nn.Linear(s.hidden, s.heads * s.head_dim, bias=False)
        self.k = nn.Linear(s.hidden, s.kv_heads * s.head_dim, bias=False)
        self.v = nn.Linear(s.hidden, s.kv_heads * s.head_dim, bias=False)
        self.o = nn.Linear(s.heads * s.head_dim, s.hidden, bias=False)
        self.mlp_norm = Norm(s.hidden, s.eps)
        self.gate = nn.Linear(s.hidden, s.inner, bias=False)
        self.up = nn.Linear(s.hidden, s.inner, bias=False)
        self.down = nn.Linear(s.inner, s.hidden, bias=False)
        self.norm = Norm(s.hidden, s.eps)

    def join(self, hidden: Tensor, embedding: Tensor) -> Tensor:
        """[..., d], [..., d] -> the layer's input [..., d]."""
        joined = self.fc(torch.cat([self.hidden_norm(hidden), self.embed_norm(embedding)], -1))
        return joined.to(hidden.dtype)  # under autocast the residual stream stays in fp32

    def attention_inputs(self, x: Tensor, position: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [B, S, d] at positions [S] -> queries [B, heads, S, D]; keys and values [B, KV heads, S, D]."""
        s, y = self.sizes, self.input_norm(x)
        q, k, v = (
            linear(y).unflatten(-1, (n, s.head_dim)).transpose(1, 2)
            for linear, n in ((self.q, s.heads), (self.k, s.kv_heads), (self.v, s.kv_heads))
        )
        return rotate(q, position, s.theta), rotate(k, position, s.theta), v

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """The layer's input x [B, S, d], what it attended to [B, heads, S, D] -> guessed hidden states [B, S, d]."""
        x = x + self.o(attended.transpose(1, 2).flatten(-2))
        y = self.mlp_norm(x)
        return self.norm(x + self.down(nn.functional.silu(self.gate(y)) * self.up(y)))


def rotate(x: Tensor, position: Tensor, theta: float) -> Tensor:
    """Rotary positions, in Llama's layout of halves: x [B, heads, S, D] at positions [S]."""
    half = x.shape[-1] // 2
    rates = theta ** (-torch.arange(half, dtype=torch.float32, device=x.device) / half)
    angles = position.to(x.device, torch.float32)[:, None] * rates  # [S, D/2]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def save_config(folder: Path, sizes: EagleSizes, facts: dict) -> None:
    (folder / "config.json").write_text(json.dumps(facts | {"sizes": asdict(sizes)}, indent=1) + "\n", encoding="utf-8")


def load_eagle(folder: Path, lm_head: nn.Module) -> tuple[EagleLayer, nn.Module]:
    """The layer of `folder` and the LM head that reads it."""
    sizes = EagleSizes(**json.loads((folder / "config.json").read_text(encoding="utf-8"))["sizes"])
    tensors = load_file(folder / WEIGHTS)
    chosen = tensors.pop("draft_vocab_ids", None)
    layer = EagleLayer(sizes)
    layer.load_state_dict(tensors)
    layer = layer.to(lm_head.weight.device, lm_head.weight.dtype).eval().requires_grad_(False)
    return layer, lm_head if chosen is None else ReducedHead(lm_head.weight, chosen)


class EagleDrafter:
    """Drafts a chain. Its cache has one row fewer than the text: row t joins token t's state with token t + 1."""

    layers = (-1,)

    def __init__(self, layer: EagleLayer, embed: nn.Module, lm_head: nn.Module, vocab_size: int) -> None:
        self.layer, self.embed, self.lm_head, self.vocab_size = layer, embed, lm_head, vocab_size
        self.device = lm_head.weight.device
        self.keys = self.values = None  # [1, KV heads, rows, D]
        self.length = 0  # rows made of the target's own states
        self.states: Tensor | None = None  # [n, d] states of the target that no row has been made of yet

    @property
    def rows(self) -> int:
        return 0 if self.keys is None else self.keys.shape[2]

    def room(self, length: int) -> int:
        return NO_LIMIT if length > 1 else 0  # before a text's only token there is no hidden state

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None) -> None:
        self.states = hidden

    @torch.inference_mode()
    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        hidden = self._read_text(tokens)
        ids, rows, times = [], [], []
        for i in range(k):
            if ids:
                hidden = self._step(hidden, ids[-1])  # [1, d]
            q = shape(self.lm_head(hidden)[0, : self.vocab_size], config)  # [V]
            token = draw(q, draws.draft[i]) if i not in forced else torch.tensor(forced[i], device=q.device)
            ids.append(token.view(1))
            rows.append(q)
            times.append(clock.lap())
        return Proposal(torch.cat(ids), torch.stack(rows), tuple(times))

    def commit(self, length: int, hidden: Tensor | None, path: Sequence[int] = ()) -> None:
        """Rows made of guesses go; the target's own states of the kept tokens will take their place."""
        if self.keys is not None:
            self.keys, self.values = self.keys[:, :, : self.length], self.values[:, :, : self.length]
        if hidden is not None:  # no draft was made in a round with k = 0: its states come on top of those waiting
            self.states = hidden if self.states is None else torch.cat([self.states, hidden])

    def _read_text(self, tokens: Sequence[int]) -> Tensor:
        """Rows for the target's new states, each with the token after it; the guess [1, d] after the last token."""
        hidden = self.states  # [n, d] of tokens length .. length + n - 1 = the last but one
        feed = torch.tensor(tokens[self.length + 1 :], dtype=torch.long, device=self.device)
        assert hidden is not None
        assert len(hidden) == len(feed)
        guess = self._step(hidden, feed)[-1:]
        self.length += len(hidden)
        self.states = None
        return guess

    def _step(self, hidden: Tensor, tokens: Tensor, branches: Branches | None = None) -> Tensor:
        """hidden [n, d], tokens [n] -> guesses [n, d]; adds n rows, which follow each other or hang in a tree."""
        x = self.layer.join(hidden.to(self.lm_head.weight.dtype), self.embed(tokens))[None]  # [1, n, d]
        begin, n = self.rows, len(tokens)
        branches = branches or Branches.of(Tree.chain(n), begin)
        q, k, v = self.layer.attention_inputs(x, branches.position)
        self.keys = k if self.keys is None else torch.cat([self.keys, k], 2)
        self.values = v if self.values is None else torch.cat([self.values, v], 2)
        seen = branches.whole(begin).to(x.device)
        out = nn.functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen, enable_gqa=True)
        return self.layer.finish(x, out)[0]

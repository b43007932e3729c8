"""An EAGLE-style drafter: one decoder layer (see `eagle_layer`) that carries the target's last hidden state on, a token
at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.drafters import NO_LIMIT, Proposal
from specviz.engine.eagle_layer import EagleLayer
from specviz.engine.sampling import Draws, draw, on_device, shape
from specviz.engine.send import send
from specviz.engine.tree import Branches


class EagleDrafter:
    """Drafts a chain. Its cache has one row fewer than the text: row t joins token t's state with token t + 1."""

    def __init__(self, layer: EagleLayer, embed: nn.Module, lm_head: nn.Module, vocab_size: int) -> None:
        self.layer, self.embed, self.lm_head, self.vocab_size = layer, embed, lm_head, vocab_size
        self.device = lm_head.weight.device
        self.keys = self.values = None  # [1, KV heads, rows, D]
        self.length = 0  # rows made of the target's own states
        self.states: Tensor | None = None  # [n, layers * d] of the target, that no row has been made of yet

    @property
    def layers(self) -> tuple[int, ...]:
        return self.layer.layers

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
            u, _, _ = on_device(draws, q.device)
            token = send(forced[i], q.device) if i in forced else draw(q, u[i])
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
        assert self.states is not None
        hidden = self.layer.hidden(self.states.to(self.lm_head.weight.dtype))  # [n, d] from token length on
        feed = send(tokens[self.length + 1 :], self.device)
        assert len(hidden) == len(feed)
        guess = self._step(hidden, feed)[-1:]
        self.length += len(hidden)
        self.states = None
        return guess

    def _step(self, hidden: Tensor, tokens: Tensor, branches: Branches | None = None) -> Tensor:
        """hidden [n, d], tokens [n] -> guesses [n, d]; adds n rows, which follow each other or hang in a tree."""
        x = self.layer.join(hidden.to(self.lm_head.weight.dtype), self.embed(tokens.to(self.device)))[None]  # [1, n, d]
        begin, n = self.rows, len(tokens)
        position = branches.position if branches else torch.arange(begin, begin + n, device=self.device)
        q, k, v = self.layer.attention_inputs(x, position)
        self.keys = k if self.keys is None else torch.cat([self.keys, k], 2)
        self.values = v if self.values is None else torch.cat([self.values, v], 2)
        seen = branches.whole(begin) if branches else None  # [n, begin + n]
        if seen is None and begin and n > 1:  # without older rows `is_causal` says the same, and takes no memory
            seen = torch.ones(n, begin + n, dtype=torch.bool, device=self.device).tril(begin)
        causal = {"attn_mask": seen, "is_causal": seen is None and n > 1}
        out = nn.functional.scaled_dot_product_attention(q, self.keys, self.values, enable_gqa=True, **causal)
        return self.layer.finish(x, out)[0]

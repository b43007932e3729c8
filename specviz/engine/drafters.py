"""Who proposes the tokens. One interface; a drafter keeps its own state in step with the text.

Each proposes up to k tokens ahead, a chain or a tree, with the distributions q that they came from. A drafter that
learns from the target (heads, EAGLE) names the `layers` whose hidden states it wants, and gets those of every token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.model import CachedLM
from specviz.engine.sampling import Draws, draw, on_device, shape
from specviz.engine.send import send
from specviz.engine.tree import Tree
from specviz.engine.verify_tree import Siblings

NO_LIMIT = 2**31


@dataclass(frozen=True, slots=True)
class Proposal:
    """n drafted tokens, the distributions they came from, the time of each step, and their shape."""

    tokens: Tensor  # [n]
    q: Tensor  # [m, V]
    times: tuple[float, ...]
    tree: Tree | None = None  # None: a chain
    source: Tensor | None = None  # [n]: the row of q that each node came from; None: its own
    siblings: Siblings = Siblings.IID  # how the children of a node were chosen

    @property
    def shape(self) -> Tree:
        return self.tree or Tree.chain(len(self.tokens))

    @property
    def rows(self) -> Tensor:
        """[n]: the row of q of each node."""
        return torch.arange(len(self.tokens), device=self.q.device) if self.source is None else self.source


class Drafter(Protocol):
    """`rows` is the length of its KV cache, None if it has none; `layers` are those of the target it listens to."""

    layers: tuple[int, ...]

    @property
    def rows(self) -> int | None: ...

    def room(self, length: int) -> int:
        """How many tokens it could draft after a text of `length` tokens, by its own context."""

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None) -> None:
        """Read a text up to, but without, its last token.

        hidden [n - 1, layers * d]: the target's states of these tokens, if wanted.
        """

    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        """Draft 1 to k tokens deep (lookup: perhaps none) after the text `tokens`, k >= 1.

        `forced` puts given tokens at given positions (a what-if), in that order.
        """

    def commit(self, length: int, hidden: Tensor | None, path: Sequence[int] = ()) -> None:
        """The text now holds `length` accepted tokens (the final token comes on top): forget what goes beyond.

        hidden [n, layers * d]: the target's states of the round's kept rows, if wanted: the last token of the text
        before the round, then the accepted ones. path: the accepted nodes.
        """


class ModelDrafter:
    """A smaller causal LM, or the target with layers skipped: k small forward passes."""

    layers = ()

    def __init__(self, lm: CachedLM) -> None:
        self.lm = lm

    @property
    def rows(self) -> int:
        return self.lm.length

    def room(self, length: int) -> int:
        return NO_LIMIT if self.lm.max_context is None else max(0, self.lm.max_context - length + 1)

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None) -> None:
        self.lm.prefill(torch.tensor(tokens[self.lm.length : -1], dtype=torch.long))

    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        # After a full acceptance the cache lacks the last drafted token as well as the bonus: feed both.
        feed = send(tokens[self.lm.length :], self.lm.device)
        ids, rows, times = [], [], []
        for i in range(k):
            q = shape(self.lm.forward(feed).logits[0], config)  # [V]
            u, _, _ = on_device(draws, q.device)
            token = send(forced[i], q.device) if i in forced else draw(q, u[i])
            feed = token.view(1)
            ids.append(token)
            rows.append(q)
            times.append(clock.lap())
        return Proposal(torch.stack(ids), torch.stack(rows), tuple(times))

    def commit(self, length: int, hidden: Tensor | None, path: Sequence[int] = ()) -> None:
        self.lm.rollback(length)


class LookupDrafter:
    """Prompt lookup: what followed the last few tokens when they occurred before. No model; q is one-hot.

    A. Saxena, "Prompt Lookup Decoding" (2023): the longest n-gram first, its latest occurrence.
    """

    layers = ()
    rows = None

    def __init__(self, vocab_size: int, device: torch.device, longest: int = 3) -> None:
        self.vocab_size, self.device, self.longest = vocab_size, device, longest

    def room(self, length: int) -> int:
        return NO_LIMIT

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None) -> None:
        """Nothing to read ahead."""

    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        found = list(self.find(tokens, k))
        for i, token in sorted(forced.items()):
            if i <= len(found):  # a forced token may also extend the chain by one
                found[i : i + 1] = [token]
        ids = send(found[:k], self.device)
        q = torch.zeros(len(ids), self.vocab_size, device=self.device).scatter_(-1, ids.unsqueeze(-1), 1.0)
        return Proposal(ids, q, (clock.lap(),))

    def find(self, tokens: Sequence[int], k: int) -> Sequence[int]:
        """The up to k tokens after the latest earlier occurrence of the text's ending."""
        for n in range(min(self.longest, len(tokens) - 1), 0, -1):
            ending = tokens[-n:]
            for start in range(len(tokens) - n - 1, -1, -1):
                if tokens[start : start + n] == ending:
                    return tokens[start + n : start + n + k]
        return []

    def commit(self, length: int, hidden: Tensor | None, path: Sequence[int] = ()) -> None:
        """Nothing kept, nothing to forget."""

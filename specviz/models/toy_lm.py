"""A target and a draft of a few words, which are tables: for checks of the engine that take a second.

The next word's probabilities are those of the table, turned round by the sum of all words before. So every word of the
text counts, as in a real model, and a wrong cache row shows.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from specviz.engine.model import Pass
from specviz.engine.tree import Branches


class ToyLM:
    """Stands where a `CachedLM` stands; its cache is the text itself. Chains only. probs [V], summing to 1."""

    device = torch.device("cpu")
    max_context = None
    window = None

    def __init__(self, probs: Sequence[float]) -> None:
        self.vocab_size = len(probs)
        table = torch.tensor(probs, dtype=torch.float64).log().float()
        self.turned = torch.stack([table.roll(by) for by in range(len(probs))])  # [V, V]
        self.read: list[int] = []

    @property
    def length(self) -> int:
        return len(self.read)

    def forward(
        self, tokens: Tensor, rows: int = 1, layers: Sequence[int] = (), branches: Branches | None = None
    ) -> Pass:
        """Logits [rows, V] after the last `rows` of the tokens."""
        sums, total = [], sum(self.read)
        for token in tokens.tolist():
            self.read.append(token)
            total += token
            sums.append(total % self.vocab_size)
        return Pass(self.turned[sums[-rows:]], None)

    def prefill(self, tokens: Tensor, layers: Sequence[int] = ()) -> None:
        self.read += tokens.tolist()

    def rollback(self, length: int) -> None:
        del self.read[length:]

    def keep(self, length: int, rows: Sequence[int]) -> None:
        self.read = self.read[:length] + [self.read[row] for row in rows]


def law_of_two(probs: Sequence[float]) -> dict[tuple[int, int], float]:
    """The exact probability of the first two words after word 0."""
    n = len(probs)
    return {(a, b): probs[a] * probs[(b - a) % n] for a in range(n) for b in range(n) if probs[a] * probs[(b - a) % n]}

"""A model for thousands of runs over the same few texts: what a pass gave is remembered, not computed again."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from specviz.engine.model import CachedLM, Pass
from specviz.engine.tree import Branches


class Remembered(CachedLM):
    """A `CachedLM` that never runs the same pass twice. All that `again()` gives share what is remembered.

    Its own cache is set to any text by rolling back to the common beginning and reading the rest; branches that were
    read on top of a text are read again on top of it.
    """

    def __init__(self, model: PreTrainedModel, vocab_size: int, inner: CachedLM | None = None) -> None:
        """inner: what makes the passes, empty; None: a plain `CachedLM` of the model."""
        super().__init__(model, vocab_size)
        self.inner = inner or CachedLM(model, vocab_size)
        self.known: dict[tuple, Pass] = {}
        self.inner_read: list[int] = []  # shared: what the one real cache holds
        self.read: list[int] = []  # the token of each row
        self.grown: tuple[tuple, ...] = ()  # the last of these passes were over branches, the oldest first

    def again(self) -> Remembered:
        """The same model at the beginning of a text."""
        twin = object.__new__(Remembered)
        twin.__dict__.update(self.__dict__, read=[], grown=(), length=0)
        return twin

    def forward(
        self, tokens: Tensor, rows: int = 1, layers: Sequence[int] = (), branches: Branches | None = None
    ) -> Pass:
        new = tuple(tokens.tolist())
        text = self.read[: len(self.read) - sum(len(read) for read, *_ in self.grown)]
        step = (new, *(() if branches is None else (_plain(branches.sees), _plain(branches.position))))
        key = (tuple(text), self.grown, step, rows, tuple(layers))
        if key not in self.known:
            self._seek(text)
            for read, sees, position in self.grown:
                self.inner.forward(torch.tensor(read), branches=Branches(torch.tensor(sees), torch.tensor(position)))
            self.known[key] = self.inner.forward(tokens, rows, layers, branches)
            if branches is None:
                self.inner_read += new
            else:  # what was read of branches is no text that others could go on from
                self.inner.rollback(len(text))
        self.read = [*self.read, *new]
        self.grown = () if branches is None else (*self.grown, step)
        self.length = len(self.read)
        return self.known[key]

    def _seek(self, text: list[int]) -> None:
        pairs = zip(self.inner_read, text, strict=False)
        common = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(self.inner_read), len(text)))
        self.inner.rollback(common)
        del self.inner_read[common:]
        if text[common:]:
            self.inner.forward(torch.tensor(text[common:], dtype=torch.long))
            self.inner_read += text[common:]

    def rollback(self, length: int) -> None:
        self.keep(min(length, self.length), ())

    def keep(self, length: int, rows: Sequence[int]) -> None:
        if length == self.length and not rows:
            return
        self.read = [*self.read[:length], *(self.read[row] for row in rows)]
        self.grown = ()  # the kept rows are a text, each the continuation of the one before
        self.length = len(self.read)


def _plain(tensor: Tensor) -> tuple:
    """Rows of numbers as tuples, which can be compared and looked up."""
    return tuple(map(tuple, tensor.tolist())) if tensor.dim() == 2 else tuple(tensor.tolist())

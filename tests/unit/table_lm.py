"""A language model that is a table: prefix -> distribution. Small enough to enumerate every run of the engine."""

import torch

from specviz.engine.drafters import ModelDrafter
from specviz.engine.model import Pass
from specviz.engine.tree import Branches, Tree


class TableLM:
    """Stands where a `CachedLM` stands. `rule(prefix: tuple) -> probabilities`; its cache is the prefix itself."""

    device = torch.device("cpu")

    def __init__(self, rule, vocab_size, max_context=None):
        self.rule, self.vocab_size, self.max_context = rule, vocab_size, max_context
        self.read = []  # the tokens whose rows are cached
        self.passes = []  # how many tokens each pass read

    @property
    def length(self):
        return len(self.read)

    def forward(self, tokens, rows=1, layers=(), branches=None):
        assert self.max_context is None or self.length + len(tokens) <= self.max_context
        self.passes.append(len(tokens))
        branches = branches or Branches.of(Tree.chain(len(tokens)), self.length + 1)
        sees = branches.whole(self.length)
        self.read += tokens.tolist()
        logits = []
        for seen in sees:  # a row's prefix is what it sees, its own token last
            prefix = tuple(self.read[i] for i in seen.nonzero()[:, 0].tolist())
            logits.append(torch.as_tensor(self.rule(prefix), dtype=torch.float32).log())
        states = torch.tensor([[float(t)] for t in tokens]) if layers else None
        return Pass(torch.stack(logits[-rows:]), states)

    def prefill(self, tokens, layers=()):
        return self.forward(tokens, layers=layers).hidden if len(tokens) else None

    def rollback(self, length):
        self.read = self.read[:length]

    def keep(self, length, rows):
        self.read = self.read[:length] + [self.read[i] for i in rows]


def one_hot(token, vocab_size):
    return [float(i == token) for i in range(vocab_size)]


def scripted(text, vocab_size, **options):
    """A model that continues any prefix of `text` with `text`, whatever was really read."""
    return TableLM(lambda prefix: one_hot(text[min(len(prefix), len(text) - 1)], vocab_size), vocab_size, **options)


def drafter(lm):
    return ModelDrafter(lm)

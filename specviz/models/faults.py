"""Faults of real decoders, planted in one run: through what is handed to a `Decoder`, never in the shared engine.

A rule of acceptance (`judge`), a drafter and a target are handed in; a fault wraps one of them. Whoever else decodes at
the same time uses their own, right ones. For chains of tokens with a q of their own.

resample_p     after a rejection the token is drawn from p instead of the residual
hot_q          q in the ratio is at three times the temperature that the token was drawn at
argmax_draft   the draft's likeliest token is proposed, but judged as if it had been drawn from q
reuse_u        the u that refused a token also draws the recovered one
always_accept  every drafted token is kept
stale_row      after a rejection the refused token's row stays in the target's KV cache: all later rows are off by one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from specviz.config import RunConfig, check_choice
from specviz.coupling import FAULTS, HOTTER
from specviz.engine.clock import Clock
from specviz.engine.decode import Judge
from specviz.engine.drafters import Drafter, Proposal
from specviz.engine.judgement import judge_draft
from specviz.engine.model import CachedLM, Pass
from specviz.engine.sampling import Draws
from specviz.engine.tree import Branches, Tree
from specviz.engine.verify_tree import Walk
from specviz.errors import SpecvizError

DRAFTING = ("draft", "skip")  # methods whose chains have a q of their own
Parts = tuple[CachedLM, Drafter | None, Judge]


def check_fault(fault: str | None, config: RunConfig) -> None:
    """Raises SpecvizError for an unknown fault, and where it could not show."""
    if fault is None:
        return
    check_choice("fault", fault, FAULTS)
    if config.method not in DRAFTING or config.is_tree or config.verify != "lossless":
        raise SpecvizError("errors.fault_method", methods=", ".join(DRAFTING))


def planted(fault: str | None, target: CachedLM, drafter: Drafter | None) -> Parts:
    """The target, the drafter and the rule of a run with this fault; as they are without one."""
    judge = JUDGES.get(fault or "", judge_draft)
    if fault == "stale_row":
        target = StaleRow(target)  # type: ignore[assignment]
    if drafter is not None and fault == "hot_q":
        drafter = HotQ(drafter)
    if drafter is not None and fault == "argmax_draft":
        drafter = ArgmaxDraft(drafter)
    return target, drafter, judge


def resample_p(p: Tensor, proposal: Proposal | None, tree: Tree, draws: Draws, config: RunConfig) -> Walk:
    """The final token from the target's p of its context, whether all drafts were accepted or not."""
    walk = judge_draft(p, proposal, tree, draws, config)
    return _ended(walk, p[int(walk.end)], draws.final)


def reuse_u(p: Tensor, proposal: Proposal | None, tree: Tree, draws: Draws, config: RunConfig) -> Walk:
    """After a rejection v = u."""
    walk = judge_draft(p, proposal, tree, draws, config)
    end = int(walk.end)
    return walk if end == len(tree) else _ended(walk, walk.rest, draws.gate[end])  # a chain: node i in context i


def always_accept(p: Tensor, proposal: Proposal | None, tree: Tree, draws: Draws, config: RunConfig) -> Walk:
    """The whole draft, and a bonus."""
    walk = judge_draft(p, proposal, tree, draws, config)
    if proposal is None:
        return walk
    every = torch.ones_like(walk.kept)
    return _ended(replace(walk, tried=every, kept=every, end=torch.tensor(len(tree))), p[-1], draws.final)


JUDGES: dict[str, Judge] = {"resample_p": resample_p, "reuse_u": reuse_u, "always_accept": always_accept}


def _ended(walk: Walk, rest: Tensor, v: float) -> Walk:
    return Walk.ended(walk.tried, walk.kept, walk.p, walk.q, walk.limit, walk.end.to(rest.device), rest, v)


class _Around:
    """A drafter around another one, which does all the work."""

    def __init__(self, inner: Drafter) -> None:
        self.inner, self.layers = inner, inner.layers

    @property
    def rows(self) -> int | None:
        return self.inner.rows

    def room(self, length: int) -> int:
        return self.inner.room(length)

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None) -> None:
        self.inner.prefill(tokens, hidden)

    def commit(self, length: int, hidden: Tensor | None, path: Sequence[int] = ()) -> None:
        self.inner.commit(length, hidden, path)


class HotQ(_Around):
    """Says q at HOTTER times the temperature."""

    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        made = self.inner.propose(tokens, k, draws, forced, config, clock)
        roots = made.q ** (1 / HOTTER)
        return replace(made, q=roots / roots.sum(-1, keepdim=True))


class ArgmaxDraft(_Around):
    """Proposes its likeliest tokens with the q of the run's temperature."""

    def propose(
        self, tokens: Sequence[int], k: int, draws: Draws, forced: Mapping[int, int], config: RunConfig, clock: Clock
    ) -> Proposal:
        before = self.inner.rows
        greedy = self.inner.propose(tokens, k, draws, forced, replace(config, temperature=0.0), clock)
        if before is not None:
            self.inner.commit(before, None)  # forget them, and propose just these with their q
        return self.inner.propose(tokens, k, draws, dict(enumerate(greedy.tokens.tolist())), config, clock)


class StaleRow:
    """A target that forgets one row too few: `length` is what the decoder believes, `lm.length` what is there."""

    def __init__(self, lm: CachedLM) -> None:
        self.lm, self.length = lm, 0
        self.device, self.vocab_size, self.max_context = lm.device, lm.vocab_size, lm.max_context

    def forward(
        self, tokens: Tensor, rows: int = 1, layers: Sequence[int] = (), branches: Branches | None = None
    ) -> Pass:
        seen = self.lm.forward(tokens, rows, layers, branches)
        self.length += len(tokens)
        return seen

    def prefill(self, tokens: Tensor, layers: Sequence[int] = ()) -> Tensor | None:
        self.length += len(tokens)
        return self.lm.prefill(tokens, layers)

    def rollback(self, length: int) -> None:
        self.keep(length, ())

    def keep(self, length: int, rows: Sequence[int]) -> None:
        stale, kept = self.lm.length - self.length, length + len(rows)
        refused = self.length > kept
        self.lm.keep(length + stale, [stale + row for row in range(length, kept + refused)])
        self.length = kept

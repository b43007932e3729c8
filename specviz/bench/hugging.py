"""`generate` of transformers as a contender: plain, assisted by a draft model, or with its prompt lookup."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from transformers import GenerationConfig, PreTrainedModel

from specviz.bench.runs import Run
from specviz.models.check import endings
from specviz.models.device import dtype_name
from specviz.models.pair import Pair

LONGEST = 3  # n-gram of prompt lookup, as ours


class Generate:
    """kind: "plain", "assisted" (the pair's draft model drafts exactly k tokens a round) or "lookup" (up to k)."""

    pid = None

    def __init__(self, key: str, pair: Pair, kind: str, k: int, ignore_eos: bool = False) -> None:
        self.key, self.pair, self.kind, self.k = key, pair, kind, k
        self.eos = () if ignore_eos else pair.eos
        self.settings: dict[str, object] = {} if kind == "plain" else {"k": k}
        self.precision = dtype_name(pair.dtype)
        self.draft: PreTrainedModel | None = None

    def open(self) -> None:
        if self.kind == "assisted":
            self.draft = self.pair.drafter_model("draft")

    def run(self, tokens: Sequence[int], limit: int) -> Run:
        target = self.pair.target
        ids = torch.tensor([tokens], device=target.device)
        lookup = {"prompt_lookup_num_tokens": self.k, "max_matching_ngram_size": LONGEST}
        settings = GenerationConfig(
            do_sample=False,
            max_new_tokens=limit,
            eos_token_id=endings(self.pair, self.eos),
            pad_token_id=0,  # there is no padding: one prompt at a time
            **(lookup if self.kind == "lookup" else {}),
        )
        with fixed_drafts(self.draft, self.k):
            watch = Watch()
            out = target.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                generation_config=settings,
                streamer=watch,
                **({"assistant_model": self.draft} if self.draft is not None else {}),
            )
            written = tuple(out[0, len(tokens) :].tolist())  # waits for an accelerator
            seconds = time.perf_counter() - watch.began
        return Run(written, seconds, watch.first_seconds, watch.first_tokens)

    def close(self) -> None:
        """Nothing to give back: the pair belongs to the caller."""


class Watch:
    """A streamer that only looks at the clock. transformers first hands it the prompt, then the tokens as they come."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.calls, self.first_seconds, self.first_tokens = 0, 0.0, 0

    def put(self, tokens: Tensor) -> None:
        self.calls += 1
        if self.calls == 2:
            self.first_seconds, self.first_tokens = time.perf_counter() - self.began, tokens.numel()

    def end(self) -> None:
        """All tokens have been seen."""


@contextmanager
def fixed_drafts(draft: PreTrainedModel | None, k: int) -> Iterator[None]:
    """transformers takes these from the assistant's own generation config: k tokens every round, whatever it thinks."""
    if draft is None:
        yield
        return
    wanted = {"num_assistant_tokens": k, "num_assistant_tokens_schedule": "constant"}
    wanted |= {"assistant_confidence_threshold": 0.0}
    config = draft.generation_config
    before = {name: getattr(config, name) for name in wanted}
    try:
        for name, value in wanted.items():
            setattr(config, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)

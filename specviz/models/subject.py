"""What a statistical check is made on: a text, a decoder's parts, and the exact law of the next two tokens.

A subject is either the loaded pair, whose law comes from fresh full passes of the target, or a table of a few words.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from transformers import PreTrainedModel

from specviz.chisquare import cells, effect_of
from specviz.config import RunConfig
from specviz.engine.drafters import Drafter, ModelDrafter
from specviz.engine.model import CachedLM
from specviz.engine.sampling import shape
from specviz.models.faults import DRAFTING
from specviz.models.pair import Pair
from specviz.models.remembered import Remembered
from specviz.models.run import drafter_for, prompt_ids
from specviz.models.toy_lm import ToyLM, law_of_two

FEW = 5  # tokens that are possible at each place: few enough outcomes for a sharp test and few model passes
TURNED = (1, 5)  # runs of proof.CACHED that rounding may turn over: in float32, in 16 bits
HOT = 1.0  # the temperature where none is asked for
DEEP = 2  # tokens that the law speaks of, and that are drafted at most

TwoTokens = dict[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Subject:
    """`target()` and `drafter()` give a run's own parts.

    ids      the text before
    config   of every run, but for its seed: the runs have config.seed, config.seed + 1, ...
    law      the probability of each pair of first tokens
    p, q     the first token's distributions, over the ids that either can give; q None where it is not known beforehand
    noise    effect size that rounding can have on the law: 0 in float32
    cached   parts of a run whose passes are not remembered: an empty KV cache, and a drafter; None: there are none
    turned   how many of proof.CACHED such runs rounding may turn over
    """

    ids: tuple[int, ...]
    config: RunConfig
    target: Callable[[], CachedLM]
    drafter: Callable[[], Drafter | None]
    law: TwoTokens
    p: dict[int, float]
    q: dict[int, float] | None
    noise: float = 0.0
    cached: Callable[[], tuple[CachedLM, Drafter | None]] | None = None
    turned: int = 0

    @property
    def first(self) -> dict[int, float]:
        """The law of the first token alone."""
        out: dict[int, float] = {}
        for (a, _), chance in self.law.items():
            out[a] = out.get(a, 0.0) + chance
        return out


def toy_subject(p: Sequence[float], q: Sequence[float], seed: int = 0) -> Subject:
    """A subject of a few words. p and q sum to 1."""
    config = RunConfig("draft", k=DEEP, temperature=1.0, seed=seed, max_new_tokens=DEEP + 1, ignore_eos=True)
    known_q = {x: chance for x, chance in enumerate(q) if chance}
    return Subject(
        ids=(0,),
        config=config,
        target=lambda: ToyLM(p),  # type: ignore[arg-type, return-value]
        drafter=lambda: ModelDrafter(ToyLM(q)),  # type: ignore[arg-type]
        law=law_of_two(p),
        p={x: chance for x, chance in enumerate(p) if chance},
        q=known_q,
    )


def pair_subject(pair: Pair, config: RunConfig, prompt: str, runs: int) -> Generator[None, None, Subject]:
    """A subject of the loaded pair. Yields between passes, so that it can be left. Raises SpecvizError for a prompt
    that is empty or too long.

    Top-k is FEW at most. Model passes over the same tokens are remembered, not repeated; the rounds themselves are made
    by the engine's own decoder.
    """
    hot = replace(
        config,
        temperature=config.temperature or HOT,
        top_k=min(config.top_k or FEW, FEW),
        k=max(1, min(config.k, DEEP)),
        max_new_tokens=DEEP + 1,
        adapt=False,
        ignore_eos=True,
        overrides=(),
        stop=(),
    )
    ids = prompt_ids(pair, prompt, config.chat, ahead=DEEP + 1)
    target = Remembered(pair.target, pair.vocab_size, pair.opened("target"))
    drafts: dict[int, Remembered] = {}

    def remembered(model: PreTrainedModel, vocab_size: int) -> Remembered:
        if id(model) not in drafts:
            drafts[id(model)] = Remembered(model, vocab_size, pair.opened(hot.method))
        return drafts[id(model)].again()

    first = shape(fresh(pair, ids), hot)
    yield
    law: TwoTokens = {}
    for a in _possible(first):
        second = shape(fresh(pair, [*ids, a]), hot)
        law |= {(a, b): float(first[a] * second[b]) for b in _possible(second)}
        yield
    noise = 0.0
    if pair.dtype is not torch.float32:
        law, noise = yield from _rounded(pair, ids, hot, law, runs)
    q = None
    if hot.method in DRAFTING and not hot.is_tree:
        text = torch.tensor(ids, dtype=torch.long)
        q_row = shape(remembered(pair.drafter_model(hot.method), pair.vocab_size).forward(text).logits[0], hot)
        q = {x: float(q_row[x]) for x in _possible(q_row)}
        yield
    return Subject(
        ids=tuple(ids),
        config=hot,
        target=target.again,
        drafter=lambda: drafter_for(pair, hot.method, remembered),
        law=law,
        p={x: float(first[x]) for x in _possible(first)},
        q=q,
        noise=noise,
        cached=lambda: (pair.opened("target"), drafter_for(pair, hot.method)),
        turned=TURNED[noise > 0],
    )


def _rounded(
    pair: Pair, ids: list[int], config: RunConfig, law: TwoTokens, runs: int
) -> Generator[None, None, tuple[TwoTokens, float]]:
    """In 16 bits p depends on how many tokens a pass reads: the law in the middle of a full pass and of one that checks
    drafts on top of a cache, and how far (effect size) either is from it.
    """
    lm = pair.opened("target")
    lm.prefill(torch.tensor(ids[:-1], dtype=torch.long))
    other: TwoTokens = {}
    for a in sorted({a for a, _ in law}):
        rows = shape(lm.forward(torch.tensor([ids[-1], a, a]), DEEP + 1).logits, config)
        other |= {(a, b): float(rows[0, a] * rows[1, b]) for b in _possible(rows[1]) if rows[0, a] > 0}
        lm.rollback(len(ids) - 1)
        yield
    whole = sum(other.values())
    keys = law.keys() | other.keys()
    middle = {pair: (law.get(pair, 0.0) + other.get(pair, 0.0) / whole) / 2 for pair in keys}
    groups = cells(middle, runs)
    return middle, max(effect_of(one, middle, groups) for one in (law, other))


def _possible(row: Tensor) -> list[int]:
    return row.nonzero().flatten().tolist()


@torch.inference_mode()
def fresh(pair: Pair, ids: list[int], rows: int = 1) -> Tensor:
    """Logits after `ids`, by a full forward pass without any cache: [V], or [rows, V] after each of the last `rows`."""
    if pair.int8:  # nobody else runs it: by its own pass, with an empty cache
        logits = pair.opened("target").forward(torch.tensor(ids, dtype=torch.long), rows).logits.float()
    else:
        out = pair.target(torch.tensor([ids], device=pair.target.device), use_cache=False, logits_to_keep=rows)
        logits = out.logits[0, -rows:, : pair.vocab_size].float()
    return logits[0] if rows == 1 else logits

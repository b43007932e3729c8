"""Is decoding exact on this pair? Two checks against outside truths, with figures.

identity      at temperature 0 the tokens are those of transformers' own model.generate, one by one
distribution  at temperature > 0 the first two tokens of many runs (one per seed) follow the target's own
              distribution, taken from fresh full forward passes, by a chi-square test
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from transformers import GenerationConfig, PreTrainedModel

from specviz.config import RunConfig
from specviz.engine.decode import Decoder
from specviz.engine.drafters import Drafter
from specviz.engine.model import CachedLM
from specviz.engine.sampling import shape
from specviz.models.load import Pair
from specviz.models.remembered import Remembered
from specviz.models.run import drafter_for

PROMPTS = (
    "Explain why the sky is blue.",
    "Write a short poem about the sea.",
    "List three uses of a paper clip.",
    "What is 17 + 25?",
)
UNSURE = "Tell me a story."  # many first tokens are possible, and drafts are often rejected: where a fault would show
LEVEL = 0.001  # a correct decoder fails the statistical check once in a thousand choices of seeds
TIE = {torch.float32: 1e-3, torch.bfloat16: 0.25, torch.float16: 0.05}  # logit gaps that rounding may turn over

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two greedy outputs part, and how close the target's logits of the two tokens are there."""

    prompt: str
    position: int
    plain: int
    speculative: int
    gap: float
    tie: bool  # the gap is within what rounding can turn over in this dtype


@dataclass(frozen=True, slots=True)
class Identity:
    passed: bool
    tokens: int
    partings: tuple[Parting, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Chi-square of observed pairs of first tokens; bins expected fewer than 5 times are merged."""

    passed: bool
    samples: int
    bins: int
    chi2: float
    p_value: float
    level: float
    total_variation: float
    accepted: int
    rejected: int


def check_identity(pair: Pair, config: RunConfig, prompts: Sequence[str] = PROMPTS, tokens: int = 48) -> Identity:
    """Greedy speculative decoding against model.generate. Near-ties in float are told, and pass."""
    greedy = replace(config, temperature=0.0, max_new_tokens=tokens, overrides=(), stop=())
    partings, compared = [], 0
    for prompt in prompts:
        ids = pair.codec.encode(prompt, chat=config.chat)
        plain = _generate(pair, ids, tokens, () if greedy.ignore_eos else pair.eos)
        ours = _run(CachedLM(pair.target, pair.vocab_size), drafter_for(pair, config.method), ids, greedy, pair.eos)
        compared += len(plain)
        at = next((i for i, (a, b) in enumerate(zip(plain, ours, strict=False)) if a != b), None)
        if at is None and len(plain) == len(ours):
            continue
        if at is None:
            partings.append(Parting(prompt, min(len(plain), len(ours)), -1, -1, float("inf"), False))
            continue
        logits = _fresh(pair, [*ids, *plain[:at]])
        gap = abs(float(logits[plain[at]] - logits[ours[at]]))
        partings.append(Parting(prompt, at, plain[at], ours[at], round(gap, 6), gap < TIE.get(pair.dtype, 0.25)))
    return Identity(all(p.tie for p in partings), compared, tuple(partings))


def check_distribution(
    pair: Pair,
    config: RunConfig,
    prompt: str = UNSURE,
    samples: int = 2000,
    progress: Progress | None = None,
) -> Distribution:
    """The law of the first two tokens over `samples` seeds, against p(a) p(b | a) from fresh full passes.

    The engine's own decoder makes every round; only model passes over the same tokens are remembered, not repeated.
    Top-k is set to 8 at most, so that there are few enough outcomes for a sharp test.
    """
    hot = replace(
        config,
        temperature=config.temperature or 1.0,
        top_k=min(config.top_k or 8, 8),
        k=max(1, min(config.k, 2)),
        max_new_tokens=3,
        ignore_eos=True,
        overrides=(),
        stop=(),
    )
    ids = pair.codec.encode(prompt, chat=config.chat)
    target = Remembered(pair.target, pair.vocab_size)
    drafts: dict[int, Remembered] = {}

    def remembered(model: PreTrainedModel, vocab_size: int) -> Remembered:
        return drafts.setdefault(id(model), Remembered(model, vocab_size)).again()

    seen: Counter[tuple[int, int]] = Counter()
    accepted = rejected = 0
    for i in range(samples):
        drafter = drafter_for(pair, hot.method, remembered)
        decoder = Decoder(target.again(), drafter, ids, replace(hot, seed=(config.seed + i) % 2**63))
        first = decoder.step()
        accepted += len(first.path)
        rejected += len(first.path) < len(first.draft.tokens)
        while len(decoder.tokens) < len(ids) + 2:
            decoder.step()
        seen[tuple(decoder.tokens[len(ids) : len(ids) + 2])] += 1
        if progress and i % 50 == 0:
            progress(i / samples)
    return _compare(seen, _law(pair, ids, hot), samples, accepted, rejected)


def _law(pair: Pair, ids: list[int], config: RunConfig) -> dict[tuple[int, int], float]:
    """The target's exact distribution of the next two tokens, without cache and without our engine's decoder."""
    first = shape(_fresh(pair, ids), config)
    law = {}
    for a in first.nonzero().flatten().tolist():
        second = shape(_fresh(pair, [*ids, a]), config)
        for b in second.nonzero().flatten().tolist():
            law[a, b] = float(first[a] * second[b])
    return law


def _compare(
    seen: Counter[tuple[int, int]], law: dict[tuple[int, int], float], n: int, accepted: int, rejected: int
) -> Distribution:
    impossible = sum(count for pair, count in seen.items() if pair not in law)
    common = {pair: p for pair, p in law.items() if n * p >= 5}
    bins = [(seen[pair], n * p) for pair, p in common.items()]
    rest = (n - impossible - sum(o for o, _ in bins), n * (1 - sum(common.values())))
    if rest[1] >= 1:
        bins.append(rest)
    chi2 = sum((o - e) ** 2 / e for o, e in bins)
    freedom = max(1, len(bins) - 1)
    p_value = float(torch.special.gammaincc(torch.tensor(freedom / 2.0).double(), torch.tensor(chi2 / 2).double()))
    variation = 0.5 * (sum(abs(seen[pair] / n - p) for pair, p in law.items()) + impossible / n)
    passed = impossible == 0 and len(bins) > 1 and p_value >= LEVEL  # one bin proves nothing
    return Distribution(
        passed, n, len(bins), round(chi2, 3), round(p_value, 6), LEVEL, round(variation, 5), accepted, rejected
    )


def _run(target: CachedLM, drafter: Drafter | None, ids: list[int], config: RunConfig, eos: Sequence[int]) -> list[int]:
    decoder = Decoder(target, drafter, ids, config, eos=eos)
    while decoder.finish is None:
        decoder.step()
    return decoder.tokens[len(ids) :]


def _generate(pair: Pair, ids: list[int], tokens: int, eos: Sequence[int]) -> list[int]:
    settings = GenerationConfig(
        do_sample=False, max_new_tokens=tokens, eos_token_id=list(eos) or None, pad_token_id=(*eos, 0)[0]
    )
    prompt = torch.tensor([ids], device=pair.target.device)
    out = pair.target.generate(prompt, attention_mask=torch.ones_like(prompt), generation_config=settings)
    return out[0, len(ids) :].tolist()


@torch.inference_mode()
def _fresh(pair: Pair, ids: list[int]) -> Tensor:
    """Logits [V] after `ids`, by a full forward pass without any cache."""
    out = pair.target(torch.tensor([ids], device=pair.target.device), use_cache=False, logits_to_keep=1)
    return out.logits[0, -1, : pair.vocab_size].float()

"""How good a drafter is: held-out prompts, run losslessly by the engine of the app.

Timings are of this machine and moment; everything else depends on the weights, the seed and rounding alone.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from transformers import PreTrainedModel

from specviz.config import LEARNED, RunConfig
from specviz.engine.decode import Decoder
from specviz.engine.drafters import Drafter, ModelDrafter
from specviz.engine.model import CachedLM
from specviz.metrics import measure
from specviz.models import heads
from specviz.models.compose import with_small_head
from specviz.models.pair import Pair
from specviz.models.prepared import Progress
from specviz.models.run import drafter_for
from specviz.trace import Round
from specviz.training.prompts import evaluation
from specviz.training.target import load_layers, pruned

TOKENS = 96
TEMPERATURES = (0.0, 0.7)


def evaluate(
    pair: Pair,
    make: Callable[[], Drafter],
    *,
    k: int = 4,
    seed: int = 0,
    tokens: int = TOKENS,
    prompts: dict[str, list[str]] | None = None,
    each: int | None = None,
    temperatures: tuple[float, ...] = TEMPERATURES,
    progress: Progress,
) -> dict:
    """Acceptance by temperature and kind of prompt. `make` gives a fresh drafter; `each`: so many prompts a kind."""
    prompts = {kind: texts[:each] for kind, texts in (prompts or evaluation()).items()}
    total = len(temperatures) * sum(map(len, prompts.values()))
    config = RunConfig(method="none", k=k, seed=seed, max_new_tokens=tokens)
    results, done = {}, 0
    for temperature in temperatures:
        by_kind: dict[str, list[Round]] = {}
        for kind, texts in prompts.items():
            for text in texts:
                by_kind.setdefault(kind, []).extend(run(pair, make(), text, replace(config, temperature=temperature)))
                done += 1
                progress(done / total, "train.evaluating", done=done, total=total)
        every = [one for rounds in by_kind.values() for one in rounds]
        kinds = {kind: figures(rounds) for kind, rounds in by_kind.items()}
        results[f"{temperature:g}"] = {"all": figures(every), "kinds": kinds}
    asked = {kind: len(texts) for kind, texts in prompts.items()}
    return {"k": k, "seed": seed, "tokens_a_prompt": tokens, "prompts": asked, "temperatures": results}


def run(pair: Pair, drafter: Drafter, prompt: str, config: RunConfig) -> list[Round]:
    """One prompt to its end. Distributions are recorded, for alpha."""
    target = pair.opened("target")
    decoder = Decoder(target, drafter, pair.codec.encode(prompt), config, eos=pair.eos, detail=True)
    rounds = []
    while decoder.finish is None:
        rounds.append(decoder.step())
    return rounds


def figures(rounds: list[Round]) -> dict:
    """Acceptance over `rounds`, named as in `specviz.metrics`; median times in milliseconds."""
    metrics = measure(rounds)
    steps = [ms for one in rounds for ms in one.times.draft[1:]]  # the first also reads what the cache lacks
    return {
        "rounds": metrics.rounds,
        "drafted": metrics.drafted,
        "accepted": metrics.accepted,
        "acceptance_rate": rounded(metrics.draft_acceptance_rate),
        "mean_acceptance_length": rounded(metrics.mean_acceptance_length),
        "per_position": [rounded(x) for x in metrics.per_position],
        "conditional": [rounded(x) for x in metrics.conditional],
        "alpha": rounded(metrics.alpha),
        "draft_step_ms": rounded(statistics.median(steps)) if steps else None,
        "target_pass_ms": rounded(statistics.median(one.times.target for one in rounds)) if rounds else None,
    }


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def drafter_maker(pair: Pair, method: str, weights: Path | None) -> Callable[[], Drafter]:
    """Fresh drafters of the weights in a folder; None: those that come with the pair."""
    if weights is None:
        return lambda: drafter_for(pair, method)
    if method in LEARNED:
        return heads.drafter_maker(pair.target, pair.vocab_size, method, {method: weights})
    model = draft_model(pair, weights)
    return lambda: ModelDrafter(CachedLM(model, pair.vocab_size))


def draft_model(pair: Pair, weights: Path) -> PreTrainedModel:
    """The draft of `weights`: its own layers, the target's embeddings, the part of the LM head it was trained for.

    Raises SpecvizError where they are damaged or not those of a draft for this target.
    """
    with heads.fitting(weights, pair.target_name):
        about = json.loads((weights / "config.json").read_text(encoding="utf-8"))
        model = pruned(pair.target, tuple(about["layers_from_target"]))
        load_layers(model.base_model, weights)
        with_small_head(model, weights)
    model.base_model.layers.to(pair.dtype)
    model.base_model.norm.to(pair.dtype)
    return model.eval().requires_grad_(False)

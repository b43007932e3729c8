"""Is decoding exact on this pair? Two checks against outside truths, with figures.

identity      at temperature 0 the tokens are those of transformers' own model.generate, one by one
distribution  at temperature > 0 the first two tokens of many runs (one per seed) follow the target's own
              distribution, taken from fresh full forward passes, by chi-square tests

With a planted fault (see faults.py) the same checks show that they can fail.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import torch
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList

from specviz.chisquare import Fit
from specviz.config import RunConfig
from specviz.engine.decode import Decoder
from specviz.models.faults import check_fault, planted
from specviz.models.pair import Pair
from specviz.models.run import drafter_for, prompt_ids
from specviz.models.subject import HOT, fresh, pair_subject
from specviz.models.trial import trial
from specviz.models.zero import on_gpu
from specviz.parting import parts_at, token_at
from specviz.proof import CACHED, LEVEL, UNSURE, Greedy, Identity, Parting, Plan, Trial

PROMPTS = (
    "Explain why the sky is blue.",
    "Write a short poem about the sea.",
    "List three uses of a paper clip.",
    "What is 17 + 25?",
)
TIE = {"float32": 1e-3, "bfloat16": 0.25, "float16": 0.05, "int8": 0.5}  # logit gaps that rounding may turn over

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Distribution:
    """The statistical check in figures. bins, chi2, p_value and total_variation are those of the pairs of first tokens.

    verdict     "passed", "failed" or "untested"
    untested    why it is: a "single" outcome is possible, or all but one are too "rare"
    temperature of the runs
    tests       both tests, each with its own, and the total variation that would have been found (`detectable`)
    cached      runs made again with a real KV cache, how many parted, how many may; None with a fault
    caught      the number of runs after which a test failed, if one did
    """

    passed: bool
    verdict: str
    untested: str | None
    temperature: float
    samples: int
    bins: int
    chi2: float
    p_value: float
    level: float
    total_variation: float
    accepted: int
    rejected: int
    alpha: float | None
    tests: tuple[dict, ...]
    cached: dict | None
    caught: int | None
    changed: int
    compared: int


def check_identity(
    pair: Pair, config: RunConfig, prompts: Sequence[str] = PROMPTS, tokens: int = 48, fault: str | None = None
) -> Identity:
    """Greedy speculative decoding against model.generate. Near-ties in float are told, and pass."""
    outputs = [one for one in greedy_outputs(pair, config, prompts, tokens, fault) if one is not None]
    return identity_of(outputs)


def identity_of(outputs: Sequence[Greedy]) -> Identity:
    """What these outputs say together."""
    partings = tuple(one.parting for one in outputs if one.parting is not None)
    compared = sum(len(one.plain) for one in outputs)
    return Identity(all(p.tie for p in partings), compared, partings, tuple(outputs))


@on_gpu
def greedy_outputs(
    pair: Pair,
    config: RunConfig,
    prompts: Sequence[str],
    tokens: int,
    fault: str | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Greedy | None]:
    """Each prompt at temperature 0, both ways; None after each round, so that it can be left."""
    check_fault(fault, config)
    greedy = replace(config, temperature=0.0, max_new_tokens=tokens, overrides=(), stop=())
    for prompt in prompts:
        ids = prompt_ids(pair, prompt, config.chat, ahead=tokens)
        plain = _generate(pair, ids, tokens, () if greedy.ignore_eos else pair.eos, stopped)
        if stopped():
            return
        ours = yield from _run(pair, ids, greedy, fault)
        rows = fresh(pair, [*ids, *plain], len(plain) + 1).view(len(plain) + 1, -1)  # [n+1, V], the first after ids
        best = rows[:-1].topk(2).values
        gaps = tuple(round(gap, 4) for gap in (best[:, 0] - best[:, 1]).tolist())
        yield Greedy(prompt, tuple(plain), tuple(ours), gaps, _parting(pair, prompt, plain, ours, rows))


def _parting(pair: Pair, prompt: str, plain: list[int], ours: list[int], rows: torch.Tensor) -> Parting | None:
    at = parts_at(plain, ours)
    if at is None:
        return None
    tokens = [token_at(one, at) for one in (plain, ours)]
    (a, b), tie = closeness(pair, rows[at], tokens)
    gap = None if a is None or b is None else round(abs(a - b), 6)
    return Parting(prompt, at, *(-1 if token is None else token for token in tokens), gap, tie)


def closeness(pair: Pair, row: torch.Tensor, tokens: Sequence[int | None]) -> tuple[list[float | None], bool]:
    """How far the logit of each token lies below the highest of `row` [V], and whether rounding can have chosen among
    them. None, an output that has ended, is no token that rounding chose.
    """
    highest = float(row.max())
    gaps = [None if token is None else highest - float(row[token]) for token in tokens]
    return gaps, all(gap is not None and gap < TIE[pair.dtype_name] for gap in gaps)


def check_distribution(
    pair: Pair,
    config: RunConfig,
    prompt: str = UNSURE,
    samples: int = 2000,
    progress: Progress | None = None,
    fault: str | None = None,
) -> Distribution:
    """The law of the first two tokens over `samples` seeds, against p(a) p(b | a) from fresh full passes.

    The engine's own decoder makes every round, on remembered model passes; the first runs are made again with a real KV
    cache, which must write the same. It ends early when a test fails, which is no cheating: see proof.Plan.
    """
    last: Trial | None = None
    for one in pair_trial(pair, config, prompt, samples, fault):
        if one is not None:
            last = one
            if progress and one.n % 50 == 0:
                progress(one.n / samples)
    assert last is not None
    return _figures(last, config.temperature or HOT)


@on_gpu
def pair_trial(
    pair: Pair, config: RunConfig, prompt: str, runs: int, fault: str | None = None, cached: int = CACHED
) -> Generator[Trial | None, None, None]:
    """The statistical check on the loaded pair, growing; None after each pass or round between two runs.

    cached: so many runs are made again on a real KV cache.
    """
    check_fault(fault, config)
    subject = yield from pair_subject(pair, config, prompt, runs)
    yield from trial(subject, Plan(runs), fault, cached)


def _figures(found: Trial, temperature: float) -> Distribution:
    fits = {test.name: test.fit for test in found.tests}
    pairs = fits["pair"]
    return Distribution(
        passed=found.verdict == "passed",
        verdict="failed" if found.verdict == "caught" else found.verdict,
        untested=found.untested if found.verdict == "untested" else None,
        temperature=temperature,
        samples=found.n,
        bins=pairs.bins,
        chi2=round(pairs.chi2, 3),
        p_value=round(pairs.p_value, 6),
        level=LEVEL,
        total_variation=round(pairs.total_variation, 5),
        accepted=found.accepted,
        rejected=found.rejected,
        alpha=None if found.alpha is None else round(found.alpha, 6),
        tests=tuple(
            {
                "name": test.name,
                "passed": test.passed,
                "detectable": _short(test.detectable),
                "power": _short(test.power),
            }
            | _fit(test.fit)
            for test in found.tests
        ),
        cached=None if found.cached is None else asdict(found.cached),
        caught=found.caught,
        changed=found.changed,
        compared=found.compared,
    )


def _fit(fit: Fit) -> dict:
    return {name: round(value, 12) for name, value in asdict(fit).items() if name != "n"}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 5)


def _run(pair: Pair, ids: list[int], config: RunConfig, fault: str | None) -> Generator[None, None, list[int]]:
    target, drafter, judge = planted(fault, pair.opened("target"), drafter_for(pair, config.method))
    decoder = Decoder(target, drafter, ids, config, eos=pair.eos, judge=judge)
    while decoder.finish is None:
        decoder.step()
        yield
    return decoder.tokens[len(ids) :]


def endings(pair: Pair, eos: Sequence[int]) -> list[int]:
    """`eos` as `generate` takes it. Given none, it would use the model's own; so for none an id that no token has."""
    return list(eos) or [pair.target.get_input_embeddings().weight.shape[0]]


class _Stopped(StoppingCriteria):
    def __init__(self, stopped: Callable[[], bool]) -> None:
        self.stopped = stopped

    def __call__(self, input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        return torch.full((len(input_ids),), self.stopped(), device=input_ids.device)


def _generate(pair: Pair, ids: list[int], tokens: int, eos: Sequence[int], stopped: Callable[[], bool]) -> list[int]:
    if pair.int8:  # transformers cannot run it: one token after another, each from a fresh full pass
        written: list[int] = []
        while len(written) < tokens and not (written and written[-1] in eos) and not stopped():
            written.append(int(fresh(pair, [*ids, *written]).argmax()))
        return written
    settings = GenerationConfig(
        do_sample=False, max_new_tokens=tokens, eos_token_id=endings(pair, eos), pad_token_id=(*eos, 0)[0]
    )
    prompt = torch.tensor([ids], device=pair.target.device)
    out = pair.target.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        generation_config=settings,
        stopping_criteria=StoppingCriteriaList([_Stopped(stopped)]),
    )
    return out[0, len(ids) :].tolist()

"""How speed changes with one thing at a time: the length of the context, k, or the size of the tree."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from specviz.bench.figures import costs, middle, rounded, spread
from specviz.bench.line_up import Plan, choose_prompts, ours
from specviz.bench.names import OURS
from specviz.bench.ours import Ours
from specviz.bench.race import race, told
from specviz.bench.runs import Entrant
from specviz.i18n import ASSETS, t
from specviz.metrics import measure
from specviz.models import tree_presets
from specviz.models.pair import Pair
from specviz.models.prepared import Progress

LENGTHS = (128, 256, 512, 1024, 2048, 4096)  # tokens of the prompt
KS = (1, 2, 3, 4, 5, 6, 8)
NODES = (2, 4, 8, 16, 32, 63)
CHAINS = ("ours_draft", "ours_eagle", "ours_lookup")
TREES = ("ours_draft", "ours_eagle", "ours_medusa")
LEVELS = 4  # of a tree that grows anew every round; the fixed ones are as deep as pays
TOKENS = 64  # written a point, at most
PROMPTS = 2
BUDGET = 1200.0  # seconds of a sweep over the context: what would take it beyond that is left out
READING = ("LICENSE", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")  # text enough for any length, and always there


def sweep(kind: str, plan: Plan, pair: Pair, progress: Progress, lang: str = "en") -> dict:
    """Plain object: {"over", "lanes": [{"key", "name", "points": [{"x", "tok_s", ...}]}], "missing", "left_out",
    "interrupted"}.

    Plain decoding runs in the same race as each value, as the yardstick. A longer context takes at least in proportion
    longer; one that would end after BUDGET is not begun, and said to be left out.
    """
    made: dict[str, list[dict]] = {}
    missing: dict[str, str] = {}
    left_out: list[str] = []
    interrupted = False
    began, took = time.monotonic(), list[float]()
    questions = plan.prompts[:PROMPTS] or choose_prompts(PROMPTS)
    for texts, contenders in _stages(kind, plan, pair, questions, missing, lang):
        if time.monotonic() - began + _next(took) > BUDGET:
            left_out.append(t(lang, "bench.left_out", x=len(texts[0]), minutes=f"{BUDGET / 60:g}"))
            continue
        start = time.monotonic()
        lanes, interrupted = race(
            [contender for _, _, contender in contenders],
            texts,
            min(TOKENS, plan.max_new_tokens),
            plan.repeats,
            progress,
            lang,
            pair.device.type == "cuda",
        )
        plain = next((lane for (key, _, _), lane in zip(contenders, lanes, strict=True) if key == "ours_plain"), None)
        for (key, x, _), lane in zip(contenders, lanes, strict=True):
            if lane.reason:
                missing.setdefault(key, lane.reason)
            if lane.runs:
                made.setdefault(key, []).append(_point(x, lane, plain))
        took.append(time.monotonic() - start)
        if interrupted:
            break
    return {
        "over": kind,
        "lanes": [{"key": key, "name": t(lang, f"bench.name_{key}"), "points": points} for key, points in made.items()],
        "missing": missing,
        "left_out": left_out,
        "interrupted": interrupted,
    }


def _next(took: Sequence[float]) -> float:
    """How long the next context, twice as long, takes: it grows as it grew last, but at least twofold."""
    before, last = [0.0, 0.0, *took][-2:]
    return last * max(2.0, last / before if before else 2.0)


Stage = tuple[list[list[int]], list[tuple[str, float | None, Ours]]]  # prompts; (key, value, contender)


def _stages(
    kind: str, plan: Plan, pair: Pair, questions: Sequence[str], missing: dict[str, str], lang: str
) -> list[Stage]:
    """The races of a sweep. All values of k or of the tree are in one race; each context has its own."""
    if kind == "context":
        keys = [key for key in OURS if (key in plan.only if plan.only else key != "ours_skip")]
        texts = [padded(pair, length, questions[0]) for length in LENGTHS if _fits(length, pair.max_context)]
        return [
            ([text], [(key, len(text), one) for key in keys if (one := _made(key, plan, pair, {}, missing, lang))])
            for text in texts
        ]
    texts = [pair.codec.encode(text) for text in questions]
    keys = [key for key in (CHAINS if kind == "k" else TREES) if not plan.only or key in plan.only]
    values = KS if kind == "k" else NODES
    contenders: list[tuple[str, float | None, Ours]] = [("ours_plain", None, ours("ours_plain", plan, pair))]
    for key in keys:
        for value in values:
            one = _made(key, plan, pair, _changes(kind, key, value, missing, lang), missing, lang)
            if one:
                contenders.append((key, value, one))
    return [(texts, contenders)]


def _changes(kind: str, key: str, value: int, missing: dict[str, str], lang: str) -> dict[str, object] | None:
    """The settings that make a drafter draft `value` tokens; None where no tree of that size is known."""
    if kind == "k":
        return {"k": value, "tree": (), "nodes": 0}
    if key == "ours_eagle":
        return {"nodes": value, "k": min(LEVELS, value)}
    try:
        return {"tree": tree_presets.best_of(value)}
    except Exception as error:  # no accuracies are bundled
        missing.setdefault(key, told(error, lang))
        return None


def _made(key: str, plan: Plan, pair: Pair, changes: Mapping | None, missing: dict[str, str], lang: str) -> Ours | None:
    if changes is None:
        return None
    try:
        return ours(key, plan, pair, **changes)
    except Exception as error:  # settings that this drafter cannot have
        missing.setdefault(key, told(error, lang))
        return None


def _fits(length: int, context: int | None) -> bool:
    return context is None or length + 2 * TOKENS <= context


def _point(x: float | None, lane: Entrant, plain: Entrant | None) -> dict:
    """x: prompt tokens, k, or nodes; None for plain decoding beside k or nodes."""
    rate = spread(run.rate for run in lane.runs.values())
    rounds = [r for run in lane.runs.values() for r in run.rounds]
    yardstick = {} if plain is None else plain.runs
    found = [costs(run, yardstick[turn]) for turn, run in lane.runs.items() if turn in yardstick]
    peaks = [run.peak.extra for run in lane.runs.values() if run.peak is not None]
    base = middle(run.rate for run in yardstick.values())
    drafted = any(r.draft.tokens for r in rounds)
    return {
        "x": x,
        "tok_s": None if rate is None else round(rate.median, 3),
        "tok_s_q1": None if rate is None else round(rate.q1, 3),
        "tok_s_q3": None if rate is None else round(rate.q3, 3),
        "speedup": round(rate.median / base, 4) if rate and base else None,
        "predicted_speedup": rounded(middle(cost.predicted for cost in found if cost)) if drafted else None,
        "checking": rounded(middle(cost.checking for cost in found if cost)) if drafted else None,
        "tokens_per_round": rounded(measure(rounds).tokens_per_round),
        "first_token_ms": rounded(middle(1000 * run.first_seconds for run in lane.runs.values())),
        "extra_mb": rounded(max(peaks, default=None)),
    }


def padded(pair: Pair, length: int, question: str) -> list[int]:
    """A prompt of about `length` tokens: real text, then the question, so that the same is asked at any length."""
    bare = pair.codec.encode(question)
    if len(bare) >= length:
        return bare
    text = "\n\n".join((ASSETS.parent / name).read_text(encoding="utf-8") for name in READING)
    ids = pair.codec.encode(text, chat=False)
    while len(ids) < length:  # a tokenizer with very long tokens
        ids += ids
    return pair.codec.encode(pair.codec.decode(ids[: length - len(bare)]) + "\n\n" + question)

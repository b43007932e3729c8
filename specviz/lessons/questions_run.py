"""Questions about a whole run: times, speed, the best k, the heads, a server's counters."""

from __future__ import annotations

import math
from statistics import mean, median

from specviz.lessons.asked import Choice, Question, asked, baseline, millis, round_of
from specviz.lessons.moments import Moment
from specviz.metrics import measure_trace
from specviz.theory import best_k, expected_tokens, speedup
from specviz.trace import Trace
from specviz.views.numbers import prob

LADDER = (0, 1, 2, 4, 8, 16)  # values of k to choose from
ABOUT_EQUAL = 0.03  # speeds closer than this are called the same, as on the stage


def pass_cost(trace: Trace, moment: Moment) -> Question:
    """How long one pass over all drafts takes, against passes for one token each."""
    n, base = len(round_of(trace, moment).draft.tokens) + 1, baseline(trace)
    ms = median(r.times.target for r in trace.rounds if len(r.draft.tokens) == n - 1)
    times = {"one": 1, "two": 2, "all": n}
    right = min(times, key=lambda key: abs(math.log(ms / base / times[key])))
    values = {"n": str(n), "k": str(n - 1), "total": str(len(trace.generated)), "base": millis(base), "ms": millis(ms)}
    values |= {"ratio": f"{ms / base:.1f}", "all_ms": millis(n * base)}
    choices = [Choice(key, {"about": millis(x * base)}) for key, x in times.items()]
    return asked(values, choices, right)


def best_length(trace: Trace, _: Moment) -> Question:
    """The k with the best speed-up for the measured alpha and c, by the closed form."""
    m, base = measure_trace(trace), baseline(trace)
    assert m.alpha is not None
    c = mean(ms for r in trace.rounds for ms in r.times.draft) / base
    best = best_k(m.alpha, c)
    near = sorted({*LADDER, best}, key=lambda k: (abs(math.log2(k + 1) - math.log2(best + 1)), k))[:4]
    options = sorted(near)
    table = "; ".join(f"k = {k}: {speedup(m.alpha, k, c):.2f}" for k in options)
    values = {
        "alpha": prob(m.alpha),
        "c": prob(c),
        "best": str(best),
        "tokens": f"{expected_tokens(m.alpha, best):.2f}",
        "gain": f"{speedup(m.alpha, best, c):.2f}",
        "table": table,
        "example": str(best_k(0.8, 0.1)),  # a draft as it is wished for, for the teacher
    }
    return Question(values, tuple(Choice("k", {"k": str(k)}) for k in options), options.index(best))


def heads(trace: Trace, moment: Moment) -> Question:
    """Whether the first or the last head guessed better: their best guesses against the text that came."""
    hits, tries = head_hits(trace)
    last = max(level for level, n in tries.items() if n)
    rate = {level: hits[level] / tries[level] for level in (1, last)}
    right = "same" if rate[1] == rate[last] else "first" if rate[1] > rate[last] else "last"
    values = {
        "last": str(last),
        "hits": str(hits[1]),
        "tries": str(tries[1]),
        "hits_last": str(hits[last]),
        "tries_last": str(tries[last]),
        "accepted": str(len(round_of(trace, moment).path)),
        "nodes": str(len(round_of(trace, moment).draft.tokens)),
    }
    return asked(values, [Choice(key, {"last": str(last)}) for key in ("first", "last", "same")], right)


def head_hits(trace: Trace) -> tuple[dict[int, int], dict[int, int]]:
    """(how often the best guess of each head was the token that came, how often it can be said); level -> count."""
    text, before = trace.generated, len(trace.prompt.tokens)
    hits: dict[int, int] = {}
    tries: dict[int, int] = {}
    for r in trace.rounds:
        seen: set[int] = set()
        for token, level in zip(r.draft.tokens, r.draft.shape.depths, strict=True):
            at = r.start - 1 + level - before
            if level in seen or at >= len(text):
                continue  # only the first node of a level is the head's best guess
            seen.add(level)
            tries[level] = tries.get(level, 0) + 1
            hits[level] = hits.get(level, 0) + (text[at] == token)
    return hits, tries


def faster(trace: Trace, moment: Moment) -> Question:
    """Whether the run was faster than plain decoding, by the clock."""
    m, base, r = measure_trace(trace), baseline(trace), round_of(trace, moment)
    assert m.speedup is not None
    assert m.tokens_per_round is not None
    near = abs(m.speedup - 1) <= ABOUT_EQUAL
    right = "same" if near else "faster" if m.speedup > 1 else "slower"
    step = mean(ms for x in trace.rounds for ms in x.times.draft)
    values = {
        "length": f"{m.tokens_per_round:.2f}",
        "speedup": f"{m.speedup:.2f}",
        "k": str(len(r.draft.tokens)),
        "step": millis(step),
        "drafting": millis(sum(r.times.draft)),
        "pass": millis(r.times.target),
        "base": millis(base),
        "c": prob(step / base),
        "alpha": prob(m.alpha),
        "plain": millis(m.tokens_per_round * base),
        "round": millis(m.decode_ms / m.rounds),
    }
    return asked(values, [Choice("faster", {"length": values["length"]}), Choice("same"), Choice("slower")], right)


def counters(trace: Trace, _: Moment) -> Question:
    """The mean acceptance length out of a server's three counters."""
    m = measure_trace(trace)
    assert m.mean_acceptance_length is not None
    assert m.draft_acceptance_rate is not None
    options = {
        "length": m.mean_acceptance_length,
        "without": m.mean_acceptance_length - 1,
        "rate": m.draft_acceptance_rate,
    }
    values = {"drafts": str(m.drafts), "tokens": str(m.drafted), "accepted": str(m.accepted)}
    values |= {key: f"{x:.2f}" for key, x in options.items()}
    rising = sorted(options, key=lambda key: options[key])
    return asked(values, [Choice(key, {"x": values[key]}) for key in rising], "length")

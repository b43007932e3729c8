"""What the rounds of a run cost, in plain target steps."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specviz.trace import Round


@dataclass(frozen=True, slots=True)
class Costs:
    """What a round costs, in plain target steps.

    Medians among rounds that drafted equally many tokens, weighted by how often that was, as in the benchmark: one
    hiccup of the machine is no property of a drafter.

    step_ms   the median target pass of plain decoding
    steps     draft passes of a round
    c         one draft pass; None where there was none
    drafting  all drafting of a round
    checking  the target's pass
    usual     nodes that were drafted most often, not counting rounds without a draft; 0 where none drafted
    at_usual  the target's pass over so many and one more token
    rest      judging and rolling back; of a plain step the same is `plain_rest`
    """

    step_ms: float
    steps: float
    c: float | None
    drafting: float
    checking: float
    usual: int
    at_usual: float
    rest: float
    plain_rest: float


def costs_of(rounds: Sequence[Round], plain: Sequence[Round]) -> Costs:
    """Of the rounds of a run, beside those of plain decoding on the same machine; there must be some of both."""
    step = max(statistics.median(r.times.target for r in plain), 1e-6)
    by_size: dict[int, list[Round]] = defaultdict(list)
    for r in rounds:
        by_size[len(r.draft.tokens)].append(r)

    def typical(value: Callable[[Round], float]) -> float:
        medians = ((statistics.median(map(value, some)), len(some)) for some in by_size.values())
        return sum(median * n for median, n in medians) / len(rounds)

    usual = max((size for size in by_size if size), key=lambda size: (len(by_size[size]), size), default=0)
    passes = [sum(r.times.draft) / len(r.times.draft) for r in by_size[usual] if r.times.draft]
    return Costs(
        step_ms=step,
        steps=sum(len(r.times.draft) for r in rounds) / len(rounds),
        c=statistics.median(passes) / step if passes else None,
        drafting=typical(lambda r: sum(r.times.draft)) / step,
        checking=typical(lambda r: r.times.target) / step,
        usual=usual,
        at_usual=statistics.median(r.times.target for r in by_size[usual]) / step if usual else 1.0,
        rest=typical(lambda r: r.times.verify + r.times.commit) / step,
        plain_rest=statistics.median(r.times.verify + r.times.commit for r in plain) / step,
    )

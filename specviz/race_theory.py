"""What would have to be otherwise: the figures with which drafting would just pay, and the k that theory likes best.

From one measured race; costs are in plain target steps.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from specviz.costs import Costs
from specviz.metrics import depth_of, judged
from specviz.theory import expected_tokens, expected_tokens_by_position
from specviz.trace import Round, Trace

AT_ONCE = ("medusa", "lookup")  # all drafts of a round come together: more of them take no more time
HIGHEST_K = 16  # looked at for the best k


@dataclass(frozen=True, slots=True)
class BreakEven:
    """What one figure would have to be for a speed-up of 1, the others staying. None: it alone cannot do it."""

    alpha: float | None
    drafting: float | None
    c: float | None
    checking: float | None


def break_even(tokens: float, costs: Costs, rounds: Sequence[Round]) -> BreakEven:
    """For `rounds` that bring `tokens` on average."""
    spent = costs.drafting + costs.checking
    drafting = tokens - costs.checking
    checking = tokens - costs.drafting
    return BreakEven(
        alpha=alpha_for(spent, [depth_of(r) for r in rounds]),
        drafting=drafting if drafting > 0 else None,
        c=drafting / costs.steps if drafting > 0 and costs.steps else None,
        checking=checking if checking >= 1 else None,
    )


def alpha_for(tokens: float, depths: Sequence[int]) -> float | None:
    """The acceptance, the same at every position, with which rounds of these depths bring so many tokens on average.
    None where not even 1 is enough.
    """

    def brings(alpha: float) -> float:
        return sum(expected_tokens(alpha, k) * n for k, n in counts.items()) / len(depths)

    counts = Counter(depths)
    if tokens > brings(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if brings(middle) < tokens else (low, middle)
    return high


def best_measured(trace: Trace, costs: Costs) -> tuple[int, float] | None:
    """By theory, from one measured k: (k, speed-up). None where nothing was drafted.

    Assumes that checking grows evenly from 1 to what it was measured at, that drafting grows with k (or not at all, for
    those that draft all at once), and that positions beyond the measured ones are accepted as the last one was.
    """
    rounds = trace.rounds
    known = [accepted / turns for accepted, turns in judged(rounds) if turns]
    if not known or not costs.usual:
        return None
    drafted = [r for r in rounds if len(r.draft.tokens) == costs.usual]
    drafting = statistics.median(sum(r.times.draft) for r in drafted) / costs.step_ms
    # who looks things up cannot choose to find something; who computes could draft in every round
    found = sum(bool(r.draft.tokens) for r in rounds) / len(rounds) if trace.config.method == "lookup" else 1.0

    def gain(k: int) -> float:
        if k == 0:
            return 1.0
        tokens = expected_tokens_by_position((known + [known[-1]] * k)[:k])
        draft = drafting if trace.config.method in AT_ONCE else drafting * k / costs.usual
        # a pass that was measured as cheaper than a step is not cheaper still with more
        more = max(0.0, costs.at_usual - 1)
        check = min(1.0, costs.at_usual) + more * k / costs.usual
        return (1 - found + found * tokens) / (1 - found + found * max(draft + check, 1e-6))

    # there are only so many heads
    highest = max(map(depth_of, rounds)) if trace.config.method == "medusa" else HIGHEST_K
    best = max(range(highest + 1), key=gain)
    return best, gain(best)

"""Do all greedy outputs agree? Where two part, how close the target's logits are there says whether rounding did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.bench.runs import Entrant
from specviz.models.check import closeness
from specviz.models.pair import Pair
from specviz.models.subject import fresh
from specviz.parting import parts_at, token_at


@dataclass(frozen=True, slots=True)
class Parting:
    """Where a contender first writes another token than the reference; None is the end of an output.

    gap            the target's highest logit there less that of the contender's token; None where it wrote none
    reference_gap  the same for the reference's token
    tie            rounding in this dtype can turn the order of the two over
    """

    key: str
    repeat: int
    prompt: int
    position: int
    expected: int | None
    found: int | None
    gap: float | None
    reference_gap: float | None
    tie: bool


def reference_of(lanes: Sequence[Entrant], precision: str) -> Entrant | None:
    """Whom all are compared with: transformers' own `generate` where it ran, else plain decoding, else the first."""
    there = [lane for lane in lanes if lane.runs and lane.contender.precision == precision]
    by_key = {lane.key: lane for lane in there}
    return by_key.get("hf_generate") or by_key.get("ours_plain") or (there[0] if there else None)


def compare(
    pair: Pair, lanes: Sequence[Entrant], prompts: Sequence[Sequence[int]], reference: Entrant
) -> list[Parting]:
    """All partings of contenders of the reference's precision. A repeat that differs is one, too."""
    found = []
    for lane in lanes:
        if lane.contender.precision != reference.contender.precision:
            continue
        for (repeat, prompt), run in lane.runs.items():
            expected = next((r for (_, p), r in reference.runs.items() if p == prompt), None)
            if expected is None:
                continue
            at = parts_at(expected.tokens, run.tokens)
            if at is None:
                continue
            x, y = (token_at(one.tokens, at) for one in (expected, run))
            gaps, tie = closeness(pair, fresh(pair, [*prompts[prompt], *expected.tokens[:at]]), (x, y))
            found.append(Parting(lane.key, repeat, prompt, at, x, y, gaps[1], gaps[0], tie))
    return found

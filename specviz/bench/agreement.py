"""Do all greedy outputs agree? Where two part, how close the target's logits are there says whether rounding did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.bench.runs import Lane
from specviz.models.check import TIE
from specviz.models.load import Pair
from specviz.models.subject import fresh


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


def reference_of(lanes: Sequence[Lane], precision: str) -> Lane | None:
    """Whom all are compared with: transformers' own `generate` where it ran, else plain decoding, else the first."""
    there = [lane for lane in lanes if lane.runs and lane.contender.precision == precision]
    by_key = {lane.key: lane for lane in there}
    return by_key.get("hf_generate") or by_key.get("ours_plain") or (there[0] if there else None)


def compare(pair: Pair, lanes: Sequence[Lane], prompts: Sequence[Sequence[int]], reference: Lane) -> list[Parting]:
    """All partings of contenders of the reference's precision. A repeat that differs is one, too."""
    found = []
    limit = TIE[pair.dtype_name]
    for lane in lanes:
        if lane.contender.precision != reference.contender.precision:
            continue
        for (repeat, prompt), run in lane.runs.items():
            expected = next((r for (_, p), r in reference.runs.items() if p == prompt), None)
            if expected is None or expected.tokens == run.tokens:
                continue
            a, b = expected.tokens, run.tokens
            at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            x, y = (tokens[at] if at < len(tokens) else None for tokens in (a, b))
            logits = fresh(pair, [*prompts[prompt], *a[:at]])
            highest = float(logits.max())
            gaps = [None if token is None else highest - float(logits[token]) for token in (x, y)]
            tie = all(gap is not None and gap < limit for gap in gaps)
            found.append(Parting(lane.key, repeat, prompt, at, x, y, gaps[1], gaps[0], tie))
    return found

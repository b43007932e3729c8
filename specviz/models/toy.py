"""Many single draws of two small distributions, by the engine's own rule: what the Proof tab's Monte Carlo shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from specviz.engine.sampling import draw, round_draws
from specviz.engine.verify import judge


@dataclass(frozen=True, slots=True)
class ToyDraws:
    """n draws, in their order."""

    drafted: tuple[int, ...]
    accepted: tuple[bool, ...]
    token: tuple[int, ...]


def draw_tokens(p: Sequence[float], q: Sequence[float], n: int, seed: int) -> ToyDraws:
    """Draw i drafts from q, judges, and recovers, with the random numbers of round i of a run with this seed."""
    numbers = [round_draws(seed, i, 1) for i in range(n)]
    d, u, v = torch.tensor([(x.draft[0], x.gate[0], x.final) for x in numbers], dtype=torch.float64).T
    ps, qs = (torch.tensor(row, dtype=torch.float64).expand(n, -1) for row in (p, q))  # [n, V]
    judged = judge(ps, qs, draw(qs, d), u, v)
    return ToyDraws(*(tuple(column.tolist()) for column in (judged.drafted, judged.accepted, judged.token)))

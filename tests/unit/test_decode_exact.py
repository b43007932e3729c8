"""The whole decoder by exact enumeration: every draw of every kind, chains of 1 to 3 drafted tokens."""

import random
from collections import defaultdict
from itertools import product

import pytest

from specviz.config import RunConfig
from specviz.engine import decode
from specviz.engine.decode import Decoder
from specviz.engine.sampling import Draws

from .table_lm import TableLM, drafter

# Eighths and quarters, chosen so that p/q is a multiple of 1/2 or at least 1, and the residual a multiple of 1/2:
# two cells of u, four of each draft draw and eight of the final draw are then exact.
P_ROWS = [
    (1 / 4, 3 / 8, 3 / 8),
    (1 / 4, 1 / 2, 1 / 4),
    (1 / 4, 1 / 4, 1 / 2),
    (0.0, 1 / 2, 1 / 2),
    (1 / 2, 1 / 8, 3 / 8),
    (3 / 4, 1 / 8, 1 / 8),
]
Q_ROW = (1 / 2, 1 / 4, 1 / 4)


def table(seed, rows):
    """One of `rows` for each prefix, chosen by the prefix."""
    return lambda prefix: rows[random.Random(f"{seed}{prefix}").randrange(len(rows))]


def cells(n):
    return [(i + 0.5) / n for i in range(n)]


def law_of_first(k, p_rule, monkeypatch):
    """The exact distribution of the first k + 1 tokens: those of one round, continued by the target itself."""
    mass = defaultdict(float)
    grid = [cells(4)] * k + [cells(2)] * k + [cells(8)]
    weight = 1 / (4**k * 2**k * 8)
    config = RunConfig(k=k, temperature=1.0, max_new_tokens=k + 1)
    for point in product(*grid):
        monkeypatch.setattr(decode, "round_draws", lambda *_, x=point: Draws(x[:k], x[k : 2 * k], x[-1]))
        target, draft = TableLM(p_rule, 3), TableLM(lambda _: Q_ROW, 3)
        done = Decoder(target, drafter(draft), [0], config).step()
        assert target.passes == [k + 1]  # one target pass a round
        spread(mass, (0, *done.emitted), weight, k + 2, p_rule)
    return mass


def spread(mass, text, weight, length, rule):
    if weight == 0:
        return
    if len(text) == length:
        mass[text] += weight
        return
    for token, p in enumerate(rule(text)):
        spread(mass, (*text, token), weight * p, length, rule)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_output_has_exactly_the_targets_distribution(k, seed, monkeypatch):
    rule = table(seed, P_ROWS)
    expected = defaultdict(float)
    spread(expected, (0,), 1.0, k + 2, rule)
    found = law_of_first(k, rule, monkeypatch)
    assert found.keys() == expected.keys()
    for text, weight in expected.items():
        assert found[text] == pytest.approx(weight, abs=1e-7), text


def test_the_enumeration_notices_a_bonus_from_the_wrong_row(monkeypatch):
    """Plant: the final token is drawn from the row before the right one."""
    rule = table(0, P_ROWS)
    right = decode.judge_draft
    monkeypatch.setattr(decode, "judge_draft", lambda p, *rest: right(p.roll(1, 0), *rest))
    expected = defaultdict(float)
    spread(expected, (0,), 1.0, 3, rule)
    found = law_of_first(1, rule, monkeypatch)
    assert any(abs(found[text] - weight) > 0.01 for text, weight in expected.items())


@pytest.mark.parametrize("seed", range(5))
def test_greedy_means_target_argmax_whatever_the_draft_does(seed):
    target, draft = TableLM(lambda _: (0.52, 0.48), 2), TableLM(lambda _: (0.48, 0.52), 2)
    config = RunConfig(k=3, temperature=0.0, seed=seed, max_new_tokens=8)
    rounds = list(decode.speculative(target, drafter(draft), [1], config))
    assert [t for r in rounds for t in r.emitted] == [0] * 8
    assert all(not r.path for r in rounds)

"""`k auto` against rounds whose law and cost are known."""

import random

import pytest
import torch

from specviz.config import RunConfig
from specviz.engine.decode import Decoder, autoregressive
from specviz.engine.drafters import ModelDrafter
from specviz.engine.model import CachedLM
from specviz.engine.pace import DRAFT_EVERY, PLAIN_EVERY, Pace
from specviz.errors import SpecvizError
from specviz.theory import best_k
from specviz.trace import Draft, Final, Kind, Round, Rows, Status, Times, Verdict
from tests.tiny import tiny_model


def played(k: int, accepted: int, ms: float) -> Round:
    """A round of k drafts, the first `accepted` of them accepted, that took `ms`."""
    verdicts = tuple(
        Verdict(Status.ACCEPTED if i < accepted else Status.REJECTED if i == accepted else Status.UNREACHED, 0.5, 0.5)
        for i in range(k)
    )
    kind = Kind.TARGET if not k else Kind.BONUS if accepted == k else Kind.RECOVERED
    draft = Draft((1,) * k, tuple(range(-1, k - 1)), (0.5,) * k)
    times = Times((), ms, 0.0, 0.0)
    final, rows = Final(2, kind, 0.5, 0.5), Rows(0, 0, 0)
    return Round(0, 0, draft, verdicts, tuple(range(accepted)), final, times, rows)


def simulated(alpha: float, cost, rounds: int, most: int = 8, seed: int = 0) -> list[int]:
    """The k of each round where drafts are accepted with chance alpha and a round with k drafts takes cost(k)."""
    pace, luck, chosen = Pace(most), random.Random(seed), []
    for _ in range(rounds):
        k = pace.k()
        accepted = next((i for i in range(k) if luck.random() >= alpha), k)
        pace.learn(played(k, accepted, cost(k) * luck.uniform(0.95, 1.05)))
        chosen.append(k)
    return chosen


@pytest.mark.parametrize(("alpha", "c"), [(0.5, 0.1), (0.7, 0.1), (0.8, 0.2), (0.9, 0.1)])
def test_finds_a_k_that_is_nearly_the_best(alpha, c):
    """Theorem 3.8 says which is best; a neighbour of it is as good, for the gain is flat there."""
    chosen = simulated(alpha, lambda k: 50 * (1 + k * c), 400)[100:]
    usual = max(set(chosen), key=chosen.count)
    assert abs(usual - min(best_k(alpha, c), 8)) <= 2


def test_where_drafting_does_not_pay_it_stops_and_looks_again_now_and_then():
    chosen = simulated(0.2, lambda k: 50 * (1 + 0.5 * k), 400)[50:]
    tries = [i for i, k in enumerate(chosen) if k]
    assert len(tries) <= len(chosen) / DRAFT_EVERY + 1
    assert tries
    lost = sum(50 * (1 + 0.5 * k) for k in chosen) / (50 * len(chosen))
    assert lost < 1.1  # never much slower than plain decoding


def test_notices_that_drafting_has_begun_to_pay():
    pace, luck, chosen = Pace(4), random.Random(1), []
    for step in range(600):
        k = pace.k()
        chosen.append(k)
        alpha = 0.05 if step < 200 else 0.95
        accepted = next((i for i in range(k) if luck.random() >= alpha), k)
        pace.learn(played(k, accepted, 50 + 10 * k))
    assert chosen[100:200].count(0) > 80
    assert chosen[-100:].count(4) > 90
    assert 0 < sum(not r for r in simulated(0.9, lambda k: 50 + 5 * k, 300)) <= 300 / PLAIN_EVERY + 2


def test_a_run_that_goes_on_remembers_what_it_learnt():
    rounds = [played(4, 0, 90.0), played(0, 0, 50.0)] + [played(4, 0, 90.0)] * 5
    assert Pace(8, rounds).k() == 0
    assert Pace(8).k() == 4
    assert Pace(0).k() == 0


def test_the_text_is_the_targets_whatever_k_is():
    """Times decide about k, so it differs from run to run; greedy tokens do not."""
    target, draft = tiny_model(), tiny_model(seed=1)
    config = RunConfig(k=8, adapt=True, max_new_tokens=60, ignore_eos=True)
    plain = [token for r in autoregressive(CachedLM(target), [1, 2, 3], config) for token in r.emitted]
    run, ks = Decoder(CachedLM(target), ModelDrafter(CachedLM(draft)), [1, 2, 3], config, pace=Pace(8)), set()
    torch.manual_seed(0)
    while run.finish is None:
        ks.add(len(run.step().draft.tokens))
    assert run.tokens[3:] == plain
    assert {0, 4} <= ks


def test_trees_are_refused():
    with pytest.raises(SpecvizError):
        RunConfig(method="eagle", nodes=8, adapt=True)

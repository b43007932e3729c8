"""Planted faults: each bends the output as it was worked out, each is found, and the engine as it is passes."""

import random
from collections import Counter
from dataclasses import replace

import pytest
import torch

from specviz import coupling
from specviz.config import RunConfig
from specviz.coupling import FAULTS, law
from specviz.engine import decode, judgement
from specviz.engine.decode import Decoder
from specviz.engine.drafters import ModelDrafter
from specviz.errors import SpecvizError
from specviz.models.faults import JUDGES, StaleRow, check_fault, planted
from specviz.models.subject import toy_subject
from specviz.models.toy import draw_tokens
from specviz.models.toy_lm import ToyLM
from specviz.models.trial import trial
from specviz.proof import CACHED, Cached, Plan
from tests.tiny import tiny_model

P = [0.30, 0.25, 0.20, 0.15, 0.10]
Q = [0.10, 0.15, 0.05, 0.30, 0.40]
# what the first token becomes, from the public table of these faults (rounded)
TABLE = {
    None: P,
    "resample_p": [0.235, 0.2625, 0.14, 0.2175, 0.145],
    "argmax_draft": [0.333, 0.167, 0.25, 0, 0.25],
    "reuse_u": [0.178, 0.289, 0.283, 0.15, 0.10],
    "always_accept": Q,
    "stale_row": P,
}


def last(found):
    *_, one = (x for x in found if x is not None)
    return one


@pytest.mark.parametrize("fault", TABLE)
def test_laws_of_the_faults_are_those_of_the_table(fault):
    assert law(P, Q, fault) == pytest.approx(TABLE[fault], abs=6e-4)


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_laws_by_enumeration(fault):
    """Every drafted token and a fine grid of u and v, through plain arithmetic of our own: the sum of all outcomes."""
    rng = random.Random(3)
    p, q = ([rng.random() for _ in range(4)] for _ in range(2))
    p, q = ([x / sum(row) for x in row] for row in (p, q))
    ratio = coupling.hotter(q) if fault == "hot_q" else q
    drawn = [float(i == q.index(max(q))) for i in range(4)] if fault == "argmax_draft" else q
    more = [max(0.0, a - b) for a, b in zip(p, ratio, strict=True)]
    weights = p if fault == "resample_p" else more
    n, out = 400, [0.0] * 4

    def at(v):
        low = 0.0
        for x, weight in enumerate(weights):
            low += weight / sum(weights)
            if v < low:
                return x
        return 3

    recovered = [at((j + 0.5) / n) for j in range(n)]
    for x in range(4):
        for i in range(n):
            u = (i + 0.5) / n
            if fault == "always_accept" or u * ratio[x] < p[x]:
                out[x] += drawn[x] / n
            elif fault == "reuse_u":
                out[recovered[i]] += drawn[x] / n
            else:
                for j in range(n):
                    out[recovered[j]] += drawn[x] / n / n
    assert law(p, q, fault) == pytest.approx(out, abs=4 / n)


@pytest.mark.parametrize("case", range(40))
def test_accepted_and_recovered_make_p(case):
    rng = random.Random(case)
    p, q = ([rng.random() * (rng.random() > 0.3) + 1e-4 for _ in range(5)] for _ in range(2))
    p, q = ([x / sum(row) for x in row] for row in (p, q))
    rest = coupling.residual(p, q)
    a = coupling.alpha(p, q)
    assert [x + (1 - a) * r for x, r in zip(coupling.common(p, q), rest, strict=True)] == pytest.approx(p)
    assert law(p, q) == pytest.approx(p)


def test_equal_and_disjoint():
    assert coupling.alpha(P, P) == pytest.approx(1)
    assert law(P, P) == pytest.approx(P)
    p, q = [0.6, 0.4, 0, 0, 0], [0, 0, 0.5, 0.3, 0.2]
    assert coupling.alpha(p, q) == 0
    assert law(p, q) == pytest.approx(p)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught(fault):
    """Through the engine's own decoder; the output follows the fault's exact law."""
    found = last(trial(toy_subject(P, Q), Plan(2000), fault))
    assert found.verdict == "caught"
    assert found.n <= 1000
    assert found.changed > 0
    assert found.changes[0].right != found.changes[0].wrong
    if fault != "stale_row":
        seen = {cell.token: cell.seen / found.n for cell in found.cells}
        assert [seen[x] for x in range(5)] == pytest.approx(law(P, Q, fault), abs=0.12)


def test_the_engine_as_it_is_passes_20_of_20():
    verdicts = Counter(last(trial(toy_subject(P, Q, 1000 * block), Plan(240))).verdict for block in range(20))
    assert verdicts == {"passed": 20}


@pytest.mark.parametrize(("p", "why"), [([1.0, 0, 0, 0, 0], "single"), ([0.9999, 0.0001, 0, 0, 0], "rare")])
def test_where_nothing_can_be_compared_the_check_says_so(p, why):
    found = last(trial(toy_subject(p, Q), Plan(200)))
    assert (found.verdict, found.untested, found.n) == ("untested", why, 200)
    assert all(test.detectable is None for test in found.tests)


def test_even_there_what_cannot_be_is_found():
    found = last(trial(toy_subject([1.0, 0, 0, 0, 0], Q), Plan(200), "always_accept"))
    assert found.verdict == "caught"
    assert {test.name: test.power for test in found.tests}["first"] == pytest.approx(1)
    assert sum(cell.seen for cell in found.cells) == found.n


def test_runs_on_a_cache_of_their_own_write_the_same():
    subject = replace(toy_subject(P, Q), cached=lambda: (ToyLM(P), ModelDrafter(ToyLM(Q))), turned=1)
    found = last(trial(subject, Plan(240)))
    assert (found.verdict, found.cached) == ("passed", Cached(CACHED, 0, 1))
    assert last(trial(subject, Plan(240), "hot_q")).cached is None


def test_a_cache_that_is_rolled_back_wrongly_is_found_though_the_remembered_passes_are_right():
    subject = replace(toy_subject(P, Q), cached=lambda: (StaleRow(ToyLM(P)), ModelDrafter(ToyLM(Q))), turned=1)
    found = last(trial(subject, Plan(2000)))
    assert (found.verdict, found.cached.parted) == ("caught", 2)
    assert found.n == found.caught <= CACHED
    assert len(found.tests) == 2


def test_a_fault_leaves_everybody_else_alone():
    """The shared rule is what it was, and a run without the fault, made in between, is too."""
    rule = decode.judge_draft
    subject = toy_subject(P, Q)

    def written():
        decoder = Decoder(subject.target(), subject.drafter(), subject.ids, RunConfig(k=2, temperature=1.0, seed=4))
        return [decoder.step().emitted for _ in range(3)]

    before, between = written(), []
    for fault in FAULTS:
        for _ in zip(range(30), trial(subject, Plan(200), fault), strict=False):
            pass
        between.append(written())
    assert all(one == before for one in between)
    assert decode.judge_draft is rule is judgement.judge_draft


def test_where_p_is_q_nothing_shows():
    for fault in ("resample_p", "reuse_u", "always_accept"):
        found = last(trial(toy_subject(P, P), Plan(200), fault))
        assert (found.verdict, found.changed, found.rejected) == ("passed", 0, 0)


def test_one_possible_word_proves_nothing():
    found = last(trial(toy_subject([1.0, 0, 0, 0, 0], Q), Plan(200)))
    assert found.verdict == "untested"


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_a_stale_row_is_one_row_too_many(family):
    """On a real cache: after a rejection the logits are those of the text with the refused token left in it."""
    from specviz.engine.model import CachedLM

    model = tiny_model(family)
    stale = StaleRow(CachedLM(model))
    stale.prefill(torch.tensor([5, 6, 7]))
    stale.forward(torch.tensor([8, 20, 21]), 3)  # the last token and two drafts
    stale.keep(4, [])  # both refused
    assert (stale.length, stale.lm.length) == (4, 5)
    logits = stale.forward(torch.tensor([9])).logits
    with torch.inference_mode():
        wrong, right = (
            model(torch.tensor([text]), use_cache=False).logits[0, -1]
            for text in ([5, 6, 7, 8, 20, 9], [5, 6, 7, 8, 9])
        )
    torch.testing.assert_close(logits[0], wrong, atol=1e-4, rtol=0)
    assert (logits[0] - right).abs().max() > 0.1


def test_without_a_fault_nothing_is_wrapped():
    target, drafter = ToyLM(P), object()
    assert planted(None, target, drafter) == (target, drafter, judgement.judge_draft)
    assert set(JUDGES) < set(FAULTS)


@pytest.mark.parametrize(
    ("fault", "config", "key"),
    [
        ("gremlin", RunConfig(), "errors.choice"),
        ("hot_q", RunConfig("lookup"), "errors.fault_method"),
        ("hot_q", RunConfig("skip", verify="block"), "errors.fault_method"),
        ("hot_q", RunConfig("skip", tree=((0,), (1,))), "errors.fault_method"),
    ],
)
def test_faults_that_cannot_be_planted(fault, config, key):
    with pytest.raises(SpecvizError) as caught:
        check_fault(fault, config)
    assert caught.value.key == key


def test_the_toys_draws_are_the_rounds_of_a_run():
    """Draw i is what round i of a run with this seed writes first: the engine's own rule and numbers."""
    drawn = draw_tokens(P, Q, 40, 9)
    from specviz.engine.drafters import ModelDrafter

    for i in range(40):
        config = RunConfig(k=1, temperature=1.0, seed=9, max_new_tokens=2, ignore_eos=True)
        r = Decoder(ToyLM(P), ModelDrafter(ToyLM(Q)), [0], config, index=i).step()
        assert (r.draft.tokens[0], bool(r.path), r.emitted[0]) == (drawn.drafted[i], drawn.accepted[i], drawn.token[i])


def test_the_toys_draws_follow_p():
    drawn = draw_tokens(P, Q, 4000, 1)
    counts = Counter(drawn.token)
    assert sum((counts[x] - 4000 * p) ** 2 / (4000 * p) for x, p in enumerate(P)) < 18.5  # p = .001, 4 degrees
    assert sum(drawn.accepted) / 4000 == pytest.approx(0.55, abs=0.03)

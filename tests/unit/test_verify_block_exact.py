"""Block verification by exact enumeration: lossless, and never worse than judging token by token."""

import json
import math
from dataclasses import replace

import pytest
import torch

from specviz.config import Override, RunConfig
from specviz.engine import decode
from specviz.engine.decode import Decoder, speculative
from specviz.engine.sampling import Draws
from specviz.engine.tree import Tree
from specviz.engine.verify_block import walk_block
from specviz.engine.verify_tree import Siblings, walk_tree
from specviz.errors import SpecvizError
from specviz.trace import Kind, Models, Prompt, Status, Token, Trace, ids_of
from specviz.trace_json import dump_trace, load_trace

from .round_law import LAST, distance, iid, outcomes, random_rule, rows
from .table_lm import TableLM, drafter, one_hot

CASES = [
    (k, size, seed, zeros) for k, size in ((1, 4), (2, 3), (3, 3), (3, 2)) for seed in range(3) for zeros in (0, 0.3)
]


def by_block(p, q, drafted, k, u):
    return walk_block(p, q[:k], drafted, u, 0.5)


def by_token(p, q, drafted, k, u):
    return walk_tree(p, q[:k], torch.arange(k), drafted, Tree.chain(k), Siblings.IID, u, 0.5)


def judged(k, p_rule, q_rule, walk):
    """All outcomes of a chain of k."""

    def judge(drafted, u):
        tokens = [token or 0 for token in drafted]
        p, q = rows(Tree.chain(k), tokens, p_rule), rows(Tree.chain(k), tokens, q_rule)
        return tokens, walk(p, q, torch.tensor(tokens), k, torch.tensor(u, dtype=torch.float64))

    return list(outcomes(Tree.chain(k), lambda prefix, m: iid(q_rule(prefix), m), judge))


def mean_length(found):
    return sum(weight * len(accepted) for weight, accepted, _ in found)


@pytest.mark.parametrize(("k", "size", "seed", "zeros"), CASES)
def test_exact_and_never_worse_than_token_by_token(k, size, seed, zeros):
    p_rule, q_rule = random_rule(seed, size, zeros), random_rule(seed + 100, size)
    block, token = judged(k, p_rule, q_rule, by_block), judged(k, p_rule, q_rule, by_token)
    assert sum(weight for weight, *_ in block) == pytest.approx(1)
    assert distance(block, p_rule, k + 1) < 1e-9
    assert distance(token, p_rule, k + 1) < 1e-9
    assert mean_length(block) >= mean_length(token) - 1e-9
    if k == 1:
        assert mean_length(block) == pytest.approx(mean_length(token))


def test_better_in_most_cases():
    gains = []
    for seed in range(6):
        p_rule, q_rule = random_rule(seed, 3), random_rule(seed + 100, 3)
        gains.append(
            mean_length(judged(2, p_rule, q_rule, by_block)) - mean_length(judged(2, p_rule, q_rule, by_token))
        )
    assert min(gains) > -1e-9
    assert sum(gain > 0.005 for gain in gains) >= 3


def test_the_papers_example():
    """Section 2: p = (1/3, 2/3), q = (2/3, 1/3) everywhere: 10/9 tokens by token, 11/9 by block, of two."""
    p_rule, q_rule = (lambda _: (1 / 3, 2 / 3)), (lambda _: (2 / 3, 1 / 3))
    assert mean_length(judged(2, p_rule, q_rule, by_token)) == pytest.approx(10 / 9)
    assert mean_length(judged(2, p_rule, q_rule, by_block)) == pytest.approx(11 / 9)


def test_one_token_is_judged_as_ever():
    p, q = (
        torch.tensor([[0.3, 0.25, 0.2, 0.15, 0.1]] * 2).double(),
        torch.tensor([[0.1, 0.15, 0.05, 0.3, 0.4]]).double(),
    )
    for token in range(5):
        for u in (0.0, 0.1, 0.24, 0.26, 0.49, 0.51, 0.9, LAST):
            gate, drafted = torch.tensor([u], dtype=torch.float64), torch.tensor([token])
            block, alone = by_block(p, q, drafted, 1, gate), by_token(p, q, drafted, 1, gate)
            assert block.kept.equal(alone.kept)
            torch.testing.assert_close(block.rest / block.rest.sum(), alone.rest / alone.rest.sum())


def test_equal_distributions_accept_everything():
    for dtype in (torch.float32, torch.float64):
        rule = random_rule(7, 5)
        p = rows(Tree.chain(3), (0, 1, 2), rule).to(dtype)
        walk = by_block(p, p, torch.tensor([0, 1, 2]), 3, torch.full((3,), 0.999999, dtype=torch.float64))
        assert walk.kept.all()
        assert torch.isfinite(walk.limit).all()


def test_disjoint_distributions_reject_everything():
    p, q = torch.tensor([[0.5, 0.5, 0, 0]] * 3), torch.tensor([[0, 0, 0.5, 0.5]] * 2)
    walk = walk_block(p, q, torch.tensor([2, 3]), torch.zeros(2, dtype=torch.float64), 0.9)
    assert not walk.kept.any()
    assert walk.token == 1


# ---- planted faults ----


@pytest.mark.parametrize("fault", ["no budget", "residual of the token rule", "the first refusal ends it"])
def test_planted_faults_are_caught(fault):
    p_rule = lambda prefix: (0.3, 0.6, 0.1) if prefix else (0.5, 0.25, 0.25)  # noqa: E731
    q_rule = lambda prefix: (0.02, 0.18, 0.8) if prefix else (0.25, 0.5, 0.25)  # noqa: E731

    def walk(p, q, drafted, k, u):
        right = by_block(p, q, drafted, k, u)
        if fault == "no budget":  # each gate by its own p / q, the last that passes counts
            alone = by_token(p, q, drafted, k, torch.zeros_like(u))
            limit = (alone.p / alone.q).clamp(max=1)
            end = (torch.arange(1, k + 1) * (u < limit)).amax()
            return replace(right, limit=limit, end=end, kept=torch.arange(k) < end, rest=right.rest)
        if fault == "residual of the token rule":
            more = (p[:k] - q[:k]).clamp(min=0)
            return replace(right, rest=more[right.end] if right.end < k else right.rest)
        passes = (u < right.limit).long().cumprod(0)
        weights = torch.cat([torch.ones(1).double(), ratios(p, q, drafted, k)])
        rest = torch.cat([(weights[:k, None] * p[:k] - q[:k]).clamp(min=0), p[k:]])[passes.sum()]
        return replace(right, end=passes.sum(), kept=passes.bool(), rest=rest)

    assert distance(judged(2, p_rule, q_rule, by_block), p_rule, 3) < 1e-9
    assert distance(judged(2, p_rule, q_rule, walk), p_rule, 3) > 0.005


def ratios(p, q, drafted, k):
    """min(1, p_{i-1} p / q), one after the other."""
    out = [1.0]
    for i, token in enumerate(drafted.tolist()):
        out.append(min(1.0, out[-1] * float(p[i, token] / q[i, token])))
    return torch.tensor(out[1:], dtype=torch.float64)


# ---- through the decoder ----


def test_exact_through_the_decoder(monkeypatch):
    k, p_rule, q_rule = 2, random_rule(40, 3, zeros=0.2), random_rule(41, 3)
    seen, right = [], decode.judge_draft
    monkeypatch.setattr(decode, "judge_draft", lambda *args: seen.append(right(*args)) or seen[-1])
    config = RunConfig(k=k, temperature=1.0, max_new_tokens=k + 1, verify="block")

    def judge(drafted, u):
        draws = []
        for i, token in enumerate(drafted):
            q = None if None in drafted[: i + 1] else q_rule(tuple(drafted[:i]))
            draws.append(0.37 if q is None else sum(q[:token]) + q[token] / 2)
        monkeypatch.setattr(decode, "round_draws", lambda *_: Draws(tuple(draws), tuple(u), 0.5))
        target, draft = (TableLM(lambda text, rule=rule: rule(text[1:]), 3) for rule in (p_rule, q_rule))
        done = Decoder(target, drafter(draft), [0], config).step()
        assert all(want in (None, got) for want, got in zip(drafted, done.draft.tokens, strict=True))
        assert [v.limit for v in done.verdicts] == pytest.approx(seen[-1].limit.tolist())
        assert done.emitted == (*(done.draft.tokens[i] for i in done.path), int(seen[-1].token))
        return done.draft.tokens, seen.pop()

    found = list(outcomes(Tree.chain(k), lambda prefix, m: iid(q_rule(prefix), m), judge))
    assert {len(accepted) for _, accepted, _ in found} == {0, 1, 2}
    assert distance(found, p_rule, k + 1) < 1e-6


def run(verify, temperature, seed=0, overrides=(), q_rule=None, **options):
    p_rule = random_rule(50, 6, zeros=0.3)
    q_rule = q_rule or random_rule(51, 6)
    config = RunConfig(
        k=3, temperature=temperature, seed=seed, max_new_tokens=24, verify=verify, overrides=overrides, **options
    )
    rounds = speculative(TableLM(p_rule, 6), drafter(TableLM(q_rule, 6)), [0], config, detail=True)
    return config, tuple(rounds)


def test_at_temperature_0_it_is_greedy():
    assert [r.emitted for r in run("block", 0.0)[1]] == [r.emitted for r in run("lossless", 0.0)[1]]
    assert any(r.path for r in run("block", 0.0)[1])


def test_verdicts_name_the_limit_and_a_token_of_little_promise_can_stay():
    rounds = [r for seed in range(5) for r in run("block", 1.0, seed)[1]]
    stayed = 0
    for r in rounds:
        passes = [i for i, v in enumerate(r.verdicts) if v.u < v.limit]
        assert r.path == tuple(range(max(passes, default=-1) + 1))
        stayed += len(r.path) - len(passes)
        if r.draft.tokens:
            assert (r.final.kind is Kind.BONUS) == (len(r.path) == len(r.draft.tokens))
    assert stayed > 0


@pytest.mark.parametrize("verify", ["block", "lossless", "typical", "greedy"])
@pytest.mark.parametrize("token", range(6))
def test_a_forced_token_that_the_draft_would_never_draw(verify, token):
    """q = 0, and sometimes p = 0 too: nothing that is not finite reaches the trace."""
    for position in range(3):
        config, rounds = run(verify, 1.0, 0, (Override(0, position, token=token),), lambda _: one_hot(0, 6))
        assert rounds[0].draft.tokens[position] == token
        made = Trace(config, Models("custom", "t", "d", "cpu", "float32"), Prompt("", (0,)), rounds)
        made = replace(made, vocab=tuple(Token(i, str(i)) for i in sorted(ids_of(made))))
        assert load_trace(dump_trace(made)) == made
        numbers = json.loads(dump_trace(made))["rounds"][0]["verdicts"]
        assert all(math.isfinite(x) for v in numbers for x in v.values() if isinstance(x, float))
        verdict = rounds[0].verdicts[position]
        if verdict.p == 0:
            assert verdict.status is not Status.ACCEPTED


@pytest.mark.parametrize("token", range(6))
def test_a_forced_token_passes_a_block_where_it_passes_alone(token):
    forced = Override(0, 0, token=token)
    block, alone = (run(verify, 1.0, 0, (forced,), lambda _: one_hot(0, 6))[1][0] for verify in ("block", "lossless"))
    assert alone.verdicts[0].q == float(token == 0)
    if token:
        assert (block.verdicts[0].limit > 0) == (alone.verdicts[0].p > 0)


def test_nan_is_still_refused():
    with pytest.raises(SpecvizError) as error:
        run("block", 1.0, q_rule=lambda _: [math.nan] * 6)
    assert error.value.key == "errors.nan"

"""Whole runs with trees on tiny models: against transformers' own greedy text, to every end, and what if."""

import pytest
import torch

from specviz.config import Override
from specviz.engine.model import CachedLM
from specviz.engine.sampling import probabilities
from specviz.engine.tree import Tree
from specviz.metrics import measure
from specviz.trace import Finish, Kind, Status
from specviz.trace_json import dump_trace, load_trace

from .round_law import LAST
from .tiny_drafters import TREES, as_trace, begin, decoder, finished, greedy, prompt, tiny_target

PROMPT, N = prompt(), 40


@pytest.fixture(scope="module", params=["llama", "qwen2", "gpt2"])
def family(request):
    model = tiny_target(request.param)
    return model, greedy(model, PROMPT, N)


@pytest.fixture(scope="module")
def llama():
    model = tiny_target()
    return model, greedy(model, PROMPT, N)


# ---- greedy is exact ----


@pytest.mark.parametrize("name", TREES)
def test_greedy_equals_generate(name, family):
    run = begin(name, family)
    rounds, written = finished(run)
    assert written == family[1]
    paths = [r.path for r in rounds]
    if name != "distinct":  # which has only one token to draw: a chain
        assert any(path != tuple(range(len(path))) for path in paths)  # rows were gathered
    if name != "eagle":  # its layer is random
        assert max(map(len, paths)) > 1
    deepest = max(max(Tree(r.draft.parents).depths, default=0) for r in rounds)
    assert len(measure(rounds).per_position) == deepest <= run.config.depth


@pytest.mark.parametrize("name", TREES)
def test_the_greedy_rule_gives_the_greedy_text_at_any_temperature(name, llama):
    for seed in range(3):
        rounds, written = finished(begin(name, llama, verify="greedy", temperature=1.5, seed=seed))
        assert written == llama[1]
    assert all(v.p in (0.0, 1.0) for r in rounds for v in r.verdicts)


@pytest.mark.parametrize("nodes", [8, 16, 32, 64])
def test_greedy_with_trees_of_every_size(nodes, llama):
    tree = [(a,) for a in range(4)] + [(a, b) for a in range(4) for b in range(4)]
    tree += [(a, b, c) for a, b in tree[4:] for c in range(4)]
    for name in ("medusa", "fixed", "eagle"):
        shape = {"nodes": nodes, "branch": 8} if name == "eagle" else {"tree": tree[:nodes]}
        rounds, written = finished(begin(name, llama, **shape))
        assert written == llama[1]
        assert max(len(r.draft.tokens) for r in rounds) == nodes


# ---- ends ----


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_exactly_max_new_tokens_and_no_deeper_tree_than_what_is_left(name, n, llama):
    run = begin(name, llama, max_new_tokens=n)
    rounds, written = finished(run)
    assert written == llama[1][:n]
    assert run.finish is Finish.LENGTH
    left = n
    for r in rounds:
        assert max(Tree(r.draft.parents).depths, default=0) <= left - 1
        left -= len(r.emitted)


def ends_inside(llama, at_least=2):
    """A token of the greedy text that some round accepts first on its path, and did not occur before."""
    rounds, written = finished(begin("medusa", llama))
    done = 0
    for r in rounds:
        token = written[done]
        if len(r.path) >= at_least and token not in written[:done] and token not in PROMPT:
            return token, done
        done += len(r.emitted)
    raise AssertionError("no such round")


@pytest.mark.parametrize("how", ["eos", "stop"])
def test_the_text_ends_inside_an_accepted_path(how, llama):
    token, before = ends_inside(llama)
    ends = {"eos": (token, 1000)} if how == "eos" else {"stop": lambda new: new[-1] == token}
    run = begin("medusa", llama, detail=True, **ends)
    rounds, written = finished(run)
    last = rounds[-1]
    assert written == llama[1][: before + 1]
    assert run.finish is Finish.STOP
    assert last.final is None
    assert len(last.path) == 1
    node, tree = last.path[0], Tree(last.draft.parents)
    for i, verdict in enumerate(last.verdicts):
        if i == node:
            assert verdict.status is Status.ACCEPTED
        elif tree.parents[i] >= 0:  # below it, or below a sibling
            assert (verdict.status, verdict.u) == (Status.UNREACHED, None)
        else:
            assert verdict.status is (Status.REJECTED if i < node else Status.UNREACHED)
    assert tree.children[node + 1]  # some had been drafted below
    assert last.target_rows.kept == last.start + 1
    assert not any(position.r for position in last.detail)
    assert load_trace(dump_trace(as_trace(run, rounds))).rounds[-1] == last


def test_a_drafted_end_of_text_that_is_not_accepted_does_not_stop(llama):
    drafted = {t for r in finished(begin("medusa", llama))[0] for t in r.draft.tokens}
    wrong = sorted(drafted - set(llama[1]))
    run = begin("medusa", llama, eos=wrong)
    assert finished(run)[1] == llama[1]
    assert run.finish is Finish.LENGTH


def test_stop_sees_every_token_once_in_order(llama):
    seen = []
    finished(begin("fixed", llama, stop=lambda new: seen.append(list(new))))
    assert seen == [llama[1][: i + 1] for i in range(N)]


@pytest.mark.parametrize("name", TREES)
def test_the_contexts_end(name, llama):
    model, _ = llama
    tokens = prompt(120)
    run = decoder(name, model, tokens, tokens + [0] * 8, max_new_tokens=100)
    _, written = finished(run)
    assert (len(written), run.finish) == (8, Finish.CONTEXT)


@pytest.mark.parametrize("name", ["medusa", "eagle", "fixed"])
def test_a_prompt_of_one_token(name, llama):
    model, _ = llama
    expected = greedy(model, PROMPT[:1], 12)
    run = decoder(name, model, PROMPT[:1], PROMPT[:1] + expected, max_new_tokens=12)
    rounds, written = finished(run)
    assert written == expected
    if name != "fixed":  # no hidden state yet
        assert (rounds[0].draft.tokens, rounds[0].final.kind) == ((), Kind.TARGET)


# ---- what if ----


def sampled(name, llama, overrides=(), **changes):
    settings = {"temperature": 1.0, "seed": 7, "max_new_tokens": 12, "detail": True}
    return begin(name, llama, overrides=overrides, **settings | changes)


@pytest.mark.parametrize("name", TREES)
def test_u_just_below_1_refuses_what_was_accepted_and_what_hangs_below_it(name, llama):
    plain, node, seed = first(name, llama, lambda r, i: i in r.path and r.verdicts[i].p < r.verdicts[i].q)
    forced = sampled(name, llama, [Override(0, node, u=LAST)], seed=seed).step()
    assert forced.draft == plain.draft
    assert (forced.verdicts[node].status, forced.verdicts[node].u) == (Status.REJECTED, LAST)
    at = plain.path.index(node)
    assert forced.path[:at] == plain.path[:at]
    assert node not in forced.path
    for i, parent in enumerate(forced.draft.parents):
        if parent == node:
            assert (forced.verdicts[i].status, forced.verdicts[i].u) == (Status.UNREACHED, None)


@pytest.mark.parametrize("name", TREES)
def test_u_of_0_accepts_what_was_refused(name, llama):
    plain, node, seed = first(name, llama, lambda r, i: r.verdicts[i].status == "rejected" and r.verdicts[i].p > 0)
    forced = sampled(name, llama, [Override(0, node, u=0.0)], seed=seed).step()
    assert forced.draft == plain.draft
    assert (forced.verdicts[node].status, forced.verdicts[node].u) == (Status.ACCEPTED, 0.0)
    path = Tree(plain.draft.parents).path(node)
    assert forced.path[: len(path)] == path
    assert forced.emitted[: len(path)] == tuple(plain.draft.tokens[i] for i in path)


def first(name, llama, wanted):
    """The first round 0, of some seed, that has a node as wanted."""
    for seed in range(60):
        plain = sampled(name, llama, seed=seed).step()
        for node in range(len(plain.draft.tokens)):
            if wanted(plain, node):
                return plain, node, seed
    raise AssertionError("no such round")


@pytest.mark.parametrize("token", [0, 17])
@pytest.mark.parametrize("name", TREES)
def test_another_token_at_a_node(name, token, llama):
    """It is judged by the target's own p, and read by what the draft says below it; the run stays whole."""
    model, _ = llama
    for node in (0, 1, 3):
        run = sampled(name, llama, [Override(0, node, token=token)])
        rounds, _ = finished(run)
        done, tree = rounds[0], Tree(rounds[0].draft.parents)
        assert done.draft.tokens[node] == token
        path = [done.draft.tokens[i] for i in tree.path(node)]
        with torch.inference_mode():
            p = probabilities(CachedLM(model).forward(torch.tensor(PROMPT + path[:-1])).logits[0])
        position = done.detail[tree.parents[node] + 1]
        assert position.p[position.ids.index(token)] == pytest.approx(p[token].item(), abs=2e-5)
        trace = as_trace(run, rounds)
        assert load_trace(dump_trace(trace)) == trace


def test_a_repeated_token_is_refused_the_second_time(llama):
    """A what-if may put a sibling's token there again: a point mass that was refused once is gone."""
    repeated = sampled("medusa", llama).step().draft.tokens[0]
    overrides = [Override(0, 1, token=repeated), Override(0, 0, u=LAST)]
    done = sampled("medusa", llama, overrides).step()
    assert [v.status for v in done.verdicts[:2]] == [Status.REJECTED, Status.REJECTED]
    assert done.verdicts[1].p == 0.0

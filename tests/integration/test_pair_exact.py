"""The bundled pair against transformers, against itself resumed, and against its own statistics."""

import gc
import json
import weakref
from dataclasses import replace

import pytest
import torch

from specviz.choices import of_profile
from specviz.config import RunConfig
from specviz.engine import drafters, verify, verify_tree
from specviz.engine.model import CachedLM
from specviz.engine.sampling import draw
from specviz.engine.tree import Branches, Tree
from specviz.engine.verify import gate
from specviz.errors import SpecvizError
from specviz.models.check import check_distribution, check_identity
from specviz.models.run import advance, decoder_for, fork, run, speculative, start, text_of
from specviz.models.tree_presets import best_of
from specviz.trace_json import dump_trace, load_trace, round_to_json

pytestmark = pytest.mark.pair

PROMPTS = [
    "Explain why the sky is blue.",
    "Write a Python function that returns the larger of two numbers.",
    "List five fruits that are red.",
    "Tell a story about a fox and a lighthouse.",
    "What is the capital of France?",
    "Repeat this three times: the quick brown fox.",
    "Summarise the plot of Romeo and Juliet in two sentences.",
    "世界 café 👩‍👩‍👧 <|im_end|> ${1+1}",
]


@pytest.fixture(scope="module")
def generated(pair):
    """What model.generate writes, greedy: the truth."""
    out = {}
    for prompt in PROMPTS:
        ids = pair.codec.encode(prompt)
        tokens = pair.target.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids)),
            max_new_tokens=64,
            do_sample=False,
            pad_token_id=2,
        )
        out[prompt] = tokens[0, len(ids) :].tolist()
    return out


@pytest.mark.parametrize(
    ("method", "nodes", "prompt"),
    [(m, 0, p) for m in ("draft", "skip") for p in PROMPTS]
    + [(m, 0, p) for m in ("eagle", "medusa") for p in PROMPTS[:3]]
    + [("medusa", n, p) for n in (16, 64) for p in PROMPTS[3:5]]  # all sizes: benchmarks/tree_exact.py
    + [(m, 0, p) for m in ("lookup", "none") for p in PROMPTS[4:7]],
)
def test_greedy_equals_generate(pair, generated, method, nodes, prompt):
    tree, n = (best_of(nodes), 32) if nodes else ((), 64)
    rounds = list(speculative(pair, prompt, method=method, k=5, tree=tree, max_new_tokens=n))
    assert [t for r in rounds for t in r.emitted] == generated[prompt][:n]
    assert not nodes or any(r.path != tuple(range(len(r.path))) for r in rounds)  # rows of the cache were gathered


@pytest.mark.parametrize("method", ["draft", "skip"])
def test_stepping_resuming_and_full_speed_give_the_same(pair, method):
    config = RunConfig(method=method, temperature=0.8, seed=11, max_new_tokens=32)
    fast = list(speculative(pair, PROMPTS[0], method=method, temperature=0.8, seed=11, max_new_tokens=32))
    stepped = start(pair, PROMPTS[0], config)
    while stepped.finish is None:  # one round a call, through JSON each time: nothing survives but the trace
        stepped = load_trace(dump_trace(next(advance(pair, stepped, rounds=1))))
    halfway = run(pair, PROMPTS[0], config).cut(4)
    *_, resumed = advance(pair, halfway)
    for other in (stepped, resumed):
        assert [r.emitted for r in other.rounds] == [r.emitted for r in fast]
        assert [r.draft.tokens for r in other.rounds] == [r.draft.tokens for r in fast]
        assert [[(v.status, v.u) for v in r.verdicts] for r in other.rounds] == [
            [(v.status, v.u) for v in r.verdicts] for r in fast
        ]


@pytest.mark.parametrize("k", [0, 2, 5])
def test_cache_invariant_on_the_real_pair(pair, k):
    """After every round the cached next logits equal a fresh full forward."""
    trace = start(pair, PROMPTS[3], RunConfig(method="skip", k=k, temperature=1.0, seed=3, max_new_tokens=24))
    decoder = decoder_for(pair, trace, detail=False)
    while decoder.finish is None:
        decoder.step()
        assert decoder.target.length == len(decoder.tokens) - 1
        cached = decoder.target.forward(torch.tensor(decoder.tokens[-1:])).logits
        decoder.target.rollback(len(decoder.tokens) - 1)
        with torch.inference_mode():
            full = pair.target(torch.tensor([decoder.tokens]), use_cache=False).logits[0, -1:, : pair.vocab_size]
        torch.testing.assert_close(cached, full, atol=2e-4, rtol=1e-4)


@pytest.fixture(params=["eager", "sdpa", "lean"])
def lm(request, pair):
    """The target by transformers' two kinds of attention, and as runs are made here."""
    before = pair.target.config._attn_implementation
    if request.param != "lean":
        pair.target.set_attn_implementation(request.param)
    yield pair.opened("target") if request.param == "lean" else CachedLM(pair.target, pair.vocab_size)
    pair.target.set_attn_implementation(before)


def test_every_node_of_a_tree_as_in_a_chain_of_its_path(pair, lm):
    """64 nodes drafted by the heads, read in one pass; each path alone in a fresh pass of transformers."""
    config = RunConfig("medusa", tree=of_profile((10, 28, 24, 2)), chat=False, max_new_tokens=8)
    trace = start(pair, PROMPTS[0], config)
    tokens, draft = list(trace.prompt.tokens), decoder_for(pair, trace, detail=False).step().draft
    tree = Tree(draft.parents)
    lm.prefill(torch.tensor(tokens[:-1]))
    branches = Branches.of(tree, len(tokens), 1)
    logits = lm.forward(torch.tensor([tokens[-1], *draft.tokens]), 65, branches=branches).logits
    assert len(tree) == 64
    for leaf in set(range(64)) - set(draft.parents):
        path = tree.path(leaf)
        text = torch.tensor([tokens + [draft.tokens[node] for node in path]])
        with torch.inference_mode():
            alone = pair.target(text, use_cache=False, logits_to_keep=len(path)).logits[0, :, : pair.vocab_size]
        torch.testing.assert_close(logits[[node + 1 for node in path]], alone, atol=1e-4, rtol=0)


@pytest.mark.parametrize("method", ["draft", "skip", "eagle", "medusa", "lookup"])
def test_check_passes(pair, method):
    assert check_identity(pair, RunConfig(method=method), PROMPTS[:2], tokens=24).passed
    result = check_distribution(pair, RunConfig(method=method, temperature=0.9), samples=500)
    assert result.passed, result


PLANTED = {
    "recovered from p": lambda patch: patch.setattr(verify, "leftover", lambda p, q: (p, torch.ones(len(p), 1))),
    "recovered from |p - q|": lambda patch: patch.setattr(
        verify, "leftover", lambda p, q: ((p - q).abs(), torch.ones(len(p), 1))
    ),
    "always accepted": lambda patch: patch.setattr(verify_tree, "gate", always_accepted),
    "drafted from a flatter q": lambda patch: patch.setattr(drafters, "draw", lambda q, u: draw(q**0.3, u)),
}


def always_accepted(*args):
    accepted, p, q = gate(*args)
    return torch.ones_like(accepted), p, q


@pytest.mark.parametrize("fault", PLANTED)
def test_check_notices_planted_faults(pair, monkeypatch, fault):
    PLANTED[fault](monkeypatch)
    result = check_distribution(pair, RunConfig(method="skip"), samples=500)
    assert not result.passed, result


def test_fork_keeps_the_past_and_changes_the_future(pair):
    config = RunConfig(method="skip", temperature=0.8, seed=1, max_new_tokens=24)
    trace = run(pair, PROMPTS[0], config)
    again = fork(trace, 2, seed=2)
    assert (again.rounds, again.forked_at, again.finish) == (trace.rounds[:2], 2, None)
    *_, other = advance(pair, again)
    assert other.rounds[:2] == trace.rounds[:2]
    assert other.rounds[2].verdicts[0].u != trace.rounds[2].verdicts[0].u
    assert len(other.generated) == 24


def test_stop_string_split_over_tokens(pair):
    trace = run(pair, PROMPTS[0], RunConfig(method="skip", stop=("ue. It",), max_new_tokens=64), detail=False)
    assert trace.finish == "stop"
    assert text_of(pair, trace).endswith("sky is bl")


def test_a_stopped_run_is_freed(pair):
    """Nothing keeps the caches of a run that was left in the middle."""
    rounds = speculative(pair, PROMPTS[0], method="skip", max_new_tokens=64)
    next(rounds)
    decoder = weakref.ref(rounds.gi_frame.f_locals["decoder"])
    assert decoder().target.length > 0
    rounds.close()
    del rounds
    gc.collect()
    assert decoder() is None


def test_traces_of_other_models_are_not_continued(pair):
    trace = start(pair, PROMPTS[0], RunConfig(method="skip", max_new_tokens=8))
    for other in ({"draft": "another"}, {"dtype": "bfloat16"}, {"target": "another"}):
        with pytest.raises(SpecvizError, match="loaded"):
            next(advance(pair, replace(trace, models=replace(trace.models, **other))))
    beyond = replace(trace, prompt=replace(trace.prompt, tokens=(1, 10**6)))
    with pytest.raises(SpecvizError, match="1000000"):
        next(advance(pair, beyond))


def test_an_ended_trace_stays_as_it_is(pair):
    done = run(pair, PROMPTS[0], RunConfig(method="skip", stop=("sky",), max_new_tokens=16))
    assert done.finish == "stop"
    assert list(advance(pair, done)) == []


def test_a_round_with_detail_stays_small(pair):
    """Below 6 KB a round, whatever is drawn: the hottest temperature has the longest lists."""
    trace = run(pair, PROMPTS[3], RunConfig(method="skip", k=5, temperature=1.5, seed=1, max_new_tokens=12))
    sizes = [len(json.dumps(round_to_json(r), separators=(",", ":"))) for r in trace.rounds]
    assert max(sizes) < 6000

"""Traces of trees: every round run again from the JSON before it, and broken trees refused."""

import copy
import json

import pytest
import torch

from specviz.engine.tree import Tree
from specviz.errors import SpecvizError
from specviz.trace import Kind, Status
from specviz.trace_json import dump_trace, load_trace

from .tiny_drafters import TREES, as_trace, begin, decoder, finished, greedy, prompt, tiny_target

PROMPT = prompt()


@pytest.fixture(scope="module")
def llama():
    model = tiny_target()
    return model, greedy(model, PROMPT, 40)


@pytest.mark.parametrize("verify", ["lossless", "typical"])
@pytest.mark.parametrize("name", TREES)
def test_resumed_from_json_at_every_round(name, verify, llama):
    """Each round again, from nothing but the trace before it."""
    model, text = llama
    settings = {"temperature": 0.9, "seed": 4, "verify": verify, "max_new_tokens": 24, "detail": True}
    run = begin(name, llama, **settings)
    whole = as_trace(run, finished(run)[0])
    read = load_trace(dump_trace(whole))
    assert read == whole
    assert {v.status for r in read.rounds for v in r.verdicts} == set(Status)
    for done in read.rounds:
        before = read.cut(done.index).generated
        options = {"generated": len(before), "index": done.index}
        again = decoder(name, model, [*PROMPT, *before], PROMPT + text, **options, **settings).step()
        assert (again.draft.tokens, again.draft.parents) == (done.draft.tokens, done.draft.parents)
        assert (again.path, again.final.token, again.emitted) == (done.path, done.final.token, done.emitted)
        assert [(v.status, v.u) for v in again.verdicts] == [(v.status, v.u) for v in done.verdicts]


@pytest.mark.parametrize("name", TREES)
def test_details_belong_to_their_contexts(name, llama):
    """After the text and after every node: the target's p there, q where something was drafted, r at the walk's end."""
    model, _ = llama
    run = begin(name, llama, temperature=1.0, seed=1, length=16, detail=True)
    tokens, compared = list(PROMPT), 0
    for r in finished(run)[0]:
        tree = Tree(r.draft.parents)
        assert len(r.detail) == len(tree) + 1
        for context, position in enumerate(r.detail):
            children = tree.children[context]
            p = q_after(model, tokens + [r.draft.tokens[i] for i in tree.path(context - 1)])
            assert position.p == pytest.approx([p[i].item() for i in position.ids], abs=2e-5)
            assert bool(position.q) == bool(children) == (position.alpha is not None)
            drawn = {r.draft.tokens[i]: r.draft.q[i] for i in children}
            assert drawn.keys() <= set(position.ids)
            for token, q in drawn.items():
                assert position.q[position.ids.index(token)] == pytest.approx(q, abs=2e-6)
        ended = r.path[-1] + 1 if r.path else 0
        residuals = [context for context, position in enumerate(r.detail) if position.r]
        assert residuals == ([ended] if r.final.kind is Kind.RECOVERED else [])
        if residuals and r.final.token in r.detail[ended].ids:  # it may be none of the likeliest
            listed = r.detail[ended].ids.index(r.final.token)
            assert r.detail[ended].r[listed] == pytest.approx(r.final.prob, abs=2e-6)
            compared += 1
        tokens += r.emitted
    assert compared > 0


def q_after(model, tokens):
    with torch.inference_mode():
        return model(torch.tensor([tokens]), use_cache=False).logits[0, -1].softmax(-1)


def spoil(data, what):
    r = next(r for r in data["rounds"] if len(r["path"]) > 1)
    path, accepted = r["path"], r["verdicts"]
    beside = next(i for i, parent in enumerate(r["draft"]["parents"]) if parent == -1 and i != path[0])
    if what == "path without its root":
        path.pop(0)
    elif what == "path without its root, consistently":
        accepted[path.pop(0)]["status"] = "rejected"
    elif what == "path from another branch":
        accepted[path[0]]["status"], accepted[beside]["status"] = "rejected", "accepted"
        path[0] = beside
    elif what == "path reversed":
        path.reverse()
    elif what == "accepted beside the path":
        accepted[beside]["status"] = "accepted"
    elif what == "two siblings on the path":
        accepted[beside]["status"] = "accepted"
        path.insert(0, beside)
    elif what == "judged below a node that was not reached":
        statuses = [v["status"] for v in accepted]
        below = next(
            (i, parent)
            for one in data["rounds"]
            for i, parent in enumerate(one["draft"]["parents"])
            if one is r and parent >= 0 and statuses[parent] != "accepted"
        )
        accepted[below[0]]["status"] = "rejected"
    elif what == "a bonus where branches were refused":
        next(one for one in data["rounds"] if one["final"]["kind"] == "recovered")["final"]["kind"] = "bonus"
    elif what == "recovered at the end of a branch":
        next(one for one in data["rounds"] if one["final"]["kind"] == "bonus")["final"]["kind"] = "recovered"
    elif what == "its own parent":
        r["draft"]["parents"][path[-1]] = path[-1]
    elif what == "a later parent":
        r["draft"]["parents"][path[0]] = path[1]
    elif what == "a parent too few":
        r["draft"]["parents"].pop()
    elif what == "no q where something was drafted":
        r["detail"][path[0] + 1]["q"] = []
    elif what == "a limit that is none":
        accepted[0]["limit"] = "high"
    elif what == "a tree that hangs in the air":
        data["config"]["tree"] = [[0], [1, 0]]
    elif what == "a tree of text":
        data["config"]["tree"] = "0"


SPOILED = [
    "path without its root",
    "path without its root, consistently",
    "path from another branch",
    "path reversed",
    "accepted beside the path",
    "two siblings on the path",
    "judged below a node that was not reached",
    "a bonus where branches were refused",
    "recovered at the end of a branch",
    "its own parent",
    "a later parent",
    "a parent too few",
    "no q where something was drafted",
    "a limit that is none",
    "a tree that hangs in the air",
    "a tree of text",
]


@pytest.fixture(scope="module")
def as_json(llama):
    run = begin("fixed", llama, detail=True)
    return json.loads(dump_trace(as_trace(run, finished(run)[0])))


@pytest.mark.parametrize("what", SPOILED)
def test_broken_trees_are_refused_in_a_sentence(what, as_json):
    load_trace(json.dumps(as_json))  # as it is, it is good
    data = copy.deepcopy(as_json)
    spoil(data, what)
    with pytest.raises(SpecvizError) as error:
        load_trace(json.dumps(data))
    assert 10 < len(str(error.value)) < 300

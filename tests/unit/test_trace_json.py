"""Traces out and in again; traces from outside are checked to the last number."""

import copy
import json
import math
from dataclasses import replace

import pytest

from specviz.config import VERIFIERS, Override, RunConfig
from specviz.engine.decode import speculative
from specviz.engine.drafters import ModelDrafter
from specviz.engine.model import CachedLM
from specviz.errors import SpecvizError
from specviz.i18n import ASSETS
from specviz.trace import Finish, Models, Prompt, Token, Trace, ids_of
from specviz.trace_json import MAX_BYTES, dump_trace, load_trace, trace_to_json
from tests.tiny import tiny_model


@pytest.fixture(scope="module")
def trace():
    """A real run of two tiny models with everything on: detail, overrides, odd tokens in the vocabulary."""
    config = RunConfig(k=3, temperature=1.5, seed=5, max_new_tokens=30, stop=("x",), overrides=(Override(1, 0, u=0.9),))
    target, draft = CachedLM(tiny_model()), ModelDrafter(CachedLM(tiny_model(seed=1)))
    rounds = tuple(speculative(target, draft, [1, 2, 3], config, detail=True))
    made = Trace(
        config, Models("custom", "t", "d", "cpu", "float32"), Prompt("<b>世", (1, 2, 3)), rounds, Finish.LENGTH, 5.5
    )
    odd = {
        5: Token(5, "", bytes=b"\xe4\xb8"),
        6: Token(6, "<|end|>", special=True),
        7: Token(7, "\x00\u202e</script>`${1+1}"),
    }
    return replace(made, vocab=tuple(odd.get(i, Token(i, f"t{i}")) for i in sorted(ids_of(made) | set(odd))))


def test_read_back_identical(trace):
    assert load_trace(dump_trace(trace)) == trace
    assert load_trace(dump_trace(trace).encode()) == trace
    assert dump_trace(load_trace(dump_trace(trace))) == dump_trace(trace)


def test_the_run_has_several_kinds_of_round(trace):
    assert {r.final.kind for r in trace.rounds} >= {"recovered", "bonus"}
    assert {len(r.path) for r in trace.rounds} >= {0, 1, 2}
    assert all(len(r.detail) == len(r.draft.tokens) + 1 for r in trace.rounds)


@pytest.mark.parametrize("verify", VERIFIERS)
def test_rounds_of_every_rule_are_read_back(verify):
    """Also those that end inside the accepted tokens. Block verification judges what comes after a refusal, too."""
    config = RunConfig(k=4, temperature=0.6, max_new_tokens=40, verify=verify)
    target, ended = tiny_model(), 0
    for seed in range(12):
        lms = CachedLM(target), ModelDrafter(CachedLM(tiny_model(num_hidden_layers=2)))
        run = replace(config, seed=seed)
        rounds = tuple(speculative(*lms, [1, 2, 3], run, eos=range(seed, 60, 12)))
        ended += rounds[-1].final is None
        made = Trace(run, Models("custom", "t", "d", "cpu", "float32"), Prompt("x", (1, 2, 3)), rounds)
        made = replace(made, vocab=tuple(Token(i, f"t{i}") for i in sorted(ids_of(made))))
        assert load_trace(dump_trace(made)) == made
    assert ended > 0 or verify == "greedy"  # a draft seldom hits the likeliest token of these models


def test_bundled_runs_are_read():
    for file in sorted((ASSETS / "traces").glob("*.json")):
        assert load_trace(file.read_bytes()).rounds


def test_cut_can_go_on(trace):
    assert trace.cut(2).finish is None
    assert trace.cut(2).rounds == trace.rounds[:2]
    assert trace.cut(99) is trace


def without_prompt(data):
    for r in data["rounds"]:
        r["start"] -= len(data["prompt"]["tokens"])
    data["prompt"]["tokens"] = []


def cut_empty(data):
    """The last round is one that emits nothing."""
    last = next(r for r in data["rounds"] if not r["path"])
    last["final"] = None
    del data["rounds"][last["index"] + 1 :]


def rename(kind, other):
    def spoil(data):
        next(r for r in data["rounds"] if r["final"]["kind"] == kind)["final"]["kind"] = other

    return spoil


def judge_on(data):
    next(v for r in data["rounds"] for v in r["verdicts"] if v["status"] == "unreached")["status"] = "rejected"


def mutations():
    """(what, function that spoils a good trace)."""

    def at(*path, value):
        def spoil(data):
            for step in path[:-1]:
                data = data[step]
            data[path[-1]] = value

        return spoil

    def drop(*path):
        def spoil(data):
            for step in path[:-1]:
                data = data[step]
            del data[path[-1]]

        return spoil

    first = ("rounds", 0)
    return {
        "schema": at("schema", value="specviz-trace/2"),
        "no schema": drop("schema"),
        "no rounds": drop("rounds"),
        "rounds a dict": at("rounds", value={}),
        "round a number": at("rounds", 0, value=3),
        "parent after child": at(*first, "draft", "parents", value=[-1, 1, 1]),
        "parent below root": at(*first, "draft", "parents", value=[-2, 0, 1]),
        "token a float": at(*first, "draft", "tokens", 0, value=1.5),
        "token negative": at(*first, "draft", "tokens", 0, value=-1),
        "token a bool": at(*first, "draft", "tokens", 0, value=True),
        "token unknown": at(*first, "draft", "tokens", 0, value=10**6),
        "q a text": at(*first, "draft", "q", 0, value="0.5"),
        "q above one": at(*first, "draft", "q", 0, value=7),
        "too few verdicts": at(*first, "verdicts", value=[]),
        "status": at(*first, "verdicts", 0, "status", value="maybe"),
        "status a list": at(*first, "verdicts", 0, "status", value=[]),
        "path outside": at(*first, "path", value=[9]),
        "path unaccepted": at(*first, "path", value=[2]),
        "start": at(*first, "start", value=4),
        "index": at(*first, "index", value=1),
        "kind": at(*first, "final", "kind", value="gift"),
        "time negative": at(*first, "times", "target", value=-1),
        "rows": at(*first, "target_rows", value=[1, 2]),
        "detail short": at(*first, "detail", value=[]),
        "detail ppm": at(*first, "detail", 0, "p", 0, value=2_000_000),
        "detail length": at(*first, "detail", 0, "ids", value=[1]),
        "config unknown": at("config", "colour", value=1),
        "config k": at("config", "k", value=10**9),
        "config text": at("config", "temperature", value="hot"),
        "override": at("config", "overrides", value=[{"round": 1}]),
        "models": drop("models", "target"),
        "prompt": at("prompt", "text", value=3),
        "finish": at("finish", value="bored"),
        "vocab key": at("vocab", "x", value="y"),
        "vocab hex": at("vocab", "5", value={"bytes": "zz"}),
        "vocab number": at("vocab", "5", value=5),
        "baseline": at("baseline_ms", value=-1),
        "baseline beyond float": at("baseline_ms", value=10**400),
        "half a character": at("prompt", "text", value="\ud800"),
        "half a character in the vocabulary": at("vocab", "5", value="\udc00"),
        "no q where drafted": at(*first, "detail", 0, "q", value=[]),
        "rows shrink": at(*first, "target_rows", value=[9, 3, 2]),
        "rows grow from nothing": at(*first, "target_rows", value=[2, 6, 500]),
        "rows that nobody read": at(*first, "target_rows", value=[2, 10**15, 3]),
        "fork beyond the end": at("forked_at", value=10**9),
        "a tree": at(*first, "draft", "parents", value=[-1, -1, -1]),
        "no prompt": without_prompt,
        "a round without a token": cut_empty,
        "bonus after a refusal": rename("recovered", "bonus"),
        "recovered where all stayed": rename("bonus", "recovered"),
        "target where all stayed": rename("bonus", "target"),
        "judged after a refusal": judge_on,
        "path leaves accepted tokens out": lambda data: next(r for r in data["rounds"] if r["path"])["path"].pop(),
    }


@pytest.mark.parametrize("what", mutations())
def test_spoiled_traces_are_refused_in_a_sentence(trace, what):
    data = copy.deepcopy(json.loads(dump_trace(trace)))
    mutations()[what](data)
    with pytest.raises(SpecvizError) as error:
        load_trace(json.dumps(data))
    assert 10 < len(str(error.value)) < 300


def test_a_tree_beyond_any_run_is_refused_before_its_shape_is_looked_at(trace):
    data = json.loads(dump_trace(trace))
    data["rounds"][0]["draft"] |= {"tokens": [1] * 60_000, "parents": [-1] * 60_000, "q": [0.5] * 60_000}
    with pytest.raises(SpecvizError, match=r"rounds\[0\]\.draft\.tokens"):
        load_trace(json.dumps(data))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", "null", "{", '{"schema": NaN}', "[" * 100_000, b"\xff\xfe", '"' + "x" * (MAX_BYTES + 1) + '"'],
)
def test_what_is_no_trace_at_all(text):
    with pytest.raises(SpecvizError):
        load_trace(text)


def test_infinity_never_reaches_json(trace):
    data = trace_to_json(trace)
    data["baseline_ms"] = math.inf
    with pytest.raises(SpecvizError):
        load_trace(json.dumps(data))
    with pytest.raises(ValueError, match="JSON compliant"):
        dump_trace(replace(trace, baseline_ms=math.nan))

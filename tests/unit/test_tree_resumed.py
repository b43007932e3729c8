"""Runs with trees, cut after every round and gone on with from nothing but their JSON, to their end."""

from dataclasses import replace

import pytest
import torch

from specviz.config import Override
from specviz.trace import Finish
from specviz.trace_json import dump_trace, load_trace

from .tiny_drafters import TREES, as_trace, begin, decoder, finished, greedy, prompt, tiny_target

LEARNED = ["eagle", "medusa"]
KINDS = [*LEARNED, "eagle chain", "medusa chain"]
PROMPT = prompt()


@pytest.fixture(scope="module")
def llama():
    model = tiny_target()
    return model, greedy(model, PROMPT, 40)


def told(rounds):
    """What has to come out the same; probabilities may differ in their last digits."""
    found = []
    for r in rounds:
        final = r.final and (r.final.token, r.final.kind, r.final.u)
        verdicts = [(v.status, v.u) for v in r.verdicts]
        found.append((r.index, r.start, r.draft.tokens, r.draft.parents, verdicts, r.path, final))
    return found


def resumed(name, llama, trace, index, tokens=PROMPT, **settings):
    """The rounds from `index` on, by fresh caches, from the JSON of those before."""
    model, text = llama
    before = load_trace(dump_trace(trace.cut(index)))
    shape = {"tree": (), "nodes": 0} if "chain" in name else {}
    written = [*tokens, *before.generated]
    options = {"generated": len(before.generated), "index": len(before.rounds)}
    run = decoder(name.split()[0], model, written, PROMPT + text, **options, **shape | settings)
    return finished(run)[0]


def whole(name, llama, **settings):
    run = begin(name.split()[0], llama, **{"tree": (), "nodes": 0} if "chain" in name else {}, **settings)
    return run, finished(run)[0]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", KINDS)
def test_cut_anywhere_the_rest_is_the_same(name, seed, llama):
    settings = {"temperature": 0.9, "seed": seed, "max_new_tokens": 24}
    run, rounds = whole(name, llama, **settings)
    for index in range(len(rounds)):
        assert told(resumed(name, llama, as_trace(run, rounds), index, **settings)) == told(rounds[index:])


@pytest.mark.parametrize("filters", [{"top_k": 1}, {"top_p": 0.2}, {"top_k": 5, "min_p": 0.3}], ids=str)
@pytest.mark.parametrize("name", [*LEARNED, "fixed"])
def test_candidates_that_are_filtered_out_are_the_same_ones_again(name, filters, llama):
    settings = {"temperature": 0.9, "seed": 3, "max_new_tokens": 20, **filters}
    run, rounds = whole(name, llama, **settings)
    for index in range(len(rounds)):
        assert told(resumed(name, llama, as_trace(run, rounds), index, **settings)) == told(rounds[index:])


@pytest.mark.parametrize("limits", [(1,), (6, 7, 8, 9)], ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_after_rounds_without_a_draft(name, limits, llama):
    """Where there is room for one token only. A longer limit lets the run go on, by its caches or by fresh ones."""
    settings = {"temperature": 0.9, "seed": 6}
    run, rounds = whole(name, llama, max_new_tokens=limits[0], **settings)
    for limit in limits[1:]:
        assert run.finish is Finish.LENGTH
        run.config, run.finish = replace(run.config, max_new_tokens=limit), None
        rounds += finished(run)[0]
    assert not any(r.draft.tokens for r in rounds[1 - len(limits) :])
    run.config, run.finish = replace(run.config, max_new_tokens=20), None
    later = finished(run)[0]
    assert later[0].draft.tokens
    trace = as_trace(run, [*rounds, *later])
    for index in range(len(later)):
        again = resumed(name, llama, trace, len(rounds) + index, max_new_tokens=20, **settings)
        assert told(again) == told(later[index:])


@pytest.mark.parametrize("name", KINDS)
def test_a_prompt_of_one_token_at_every_round(name, llama):
    """There is no hidden state before it: the first round drafts nothing, the next ones do."""
    model, text = llama
    shape = {"tree": (), "nodes": 0} if "chain" in name else {}
    settings = {"temperature": 0.9, "seed": 2, "max_new_tokens": 20}
    run = decoder(name.split()[0], model, PROMPT[:1], PROMPT + text, **shape, **settings)
    rounds, _ = finished(run)
    assert [bool(r.draft.tokens) for r in rounds[:2]] == [False, True]
    trace = as_trace(run, rounds)
    for index in range(len(rounds)):
        again = resumed(name, llama, trace, index, PROMPT[:1], **settings)
        assert told(again) == told(rounds[index:])


@pytest.mark.parametrize("name", TREES)
def test_with_a_what_if_in_the_middle(name, llama):
    settings = {"temperature": 0.9, "seed": 4, "max_new_tokens": 24}
    settings["overrides"] = [Override(1, 0, token=17), Override(1, 2, u=0.0), Override(2, 1, token=5)]
    run, rounds = whole(name, llama, **settings)
    assert rounds[1].draft.tokens[0] == 17
    for index in range(len(rounds)):
        assert told(resumed(name, llama, as_trace(run, rounds), index, **settings)) == told(rounds[index:])


@pytest.mark.parametrize("name", [*TREES, "eagle chain"])
def test_no_what_if_changes_a_greedy_text(name, llama):
    """So a run at temperature 0 stays lossless with it."""
    for node in range(3):
        changes = [Override(r, node, u=0.999) for r in range(0, 9, 2)] + [Override(r, node, token=9) for r in (1, 3, 5)]
        run, rounds = whole(name, llama, overrides=changes)
        assert run.config.lossless
        assert [token for r in rounds for token in r.emitted] == llama[1]
        assert any(r.draft.tokens[node : node + 1] == (9,) for r in rounds)


def test_states_are_those_of_the_kept_tokens(llama):
    """What a learned drafter gets after a round is the target's state of each token that stayed, in order."""
    model, _ = llama
    seen = []
    run = begin("medusa", llama, temperature=0.9, seed=1, length=20)
    commit = run.drafter.commit
    run.drafter.commit = lambda length, hidden, path=(): seen.append(hidden) or commit(length, hidden, path)
    rounds, written = finished(run)
    with torch.inference_mode():
        truth = model(torch.tensor([PROMPT + written]), output_hidden_states=True).hidden_states[-1][0]
    assert any(r.path != tuple(range(len(r.path))) for r in rounds)
    for r, states in zip(rounds, seen, strict=True):
        torch.testing.assert_close(states, truth[r.start - 1 : r.start + len(r.path)], atol=1e-4, rtol=1e-4)

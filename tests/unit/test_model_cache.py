"""The KV cache against a fresh full forward: after every rollback, of every length, in several model families."""

import pytest
import torch

from specviz.config import RunConfig
from specviz.engine.decode import Decoder, speculative
from specviz.engine.drafters import ModelDrafter
from specviz.engine.model import CachedLM
from specviz.errors import SpecvizError
from tests.tiny import CONFIGS, V, tiny_model


def fresh(model, tokens, rows=1):
    """The logits of one full forward without any cache: the truth."""
    with torch.inference_mode():
        return model(torch.tensor([tokens]), use_cache=False).logits[0, -rows:]


def text(length, seed=0):
    return torch.randint(V, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.mark.parametrize("family", CONFIGS)
@pytest.mark.parametrize("prompt", [1, 5, 12])
@pytest.mark.parametrize("kept", range(6))
def test_next_logits_after_every_rollback(family, prompt, kept):
    """Prompt, a pass over one token and 5 drafts, keep `kept` of the drafts, then another pass."""
    model = tiny_model(family)
    lm, tokens = CachedLM(model), text(prompt + 5)
    lm.prefill(torch.tensor(tokens[: prompt - 1], dtype=torch.long))
    seen = lm.forward(torch.tensor(tokens[prompt - 1 :]), rows=6)
    torch.testing.assert_close(seen.logits, fresh(model, tokens, 6), atol=1e-4, rtol=1e-4)
    lm.rollback(prompt + kept)
    assert lm.length == prompt + kept
    more = text(4, seed=9)
    expected = fresh(model, tokens[: prompt + kept] + more, 4)
    torch.testing.assert_close(lm.forward(torch.tensor(more), rows=4).logits, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("family", CONFIGS)
def test_the_test_notices_a_cache_off_by_one(family):
    """Plant: one row too many is kept."""
    model = tiny_model(family)
    lm, tokens = CachedLM(model), text(10)
    lm.forward(torch.tensor(tokens))
    lm.rollback(8)
    wrong = lm.forward(torch.tensor([3])).logits
    assert (wrong - fresh(model, [*tokens[:7], 3])).abs().max() > 0.05


@pytest.mark.parametrize("family", CONFIGS)
@pytest.mark.parametrize("k", [1, 3, 5])
def test_greedy_equals_generate(family, k):
    """Real drafts (another seed: mostly wrong; same seed with noise: mostly right) against transformers."""
    target = tiny_model(family)
    for draft in (tiny_model(family, seed=1), noisy(family)):
        tokens = text(7, seed=3)
        expected = target.generate(
            torch.tensor([tokens]), max_new_tokens=40, min_new_tokens=40, do_sample=False, pad_token_id=0
        )
        config = RunConfig(k=k, max_new_tokens=40)
        rounds = list(speculative(CachedLM(target), ModelDrafter(CachedLM(draft)), tokens, config))
        assert [t for r in rounds for t in r.emitted] == expected[0, 7:].tolist()


def noisy(family):
    model = tiny_model(family)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.01 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(5))
    return model


@pytest.mark.parametrize("family", CONFIGS)
def test_invariant_holds_through_a_sampled_run(family):
    """After every round both caches hold exactly the text without its last token."""
    target, draft = tiny_model(family), noisy(family)
    big, small = CachedLM(target), CachedLM(draft)
    run = Decoder(big, ModelDrafter(small), text(6), RunConfig(k=4, temperature=1.0, seed=2, max_new_tokens=60))
    accepted = set()
    while run.finish is None:
        done = run.step()
        accepted.add(len(done.path))
        assert big.length == len(run.tokens) - 1
        assert small.length <= len(run.tokens) - 1
        probe = CachedLM(target)
        probe.cache, probe.length = big.cache, big.length
        got = probe.forward(torch.tensor(run.tokens[-1:])).logits
        torch.testing.assert_close(got, fresh(target, run.tokens), atol=1e-4, rtol=1e-4)
        probe.rollback(big.length)
    assert len(accepted) > 2  # the run has seen several cases


def test_same_model_as_draft_and_target_needs_two_caches():
    model = tiny_model()
    config = RunConfig(k=4, max_new_tokens=20)
    rounds = list(speculative(CachedLM(model), ModelDrafter(CachedLM(model)), text(5), config))
    assert all(len(r.path) == len(r.draft.tokens) for r in rounds)


@pytest.mark.parametrize("family", CONFIGS)
def test_resumed_run_equals_the_run_in_one_go(family):
    target, draft = tiny_model(family), noisy(family)

    def decoder(tokens, generated=0, index=0):
        config = RunConfig(k=3, temperature=0.9, seed=4, max_new_tokens=50)
        drafter = ModelDrafter(CachedLM(draft))
        return Decoder(CachedLM(target), drafter, tokens, config, generated=generated, index=index)

    prompt = text(6)
    whole = decoder(prompt)
    rounds = []
    while whole.finish is None:
        rounds.append(whole.step())
    tokens = list(prompt)
    for done in rounds:  # every round again, each from nothing but the tokens before it
        again = decoder(tokens, len(tokens) - len(prompt), done.index).step()
        assert again.emitted == done.emitted
        assert [(v.status, v.u) for v in again.verdicts] == [(v.status, v.u) for v in done.verdicts]
        assert again.draft.tokens == done.draft.tokens
        tokens += done.emitted


@pytest.mark.parametrize("family", CONFIGS)
@pytest.mark.parametrize(("prompt", "k", "most"), [(1, 4, 1), (1, 0, 5), (30, 4, 5)])
def test_a_draft_that_has_read_nothing_yet_can_be_rolled_back(family, prompt, k, most):
    """A prompt of one token, nothing to draft, or a prompt longer than the draft's context: its cache stays empty."""
    target, draft = tiny_model(), tiny_model(family, seed=1, max_position_embeddings=24)
    tokens = text(prompt)
    rounds = list(
        speculative(CachedLM(target), ModelDrafter(CachedLM(draft)), tokens, RunConfig(k=k, max_new_tokens=most))
    )
    assert sum(len(r.emitted) for r in rounds) == most


def test_learned_positions_never_index_past_their_table():
    model = tiny_model("gpt2")
    run = Decoder(CachedLM(model), ModelDrafter(CachedLM(model)), text(120), RunConfig(k=5, max_new_tokens=100))
    while run.finish is None:
        run.step()
    assert run.finish == "context"
    assert len(run.tokens) == 128


def test_forward_past_the_context_is_refused():
    with pytest.raises(SpecvizError):
        CachedLM(tiny_model()).forward(torch.tensor(text(129)))


def test_padded_vocabulary_is_cut():
    target, draft = tiny_model(), tiny_model(vocab_size=V + 3, seed=1)
    rounds = list(
        speculative(
            CachedLM(target, V),
            ModelDrafter(CachedLM(draft, V)),
            text(5),
            RunConfig(k=3, temperature=2.0, max_new_tokens=60),
        )
    )
    assert all(t < V for r in rounds for t in r.draft.tokens)


def test_hidden_states_are_the_models_own():
    model = tiny_model()
    tokens = text(9)
    lm = CachedLM(model)
    first = lm.prefill(torch.tensor(tokens[:5]), layers=(-1, 1))
    states = torch.cat([first, lm.forward(torch.tensor(tokens[5:]), rows=2, layers=(-1, 1)).hidden])
    with torch.inference_mode():
        truth = model(torch.tensor([tokens]), output_hidden_states=True, use_cache=False).hidden_states
    torch.testing.assert_close(states, torch.cat([truth[-1][0], truth[1][0]], dim=-1), atol=1e-4, rtol=1e-4)

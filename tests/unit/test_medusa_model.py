"""Medusa heads on real (tiny) models: against a computation by hand, a plain pass and what the model says later."""

import pytest
import torch
from transformers import DynamicCache

from specviz.engine.medusa import MedusaHeads, MedusaModel, check_depth
from specviz.engine.reduced import ReducedHead
from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES, t
from tests.tiny import V, tiny_model

FAMILIES = ("llama", "qwen2", "gpt2")
D = 32


@pytest.fixture(scope="module", params=FAMILIES)
def target(request):
    return tiny_model(request.param, seed=11).requires_grad_(False)


def random_heads(count, layers=1, residual=True, lm_head=None, seed=0):
    heads = MedusaHeads(count, D, V, layers, residual, lm_head)
    torch.manual_seed(seed)
    for weight in heads.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return heads.eval()


def by_hand(hidden, state, head, layers, residual, lm_head):
    """The equations of the paper, term by term, from the named weights."""
    x = hidden
    for block in range(layers):
        y = x @ state[f"{head}.{block}.linear.weight"].T + state[f"{head}.{block}.linear.bias"]
        step = y / (1 + torch.exp(-y))
        x = x + step if residual else step
    return x @ lm_head.T


@torch.inference_mode()
@pytest.mark.parametrize("residual", [True, False], ids=["residual", "plain"])
@pytest.mark.parametrize("own", [True, False], ids=["own", "shared"])
@pytest.mark.parametrize("layers", [1, 2])
def test_one_pass_gives_the_models_logits_and_each_heads(target, layers, own, residual):
    tokens = torch.randint(0, V, (2, 7))
    shared = target.get_output_embeddings()
    heads = random_heads(3, layers, residual, None if own else shared)
    logits, guesses = MedusaModel(target, heads)(tokens)
    assert torch.equal(logits, target(tokens).logits)
    hidden = target.base_model(tokens).last_hidden_state
    state = heads.state_dict()
    assert len(state) == 3 * (2 * layers + own)  # the shared LM head is no part of the heads
    assert len(guesses) == 3
    for i, guess in enumerate(guesses):
        assert guess.shape == (2, 7, V)
        lm_head = state[f"{i}.{layers}.weight"] if own else shared.weight
        torch.testing.assert_close(guess, by_hand(hidden, state, i, layers, residual, lm_head), atol=1e-4, rtol=1e-4)


@torch.inference_mode()
@pytest.mark.parametrize("own", [True, False], ids=["own", "shared"])
def test_heads_read_the_states_of_any_pass(target, own):
    """Those of a pass over a cached text, as the engine makes them, and all heads or the first few."""
    tokens = torch.randint(0, V, (1, 9))
    heads = random_heads(4, lm_head=None if own else target.get_output_embeddings())
    model = MedusaModel(target, heads)
    _, whole = model(tokens)
    cache = DynamicCache(config=target.config)
    target(tokens[:, :5], cache=cache, use_cache=True)
    out = target(tokens[:, 5:], cache=cache, use_cache=True, output_hidden_states=True)
    later = model.heads(out.hidden_states[-1][0])
    assert later.shape == (4, 4, V)
    torch.testing.assert_close(later, torch.stack(whole)[:, 0, 5:], atol=1e-4, rtol=1e-4)
    cache.crop(-4)
    logits, guesses = model(tokens[:, 5:], cache=cache, use_cache=True)
    torch.testing.assert_close(logits, out.logits, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(torch.stack(guesses)[:, 0], later, atol=1e-4, rtol=1e-4)
    state = out.hidden_states[-1][0, -1]  # [d]
    first = model.heads(state, 2)
    assert first.shape == (2, V)
    for i in range(2):
        torch.testing.assert_close(first[i], later[i, -1], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(heads.reader(heads[i](state)), later[i, -1], atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_heads_of_some_ids_say_nothing_of_the_others(target):
    ids = torch.tensor([3, 5, 8, 60])
    lm_head = target.get_output_embeddings()
    full, reduced = random_heads(3, lm_head=lm_head), random_heads(3, lm_head=ReducedHead(lm_head.weight, ids))
    tokens = torch.randint(0, V, (1, 6))
    guesses = torch.stack(MedusaModel(target, reduced)(tokens)[1])
    assert guesses.shape == (3, 1, 6, V)
    others = torch.ones(V, dtype=torch.bool).index_fill(0, ids, False)
    assert torch.isneginf(guesses[..., others]).all()
    expected = torch.stack(MedusaModel(target, full)(tokens)[1])[..., ids]
    torch.testing.assert_close(guesses[..., ids], expected, atol=1e-5, rtol=1e-5)


def test_new_heads_begin_as_the_lm_head_and_learn_alone(target):
    heads = MedusaHeads(2, D, V, lm_head=target.get_output_embeddings())
    model = MedusaModel(target, heads)
    logits, guesses = model(torch.randint(0, V, (1, 6)))
    for guess in guesses:
        torch.testing.assert_close(guess, logits)
    guesses[1][..., 4].sum().backward()
    learned = {name for name, weight in model.named_parameters() if weight.grad is not None and weight.grad.any()}
    assert learned == {"heads.1.0.linear.weight", "heads.1.0.linear.bias"}


def heads_that_say(target, text, ahead, count=3):
    """Heads with LM heads solved for: read at t, head i says the token of `text` at t + ahead + i, for every t."""
    heads = MedusaHeads(count, D, V)
    hidden = target.base_model(text[None]).last_hidden_state[0]
    for i, head in enumerate(heads):
        known = len(text) - ahead - i
        wanted = torch.nn.functional.one_hot(text[ahead + i :], V).double()
        assert known <= D  # as many equations as unknowns at most, so that they are solved exactly
        solved = torch.linalg.lstsq(hidden[:known].double(), wanted, driver="gelsd").solution
        head[1].weight.copy_(solved.T)
    return heads


@torch.inference_mode()
def test_exact_heads_are_accepted_and_heads_shifted_by_one_are_not(target):
    """The chain from t is the model's own token t + 1 and the heads' t + 2, t + 3, t + 4: held against generate."""
    prompt = torch.tensor([[7, 23, 41]])
    text = target.generate(prompt, max_new_tokens=29, do_sample=False, eos_token_id=None, pad_token_id=0)[0]
    assert (text[3:-1] != text[4:]).float().mean() > 0.7  # a text that repeats itself would hide a shift
    accepted = {}
    for ahead in (1, 2, 3):
        logits, guesses = MedusaModel(target, heads_that_say(target, text, ahead))(text[None])
        chains = torch.stack([logits, *guesses])[:, 0].argmax(-1).T  # [S, 4]
        starts = range(2, len(text) - 4)
        right = torch.stack([chains[at] == text[at + 1 : at + 5] for at in starts])
        accepted[ahead] = right.long().cumprod(-1).sum(-1).float().mean().item()
    assert accepted[2] == 4
    assert accepted[1] < 1.5
    assert accepted[3] < 1.5


@pytest.mark.parametrize(("depth", "heads"), [(4, 3), (1, 0), (9, 5)])
def test_a_tree_deeper_than_the_heads_is_refused(depth, heads):
    check_depth(heads, heads)
    check_depth(0, heads)
    with pytest.raises(SpecvizError) as raised:
        check_depth(depth, heads)
    assert raised.value.key == "errors.medusa_depth"
    assert raised.value.values == {"depth": depth, "heads": heads}
    for lang in LANGUAGES:
        text = t(lang, raised.value.key, **raised.value.values)
        assert f" {depth} " in text
        assert f" {heads} " in text
        assert "{" not in text

"""The learned drafters against what they stand for: training passes, a plain pass, the target's own later tokens."""

from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.eagle import EagleDrafter
from specviz.engine.medusa import MedusaHeads
from specviz.engine.medusa_drafter import MedusaDrafter
from specviz.engine.reduced import ReducedHead
from specviz.engine.sampling import Draws
from specviz.errors import SpecvizError
from specviz.models.local import LAYERS
from specviz.training.draft import DraftTask
from specviz.training.eagle import EagleTask, attend, from_last_layer, shift
from specviz.training.evaluate import draft_model
from specviz.training.target import Parts, pruned
from tests.tiny import V, tiny_model

K = 4


@pytest.fixture(scope="module")
def target():
    return tiny_model("llama", seed=5).requires_grad_(False)


def draws(k=K):
    return Draws((0.3,) * k, (0.5,) * k, 0.5)


def test_a_reduced_head_gives_minus_infinity_elsewhere():
    weight, ids = torch.randn(9, 4), torch.tensor([1, 4, 8])
    logits = ReducedHead(weight, ids)(torch.ones(2, 4))
    full = torch.ones(2, 4) @ weight.T
    assert logits.shape == (2, 9)
    torch.testing.assert_close(logits[:, ids], full[:, ids])
    assert torch.isneginf(logits).sum() == 2 * 6


def test_a_pruned_model_with_all_layers_is_the_target(target):
    tokens = torch.randint(0, V, (2, 9))
    whole, same = target(tokens).logits, pruned(target, (0, 1, 2))(tokens).logits
    torch.testing.assert_close(same, whole)
    one = pruned(target, (1,))
    assert len(one.base_model.layers) == 1
    assert {n for n, p in one.named_parameters() if p.requires_grad and "layers.0" not in n} == {"model.norm.weight"}


def test_the_eagle_layer_rotates_and_attends_as_the_targets_own(target):
    """With `join` out of the way the layer is the target's last one, followed by the final norm."""
    layer, last = from_last_layer(Parts.of(target, "tiny")), target.base_model.layers[-1]
    with torch.no_grad():  # it begins with a tenth of what the target's layer adds
        layer.o.weight.mul_(10)
        layer.down.weight.mul_(10)
    x, position = torch.randn(2, 7, 32), torch.arange(7)
    rotary = target.base_model.rotary_emb(x, position[None])
    theirs = target.base_model.norm(last(x, position_embeddings=rotary, attention_mask=None))
    ours, _, _ = attend(layer, x, [], [])
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("taps", [(), (2, 0)], ids=str)
@torch.inference_mode()
def test_training_passes_are_what_drafting_computes(taps, target):
    """Pass j at row t in training = the j-th drafted token of a draft that began j rows earlier."""
    layer = from_last_layer(Parts.of(target, "tiny"), taps).eval()
    if taps:
        torch.nn.init.normal_(layer.fuse.weight)
    tokens = torch.randint(0, V, (1, 12))
    states = target.base_model(tokens, output_hidden_states=True).hidden_states
    hidden = torch.cat([states[i] for i in layer.layers], -1)
    embed = target.get_input_embeddings()
    state, keys, values, guesses = layer.hidden(hidden)[:, :-1], [], [], []
    for _ in range(K):
        guess, k, v = attend(layer, layer.join(state, embed(tokens[:, 1:])), keys, values)
        keys.append(k)
        values.append(v)
        guesses.append(guess)
        state = shift(guess, 1, dim=1)
    begin = 6  # a text of 7 tokens, whose next ones are forced to be those of the training text
    drafter = EagleDrafter(layer, embed, target.get_output_embeddings(), V)
    seen = []
    drafter.lm_head = lambda h: seen.append(h) or target.get_output_embeddings()(h)
    drafter.lm_head.weight = target.get_output_embeddings().weight
    text = tokens[0, : begin + 1].tolist()
    drafter.prefill(text, hidden[0, :begin])
    forced = {i: int(tokens[0, begin + 1 + i]) for i in range(K)}
    drafter.propose(text, K, draws(), forced, RunConfig(method="none"), Clock(torch.device("cpu"), False))
    for j in range(K):
        torch.testing.assert_close(seen[j][0], guesses[j][0, begin - 1 + j], atol=1e-5, rtol=1e-4)


@torch.inference_mode()
def test_the_eagle_cache_after_a_rollback_is_a_fresh_one(target):
    layer = from_last_layer(Parts.of(target, "tiny")).eval()
    tokens = torch.randint(0, V, (12,))
    hidden = target.base_model(tokens[None]).last_hidden_state[0]
    clock, config = Clock(torch.device("cpu"), False), RunConfig(method="none", temperature=1.0)

    def fresh():
        return EagleDrafter(layer, target.get_input_embeddings(), target.get_output_embeddings(), V)

    drafter = fresh()
    drafter.prefill(tokens[:5].tolist(), hidden[:4])
    at = 5
    for kept in (0, 3, 1):  # accepted tokens; each round adds one more
        ours = drafter.propose(tokens[:at].tolist(), K, draws(), {}, config, clock)
        again = fresh()
        again.prefill(tokens[:at].tolist(), hidden[: at - 1])
        theirs = again.propose(tokens[:at].tolist(), K, draws(), {}, config, clock)
        torch.testing.assert_close(ours.q, theirs.q, atol=1e-5, rtol=1e-4)
        assert drafter.rows == at - 1 + K - 1
        drafter.commit(at + kept, hidden[at - 1 : at + kept])
        assert drafter.rows == at - 1
        at += kept + 1


@torch.inference_mode()
def test_medusa_heads_look_one_further_each(target):
    """The drafter reads the state before the text's last token; head i's q stands at position i of the draft."""
    heads = MedusaHeads(K, 32, V, lm_head=target.get_output_embeddings())
    for head in heads:
        torch.nn.init.normal_(head[0].linear.weight)
    drafter = MedusaDrafter(heads, V)
    states = torch.randn(6, 32)
    drafter.prefill([1] * 7, states)
    config, clock = RunConfig(method="none", temperature=1.0), Clock(states.device, False)
    made = drafter.propose([1] * 7, 3, draws(3), {1: 9}, config, clock)
    assert made.q.shape == (3, V)
    for i in range(3):
        torch.testing.assert_close(made.q[i], target.get_output_embeddings()(heads[i](states[-1])).softmax(-1))
    assert int(made.tokens[1]) == 9
    assert drafter.room(5) == K


def refused(call, *arguments):
    with pytest.raises(SpecvizError) as raised:
        call(*arguments)
    text = str(raised.value)
    assert raised.value.key == "errors.heads_broken"
    assert "\n" not in text
    return text


def test_a_drafts_weights_are_read_or_refused_in_a_sentence(target, tmp_path):
    pair = SimpleNamespace(target=target, target_name="tiny", dtype=torch.float32)
    chosen = torch.arange(0, V, 2)
    DraftTask(target, "tiny", (0, 2), chosen, None).save(tmp_path)
    tokens = torch.randint(0, V, (1, 6))
    again = DraftTask(target, "tiny", (0, 2), chosen, tmp_path)  # training goes on from there
    states = again.module(input_ids=tokens, use_cache=False).last_hidden_state
    torch.testing.assert_close(draft_model(pair, tmp_path)(tokens).logits, again.head(states))
    with pytest.raises(SpecvizError, match="made of the layers 0,2, not 0,1"):
        DraftTask(target, "tiny", (0, 1), chosen, tmp_path)
    tensors = load_file(tmp_path / LAYERS)
    save_file({name: x for name, x in tensors.items() if name != "model.norm.weight"}, tmp_path / LAYERS)
    assert "norm.weight" in refused(draft_model, pair, tmp_path)
    save_file(tensors | {"model.layers.0.extra": torch.ones(2)}, tmp_path / LAYERS)
    assert "layers.0.extra" in refused(draft_model, pair, tmp_path)
    save_file(tensors | {"model.norm.weight": torch.ones(7)}, tmp_path / LAYERS)
    refused(draft_model, pair, tmp_path)
    (tmp_path / LAYERS).write_bytes(b"not weights")
    refused(draft_model, pair, tmp_path)
    (tmp_path / "config.json").write_text("{}")
    refused(draft_model, pair, tmp_path)
    refused(draft_model, pair, tmp_path / "nowhere")


def test_an_eagle_layer_of_another_model_is_refused_in_a_sentence(target, tmp_path):
    chosen = torch.arange(0, V, 2)
    EagleTask(tiny_model("llama", intermediate_size=48), "other", chosen, None).save(tmp_path)
    told = refused(EagleTask, target, "tiny", chosen, tmp_path)
    assert "tiny" in told
    assert "size mismatch for gate.weight" in told
    refused(EagleTask, target, "tiny", chosen, tmp_path / "nowhere")
    EagleTask(target, "tiny", chosen, None).save(tmp_path)
    EagleTask(target, "tiny", chosen, tmp_path)

"""Layer skipping against an independent oracle: a deep copy of the model with the layers really deleted."""

import copy

import pytest
import torch
from transformers import DynamicCache

from specviz.errors import SpecvizError
from specviz.models.skip import default_layers, format_layers, parse_layers, skip_layers
from tests.tiny import V, tiny_model

TEXT = torch.arange(1, 13).unsqueeze(0) % V


def really_deleted(model, layers):
    """The oracle: nothing shared, layers taken out of the list, indices set by hand."""
    model = copy.deepcopy(model)
    stack, attention = (
        (model.transformer.h, "attn") if model.config.model_type == "gpt2" else (model.model.layers, "self_attn")
    )
    for i in sorted(layers, reverse=True):
        del stack[i]
    for i, layer in enumerate(stack):
        getattr(layer, attention).layer_idx = i
    model.config.num_hidden_layers = len(stack)
    if getattr(model.config, "layer_types", None):
        model.config.layer_types = model.config.layer_types[: len(stack)]
    return model


def cached_logits(model):
    """Logits [12, V] read in pieces through a cache of its own, with a rollback in between."""
    cache = DynamicCache(config=model.config)
    cache.activate_past_recording()
    with torch.inference_mode():
        first = model(input_ids=TEXT[:, :5], cache=cache, use_cache=True).logits
        cache.crop(0)
        model(input_ids=TEXT[:, :3], cache=cache, use_cache=True)
        cache.crop(-3)
        second = model(input_ids=TEXT[:, 5:], cache=cache, use_cache=True).logits
    assert len(cache.layers) == model.config.num_hidden_layers
    return torch.cat([first, second], 1)[0]


@pytest.mark.parametrize("family", ["llama", "qwen2", "gpt2", "sliding"])
@pytest.mark.parametrize("layers", [(0,), (1,), (2,), (0, 1)])
def test_equals_really_deleted_layers(family, layers):
    model = tiny_model(family)
    before = cached_logits(model)
    skipped, oracle = skip_layers(model, layers), really_deleted(model, layers)
    assert skipped.config.num_hidden_layers == 3 - len(layers)
    torch.testing.assert_close(cached_logits(skipped), cached_logits(oracle), rtol=0, atol=0)
    assert (cached_logits(skipped) - before).abs().max() > 0.1  # the layer did matter
    torch.testing.assert_close(cached_logits(model), before, rtol=0, atol=0)
    assert model.config.num_hidden_layers == 3


def test_no_weight_is_copied():
    model = tiny_model()
    mine = {p.data_ptr() for p in model.parameters()}
    assert all(p.data_ptr() in mine for p in skip_layers(model, (1,)).parameters())


def test_hidden_states_are_those_of_the_shorter_model():
    model = tiny_model()
    skipped, oracle = skip_layers(model, (1,)), really_deleted(model, (1,))
    with torch.inference_mode():
        for m in (model, skipped, oracle, skipped):
            states = m(input_ids=TEXT, output_hidden_states=True).hidden_states
            assert len(states) == m.config.num_hidden_layers + 1
        wanted = oracle(input_ids=TEXT, output_hidden_states=True).hidden_states
    for a, b in zip(states, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


def test_generate_works_on_it():
    model = tiny_model()
    options = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
    mask = torch.ones_like(TEXT)
    mine = skip_layers(model, (1,)).generate(TEXT, attention_mask=mask, **options)
    assert mine.tolist() == really_deleted(model, (1,)).generate(TEXT, attention_mask=mask, **options).tolist()


def test_default_layers():
    assert default_layers(30) == (14, 15, 16, 17)
    for total in range(2, 100):
        layers = default_layers(total)
        assert 0 < len(layers) < total
        assert 0 <= layers[0] <= layers[-1] < total


def test_parse_and_format():
    assert parse_layers("14-17,20", 30) == (14, 15, 16, 17, 20)
    assert parse_layers(" 3 , 1,2-2", 30) == (1, 2, 3)
    assert format_layers((14, 15, 16, 17, 20)) == "14-17, 20"
    assert format_layers((3,)) == "3"


@pytest.mark.parametrize("text", ["", "a", "30", "-1", "5-3", "1-", "1,,2", "0-29", "1.5", "9" * 1000, "1-2-3"])
def test_unfit_layers_are_refused(text):
    with pytest.raises(SpecvizError) as raised:
        parse_layers(text, 30)
    assert raised.value.key == "errors.skip_layers"
    assert len(str(raised.value)) < 300


def test_only_layer_cannot_be_skipped():
    with pytest.raises(SpecvizError):
        skip_layers(tiny_model(num_hidden_layers=1), (0,))

"""The heads of a pair: named by their weights, read when they are asked for and once, refused before any pass."""

import re

import pytest
from safetensors.torch import save_file

from specviz.config import RunConfig
from specviz.engine import eagle_layer
from specviz.errors import SpecvizError
from specviz.models import medusa_files
from specviz.models.heads import describe
from specviz.models.load import load_pair
from specviz.models.run import advance, start
from tests.tiny import tiny_model
from tests.unit.medusa_checkpoints import tensors_of, write_prefixed, write_pt, write_safetensors
from tests.unit.tiny_tokenizers import byte_level

CHAIN = tuple((0,) * n for n in range(1, 5))  # as a tree: four levels


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    folder = tmp_path_factory.mktemp("target")
    byte_level().save_pretrained(folder)
    tiny_model(vocab_size=len(byte_level())).save_pretrained(folder)
    return folder


def with_heads(target, folder, seed=0, write=write_safetensors):
    """The target with three heads, kept in `folder`."""
    folder.mkdir(exist_ok=True)
    write(folder, tensors_of(3, seed=seed))
    return load_pair(target=str(target), method="none", device="cpu", heads=folder)


def test_who_does_not_ask_for_heads_opens_no_weights(target, tmp_path, monkeypatch):
    pair, opened = with_heads(target, tmp_path, write=write_pt), []
    stored = medusa_files._stored
    monkeypatch.setattr(medusa_files, "_stored", lambda folder: opened.append(folder) or stored(folder))
    for method in ("draft", "skip", "eagle", "lookup", "none"):
        assert pair.models_info(method).draft
    assert opened == []
    named = pair.models_info("medusa")
    before = len(opened)
    (tmp_path / medusa_files.PICKLE).unlink()
    assert pair.models_info("medusa") == named
    assert pair.models_info("draft").draft == "no draft"
    assert len(opened) == before > 0


def test_heads_are_named_by_their_weights(tmp_path):
    names = {}
    for name, seed, write in (("a", 0, write_safetensors), ("b", 0, write_prefixed), ("c", 1, write_safetensors)):
        folder = tmp_path / name
        folder.mkdir()
        write(folder, tensors_of(3, seed=seed))
        names[name] = describe("medusa", {"medusa": folder}, "t").name
    assert re.fullmatch(r"3 Medusa heads \([0-9a-f]{6}\)", names["a"])
    assert names["a"] == names["b"] != names["c"]
    save_file(tensors_of(1), tmp_path / eagle_layer.WEIGHTS)
    assert re.fullmatch(r"EAGLE-style layer \([0-9a-f]{6}\)", describe("eagle", {"eagle": tmp_path}, "t").name)
    (tmp_path / eagle_layer.WEIGHTS).unlink()
    with pytest.raises(SpecvizError, match="do not fit"):
        describe("eagle", {"eagle": tmp_path}, "t")


def test_a_run_is_not_continued_by_other_heads(target, tmp_path):
    pairs = [with_heads(target, tmp_path / str(seed), seed) for seed in (0, 1)]
    begun = start(pairs[0], "hello", RunConfig("medusa", k=2, max_new_tokens=4))
    assert len(list(advance(pairs[0], begun, rounds=1))) == 1
    with pytest.raises(SpecvizError) as caught:
        list(advance(pairs[1], begun, rounds=1))
    assert caught.value.key == "errors.trace_pair"


def test_a_tree_deeper_than_the_heads_is_refused_before_any_pass(target, tmp_path, monkeypatch):
    pair = with_heads(target, tmp_path)
    monkeypatch.setattr(pair.target, "forward", lambda *_, **__: pytest.fail("a pass"))
    start(pair, "hello", RunConfig("medusa", tree=CHAIN[:3]))
    start(pair, "hello", RunConfig("medusa", k=8))  # a chain ends with the last head
    with pytest.raises(SpecvizError) as caught:
        start(pair, "hello", RunConfig("medusa", tree=CHAIN))
    assert (caught.value.key, caught.value.values) == ("errors.medusa_depth", {"depth": 4, "heads": 3})

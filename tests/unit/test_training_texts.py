"""Texts that teach little or nothing, labels of other targets, and weights that are saved over old ones."""

import json
import os
from types import SimpleNamespace

import pytest
import torch

from specviz.training.data import Data
from specviz.training.draft import DraftTask
from specviz.training.eagle import EagleTask
from specviz.training.medusa import MedusaTask
from specviz.training.shards import shards, write_shard
from specviz.training.start import labelled
from specviz.training.teacher import label
from tests.tiny import V, tiny_model
from tests.unit.test_training_refused import refused


def written(folder, spans, n=12):
    facts = [{"n": n, "prompt": 0, "temp": 1.0, "magpie": False, "spans": spans}] * 120
    write_shard(folder, "part-0", [[1 + i for i in range(n)]] * 120, facts, V)
    label(tiny_model("llama"), shards(folder), lambda *_, **__: None)
    return shards(folder)


@pytest.mark.parametrize(("spans", "n"), [([[3, 3]], 12), ([[0, 1]], 1), ([[0, 1]], 12)])
def test_texts_that_teach_nothing_do_not_count(tmp_path, spans, n):
    assert ": 0." in refused("train.small_corpus", Data, written(tmp_path, spans, n), 0, 8, ())


@pytest.mark.parametrize("task", [DraftTask, EagleTask, MedusaTask])
def test_the_shortest_texts_can_be_learned_from(tmp_path, task):
    target, chosen = tiny_model("llama"), torch.arange(V)
    data = Data(written(tmp_path, [[1, 2]], 2), 0, 8, ("hidden", "taps"))
    made = task(target, "tiny", *([(0, 2)] if task is DraftTask else []), chosen, None)
    assert all(torch.isfinite(fit.kl) for _, fit in made.fits(data.at(0), None))


def test_the_labels_of_every_shard_are_checked(tmp_path):
    target = tiny_model("llama")
    written(tmp_path, [[4, 12]])
    facts = [{"n": 12, "prompt": 4, "temp": 1.0, "magpie": False}] * 3
    write_shard(tmp_path, "part-1", [[2] * 12] * 3, facts, V)
    label(tiny_model("llama", hidden_size=64), shards(tmp_path), lambda *_, **__: None)
    pair = SimpleNamespace(target=target, target_name="tiny")
    told = refused("train.other_size", labelled, pair, shards(tmp_path), 0, 8, (), lambda *_, **__: None)
    assert "part-1" in told


@pytest.mark.parametrize("task", [DraftTask, EagleTask, MedusaTask])
def test_saved_files_are_replaced_as_a_whole(tmp_path, task):
    """Another name for the old file still shows the old content."""
    target, chosen = tiny_model("llama"), torch.arange(V)
    made = task(target, "tiny", *([(0, 2)] if task is DraftTask else []), chosen, None)
    (tmp_path / "config.json").write_text("old")
    os.link(tmp_path / "config.json", tmp_path / "old")
    made.save(tmp_path)
    assert (tmp_path / "old").read_text() == "old"
    assert json.loads((tmp_path / "config.json").read_text())["output_vocabulary"] == V
    assert not list(tmp_path.glob("*.part"))

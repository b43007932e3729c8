"""What a command is asked for and where its figures go: refused in a sentence before anything is loaded or lost."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.draft_curve import known
from specviz import cli
from specviz.models.fetch import HUB_ID
from specviz.training.evaluations import check, evaluations, record
from specviz.training.options import check_weights
from tests.unit.test_training_refused import refused

HELD = {"lookup": {"temperatures": {}}, "revision": "abc"}
OTHER_FILES = ["", "{", "[1]", "3", '{"target": "x", "sizes": {}}', '{"draft": {"k": 4}}', '{"steps": 1, "drafts": []}']


@pytest.mark.parametrize("content", OTHER_FILES)
def test_a_file_of_something_else_is_never_written_into(tmp_path, content):
    path = tmp_path / "config.json"
    path.write_text(content)
    for call in (check, evaluations):
        told = refused("train.other_file", call, path)
        assert str(path) in told
        assert "elete" not in told
    refused("train.other_file", record, path, "draft", {"temperatures": {}})
    assert path.read_text() == content


def test_an_evaluation_is_put_beside_others(tmp_path):
    path = tmp_path / "new" / "e.json"
    check(path)
    assert evaluations(path) == {}
    path.write_text(json.dumps(HELD))
    names = [f"m{i}" for i in range(6)]
    with ThreadPoolExecutor(6) as pool:  # all in the same moment: none is lost
        for one in [pool.submit(record, path, name, {"temperatures": {"0": name}}) for name in names]:
            one.result()
    assert evaluations(path).keys() == {"lookup", "revision", *names}
    (tmp_path / "file").write_text("")
    assert "file" in refused("train.files", check, tmp_path / "file" / "e.json")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that takes no files, not even root's")
def test_a_folder_that_takes_no_file_is_told_before_the_evaluation():
    assert "/proc" in refused("train.files", check, Path("/proc/x.json"))


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("evaluate --method lookup --weights W", "without_weights"),
        ("evaluate --method skip --weights W", "without_weights"),
        ("evaluate --method draft --target mine", "no_bundled"),
        ("evaluate --method eagle --target mine", "no_bundled"),
        (f"evaluate --method draft --target {HUB_ID}", "no_bundled"),
        ("evaluate --method medusa --weights W", "no_weights"),
        ("evaluate --method draft --weights W/nowhere", "no_weights"),
        ("medusa --weights W", "no_weights"),
        ("eagle --weights nowhere", "no_weights"),
        ("corpus --weights nowhere --out c", "no_weights"),
        ("draft --weights W/ --out W/../W", "same_folder"),
        ("corpus --weights W --out W", "same_folder"),
        ("corpus --dtype int8", "int8"),
        ("eagle --dtype int8", "int8"),
    ],
)
def test_options_are_judged_before_anything_is_loaded(tmp_path, monkeypatch, words, key):
    monkeypatch.chdir(tmp_path)
    Path("W").mkdir()
    Path("W/draft_layers.safetensors").write_text("")
    refused(f"train.{key}", check_weights, cli.parser().parse_args(["train", *words.split()]))
    for fine in (
        f"evaluate --method eagle --target {HUB_ID}",
        "evaluate --dtype int8",
        "draft --weights W --out other",
    ):
        check_weights(cli.parser().parse_args(["train", *fine.split()]))


def test_a_curve_of_other_settings_is_not_replaced(tmp_path):
    file, setting = tmp_path / "curve.json", {"steps": 100, "batch": 16, "tv": 0.0}
    assert known(file, setting) == []
    rows = [{"layers": [0, 29], "agree": 0.2, "c": 0.1, "tokens_a_round": 1.2, "speedup": 0.8}]  # an older one
    file.write_text(json.dumps(setting | {"drafts": rows, "revision": "abc"}))
    assert known(file, setting) == rows
    assert "(steps, tv)" in refused("train.other_run", known, file, setting | {"steps": 5, "tv": 0.5})
    for content in ("{}", "[]", json.dumps(setting), json.dumps(setting | {"drafts": [{}]})):
        file.write_text(content)
        assert str(file) in refused("train.damaged", known, file, setting)

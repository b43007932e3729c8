"""Folders of the cache: whole or not there, whatever happens while they are made."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from specviz.cache import cache_dir
from specviz.errors import SpecvizError
from specviz.models.prepared import MANIFEST, is_whole, prepare, read_manifest, sha256


def build(made: Path) -> dict:
    save_file({"w": np.arange(1000, dtype=np.float32)}, made / "model.safetensors")
    (made / "config.json").write_text('{"a": 1}', encoding="utf-8")
    return {"source": "test"}


def build_slowly(made: Path) -> dict:
    """Leaves half a model, then takes its time."""
    (made / "model.safetensors").write_bytes(b"half")
    (made.parent / "started").touch()
    time.sleep(30)
    return {}


def build_and_count(made: Path) -> dict:
    with (made.parent.parent / "builds.txt").open("a") as log:
        log.write("x")
    time.sleep(0.3)
    return build(made)


def refuse(made: Path) -> dict:
    raise AssertionError("must not be built again")


def flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


def test_built_once_then_used(tmp_path):
    folder = prepare(tmp_path / "model", build)
    assert is_whole(folder)
    assert is_whole(folder, thorough=True)
    assert prepare(folder, refuse) == folder
    assert read_manifest(folder)["source"] == "test"
    assert read_manifest(folder)["files"]["config.json"] == {"size": 8, "sha256": sha256(folder / "config.json")}


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "config.json").unlink(),
        lambda folder: (folder / MANIFEST).unlink(),
        lambda folder: (folder / MANIFEST).write_text("{"),
        lambda folder: (folder / MANIFEST).write_text("[]"),
        lambda folder: os.truncate(folder / "model.safetensors", 900),
        lambda folder: (folder / "model.safetensors").write_bytes(b""),
        lambda folder: flip(folder / "model.safetensors", 0),  # the length of the header
        lambda folder: (folder / "model.safetensors").write_bytes(bytes((folder / "model.safetensors").stat().st_size)),
    ],
)
def test_broken_folder_is_noticed_and_made_again(tmp_path, damage):
    folder = prepare(tmp_path / "model", build)
    damage(folder)
    assert not is_whole(folder)
    prepare(folder, build)
    assert is_whole(folder, thorough=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".model.lock", "model"]


def test_flipped_bit_is_found_by_the_thorough_look(tmp_path):
    folder = prepare(tmp_path / "model", build)
    flip(folder / "model.safetensors", -5)
    assert is_whole(folder)
    assert not is_whole(folder, thorough=True)
    prepare(folder, build, thorough=True)
    assert is_whole(folder, thorough=True)


def test_failed_build_leaves_nothing(tmp_path):
    def fail(made: Path) -> dict:
        build(made)
        raise SpecvizError("errors.no_source", hub="a", pypi="b")

    with pytest.raises(SpecvizError):
        prepare(tmp_path / "model", fail)
    assert [p.name for p in tmp_path.iterdir()] == [".model.lock"]


def test_killed_preparation_is_never_used(tmp_path):
    context = multiprocessing.get_context("spawn")
    victim = context.Process(target=prepare, args=(tmp_path / "model", build_slowly))
    victim.start()
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob(".model.part-*/started")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    assert list(tmp_path.glob(".model.part-*"))
    assert not is_whole(tmp_path / "model")
    prepare(tmp_path / "model", build)  # neither the dead one's lock nor its files are in the way
    assert is_whole(tmp_path / "model", thorough=True)
    assert not list(tmp_path.glob(".model.part-*"))


def test_two_processes_at_once_build_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=prepare, args=(tmp_path / "model", build_and_count)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(30)
    assert [process.exitcode for process in both] == [0, 0]
    assert (tmp_path / "builds.txt").read_text() == "x"
    assert is_whole(tmp_path / "model", thorough=True)


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SpecvizError, match="cannot be kept"):
        prepare(tmp_path / "file" / "model", build)


def test_cache_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "here"))
    assert cache_dir() == tmp_path / "here"
    monkeypatch.delenv("SPECVIZ_CACHE")
    assert cache_dir().name == "specviz"

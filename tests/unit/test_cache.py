"""The cache folder where the home folder is closed, as in some containers."""

import os
from pathlib import Path

import pytest

from specviz import cache


@pytest.fixture
def closed(tmp_path, monkeypatch):
    """A home folder that nobody can write to, not even root: its place is taken by a file. Returns what is open."""
    (tmp_path / "home").write_text("")
    (tmp_path / "tmp").mkdir()
    for name in ("SPECVIZ_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    return tmp_path


def test_what_is_named_is_taken(closed, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(closed / "named"))
    assert cache.cache_dir() == closed / "named"


def test_an_open_home_is_taken(closed, monkeypatch):
    monkeypatch.setenv("HOME", str(closed / "tmp"))
    monkeypatch.setenv("HF_HOME", str(closed / "hub"))
    assert cache.cache_dir().parents[1] == closed / "tmp"
    cache.settle()
    assert os.environ["HF_HOME"] == str(closed / "hub")


def test_a_closed_home_sends_to_the_hubs_folder(closed, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(closed / "hub"))
    assert cache.cache_dir() == closed / "hub" / "specviz"
    monkeypatch.setenv("HF_HOME", str(closed / "home" / "hub"))
    assert cache.cache_dir().parent == closed / "tmp"


def test_else_among_the_temporary_files(closed, monkeypatch):
    monkeypatch.setenv("HF_HOME", "")  # so that it is put back afterwards
    monkeypatch.delenv("HF_HOME")
    folder = cache.cache_dir()
    assert folder.parent == closed / "tmp"
    assert folder.stat().st_mode & 0o077 == 0
    cache.settle()
    assert Path(os.environ["HF_HOME"]).parent == folder


def test_a_folder_that_somebody_else_made_is_not_trusted(closed):
    (closed / "elsewhere").mkdir()
    (closed / "tmp" / f"specviz-{os.getuid()}").symlink_to(closed / "elsewhere")
    assert cache.cache_dir().parent != closed / "tmp"

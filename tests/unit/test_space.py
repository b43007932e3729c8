"""The README's head is what a Hugging Face Space is made from."""

import re
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REQUIREMENTS = (ROOT / "requirements.txt").read_text(encoding="utf-8")
COLORS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


@pytest.fixture(scope="module")
def space():
    found = re.match(r"---\n(.*?)\n---\n\n# specviz\n", README, re.DOTALL)  # on GitHub the page begins with its name
    assert found
    return yaml.safe_load(found[1])


def test_it_is_a_gradio_space(space):
    assert space["sdk"] == "gradio"
    assert re.search(rf"^gradio=={re.escape(str(space['sdk_version']))}$", REQUIREMENTS, re.MULTILINE)
    assert (ROOT / space["app_file"]).is_file()
    assert space["title"] == "specviz"
    assert not space["emoji"].isascii()
    assert {space["colorFrom"], space["colorTo"]} <= COLORS
    assert len(space["short_description"]) <= 60  # the hub refuses more
    assert space["license"] == "apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_its_python_can_run_us(space):
    version = tuple(map(int, space["python_version"].split(".")))
    assert isinstance(space["python_version"], str)  # 3.10 as a number is 3.1
    oldest = re.search(r'requires-python = ">=(\d+)\.(\d+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert version >= tuple(map(int, oldest.groups()))
    assert version[:2] in ((3, 10), (3, 12))  # those that ZeroGPU has


def test_its_models_are_ours(space):
    from specviz.models.fetch import HUB_ID

    assert space["models"] == [HUB_ID]
    assert [entry.split()[0] for entry in space["preload_from_hub"]] == [HUB_ID]


def test_requirements_install_from_an_index_alone():
    lines = [line for line in REQUIREMENTS.splitlines() if line.strip()]
    for line in lines:
        assert re.fullmatch(r"[a-z0-9-]+==[\d.]+", line), line
    assert not any(line.startswith("spaces") for line in lines)  # there it is installed; here nobody needs it


def test_the_lender_of_gpus_is_not_needed():
    assert "spaces" not in sys.modules

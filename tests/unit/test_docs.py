"""The documents tell the truth: what they name exists."""

import argparse
import re
from pathlib import Path

import pytest

from specviz import cli
from specviz.i18n import LANGUAGES, strings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
APP = (ROOT / "app.py").read_text(encoding="utf-8")


VLLMS = {"--per-request-spec-decode-metrics"}  # an option of its server
OTHERS = {"--type", "--repo-type", "--space-sdk", "--rm", "--build-arg", "--gpus"}  # of hf and of docker


def options(parser: argparse.ArgumentParser) -> set[str]:
    """Of a parser and of all its commands."""
    inner = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    own = {option for action in parser._actions for option in action.option_strings}
    return own.union(*(options(sub) for action in inner for sub in action.choices.values()))


def test_every_option_in_the_readme_exists():
    known = set(re.findall(r'"(--[\w-]+)"', APP)) | options(cli.parser()) | VLLMS | OTHERS
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", README))
    assert named
    assert named <= known


@pytest.mark.parametrize("line", re.findall(r"^python -m specviz .*$", README, re.MULTILINE))
def test_every_command_in_the_readme_parses(line):
    import shlex

    assert cli.parser().parse_args(shlex.split(line)[3:]).run


def test_every_file_named_in_the_documents_exists():
    for document in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for path in re.findall(r"`((?:specviz|assets|tests)/[\w./-]+\.\w+)`", text) + re.findall(
            r"\]\((?!http)([\w./-]+)\)", text
        ):
            assert "name." in path or (ROOT / path).exists(), f"{document}: {path}"


def test_languages_have_the_same_keys_and_placeholders():
    english = strings("en")
    for lang in LANGUAGES:
        other = strings(lang)
        assert other.keys() == english.keys()
        for key, text in english.items():
            assert type(text) is type(other[key]), key
            holes = [sorted(set(re.findall(r"\{(\w+)\}", str(x)))) for x in (text, other[key])]
            assert holes[0] == holes[1], f"{lang} {key}"


def test_every_error_key_has_a_text():
    used = set()
    for file in (ROOT / "specviz").rglob("*.py"):
        used |= set(re.findall(r"SpecvizError\(\s*\"([\w.]+)\"", file.read_text(encoding="utf-8")))
    assert len(used) > 20
    assert used <= strings("en").keys()

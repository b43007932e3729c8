"""`python -m specviz check` on a tiny pair: its three verdicts, in words, in JSON and as exit statuses."""

import json

import pytest

from specviz.cli import main
from specviz.i18n import LANGUAGES, t
from tests.unit.bench_pair import save_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    target, draft = save_pair(tmp_path_factory.mktemp("pair"))
    return ["--target", str(target), "--draft", str(draft), "--device", "cpu", "--dtype", "float32"]


@pytest.fixture
def told(pair, capsys):
    def run(*options):
        status = main(["check", *pair, "--method", "draft", "--samples", "200", *options])
        return status, capsys.readouterr().out

    return run


def test_it_passes_on_remembered_passes_and_on_a_real_cache(told):
    status, out = told("--json")
    figures = json.loads(out)
    assert (status, figures["passed"], figures["verdict"]) == (0, True, "passed")
    assert figures["distribution"]["cached"] == {"runs": 50, "parted": 0, "allowed": 1}
    assert figures["distribution"]["untested"] is None


def test_a_fault_fails(told):
    status, out = told("--fault", "always_accept", "--samples", "1000")
    assert status == 1
    assert "FAIL  distribution at temperature 1" in out
    assert "planted: always_accept" in out


def test_where_only_one_text_is_possible_nothing_was_tested(told):
    """Top-k 1: neither passed nor failed, with the reason and a status of its own."""
    status, out = told("--top-k", "1", "--json")
    figures = json.loads(out)
    assert (status, figures["passed"], figures["verdict"]) == (3, False, "untested")
    assert figures["distribution"]["untested"] == "single"
    assert figures["identity"]["passed"] is True
    status, out = told("--top-k", "1")
    assert status == 3
    assert "untested  distribution" in out
    assert "FAIL" not in out
    assert t("en", "proof.about_untested_single", n=200) in out


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_reasons_are_there_in_every_language(lang):
    for why in ("single", "rare"):
        assert "200" in t(lang, f"proof.about_untested_{why}", n=200)

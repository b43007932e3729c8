"""The command line on the bundled pair: streams, JSON, exit statuses."""

import io
import json
import sys

import pytest

from specviz import commands
from specviz.cli import main
from specviz.trace_json import load_trace

pytestmark = pytest.mark.pair

PROMPT = "Explain why the sky is blue."


@pytest.fixture(autouse=True)
def loaded(pair, monkeypatch):
    monkeypatch.setattr(commands, "load", lambda args: pair)


def told(capsys, *argv):
    status = main(argv)
    out, err = capsys.readouterr()
    return status, out, err


def test_generate_json_has_the_promised_keys_and_nothing_else_on_stdout(capsys):
    results = {}
    for method in ("draft", "none"):
        status, out, _ = told(capsys, "generate", PROMPT, "--max-new-tokens", "24", "--method", method, "--json")
        assert status == 0
        assert out.count("\n") == 1
        results[method] = json.loads(out)
    names = {"text", "tokens", "rounds", "draft_acceptance_rate", "mean_acceptance_length", "tokens_per_second"}
    assert names <= results["draft"].keys()
    assert results["draft"]["tokens"] == results["none"]["tokens"]
    assert results["none"]["rounds"] == 24


def test_json_stays_json_on_a_console_that_lacks_characters(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    greedy = ["--raw", "--temperature", "0", "--method", "none", "--max-new-tokens", "8"]
    assert main(["generate", "café, café, café, café,", *greedy, "--json"]) == 0
    sys.stdout.flush()
    assert "é" in json.loads(raw.getvalue())["text"]


@pytest.mark.parametrize("stop", [[], ["--stop", "XXXXXXXXXXXXXXXX"], ["--stop", "art and"]])
def test_streamed_text_is_the_text(capsys, stop):
    options = [PROMPT, "--method", "skip", "--max-new-tokens", "24", *stop]
    _, out, _ = told(capsys, "generate", *options, "--json")
    _, streamed, _ = told(capsys, "generate", *options)
    assert streamed == json.loads(out)["text"] + "\n"
    assert "art and" not in streamed or not stop or stop[1] != "art and"


def test_trace_is_written_and_read_back(capsys, tmp_path):
    file = tmp_path / "t.json"
    status, out, _ = told(capsys, "trace", PROMPT, "--max-new-tokens", "6", "-o", str(file), "--json")
    assert (status, json.loads(out)["path"]) == (0, str(file))
    trace = load_trace(file.read_bytes())
    assert len(trace.generated) == 6
    assert trace.baseline_ms > 0
    assert told(capsys, "trace", PROMPT, "-o", str(tmp_path / "no" / "t.json"), "--max-new-tokens", "1")[0] == 2


def test_check_prints_its_figures(capsys):
    status, out, _ = told(capsys, "check", "--method", "skip", "--samples", "300", "--json")
    figures = json.loads(out)
    assert status == 0
    assert figures["passed"] is True
    assert figures["distribution"]["samples"] == 300
    assert figures["distribution"]["bins"] > 1
    assert figures["verdict"] == "passed"
    assert figures["distribution"]["cached"]["runs"] == 50


def test_pairs(capsys):
    status, out, _ = told(capsys, "pairs", "--json")
    assert status == 0
    assert {p["id"] for p in json.loads(out)["pairs"]} == {"smollm2-135m", "smollm2-1.7b", "qwen2.5-7b", "llama3.1-8b"}
    assert "None" not in told(capsys, "pairs")[1]


@pytest.mark.parametrize(
    "options",
    [
        ["--k", "-1"], ["--k", "1" * 400], ["--temperature", "nan"], ["--temperature", "-1"], ["--top-p", "2"],
        ["--seed", str(2**63)], ["--max-new-tokens", "-5"], ["--stop", ""],
    ],
)  # fmt: skip
def test_wrong_values_are_one_sentence_and_status_2(capsys, options):
    status, out, err = told(capsys, "generate", PROMPT, *options)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert 10 < len(err) < 300


@pytest.mark.parametrize("options", [["--k", "three"], ["--method", "magic"], ["--unknown"], ["--temperature", ""]])
def test_wrong_words_are_one_sentence_and_status_2(capsys, options):
    with pytest.raises(SystemExit) as left:
        main(["generate", PROMPT, *options])
    out, err = capsys.readouterr()
    assert (left.value.code, out) == (2, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize("samples", ["-3", "0", "1000000000"])
def test_no_proof_without_evidence(capsys, samples):
    assert told(capsys, "check", "--samples", samples)[0] == 2


@pytest.mark.parametrize("prompt", ["", "   ", "x " * 20_000])
def test_prompts_that_cannot_be_run(capsys, prompt):
    status, out, err = told(capsys, "generate", prompt)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1

"""`python -m specviz bench` from the options to the files, on a tiny pair."""

import json

import pytest

from specviz import commands
from specviz.bench.report import HEADLINE
from specviz.cli import main
from tests.unit.bench_pair import save_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    target, draft = save_pair(tmp_path_factory.mktemp("pair"))
    return ["--target", str(target), "--draft", str(draft), "--device", "cpu", "--dtype", "float32"]


SHORT = ["--prompts", "2", "--max-new-tokens", "8", "--k", "2", "--ignore-eos"]


def test_json_and_page(pair, capsys, tmp_path):
    file = tmp_path / "bench.html"
    status = main(["bench", *pair, *SHORT, "--sweep", "k", "--page", str(file), "--json"])
    out, err = capsys.readouterr()
    assert status == 0
    assert out.count("\n") == 1
    done = json.loads(out)
    assert list(done)[: len(HEADLINE)] == list(HEADLINE)
    assert done["ours_plain_tok_s"] > 0
    assert done["greedy_identical"] is True
    assert done["sweeps"][0]["over"] == "k"
    assert "bench.html" in err
    html = file.read_text(encoding="utf-8")
    assert "Plotly.newPlot(" in html
    assert "specviz, draft model" in html


def test_the_table(pair, capsys):
    only = ["--only", "ours_plain,ours_lookup", "--only", "hf_generate"]
    assert main(["bench", *pair, *SHORT, *only, "--prompt", "hello fox"]) == 0
    out, _ = capsys.readouterr()
    assert "specviz, prompt lookup" in out
    assert "All greedy outputs in float32 are the same" in out
    assert "draft model" not in out


def test_interrupted_prints_what_is_there(pair, capsys, monkeypatch):
    from specviz.bench.hugging import Generate

    monkeypatch.setattr(Generate, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    status = main(["bench", *pair, *SHORT, "--only", "ours_plain,hf_generate", "--json", "--sweep", "k"])
    assert status == 130
    done = json.loads(capsys.readouterr().out)
    assert done["setup"]["interrupted"] is True
    assert done["sweeps"] == []


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--prompts", "-1"], "prompts"),
        (["--prompts", "1000000"], "prompts"),
        (["--max-new-tokens", "1"], "max_new_tokens"),
        (["--repeats", "0"], "repeats"),
        (["--k", "0"], "k"),
        (["--threads", "0"], "threads"),
        (["--set", "eagle.nodes"], "method.name=value"),
        (["--set", "eagle.nodes=100000"], "nodes"),
        (["--set", "medusa.tree=no-such-tree"], "budget:N"),
        (["--only", "everyone"], "hf_generate"),
    ],
)
def test_wrong_options_are_one_sentence_and_status_2(capsys, monkeypatch, options, names):
    monkeypatch.setattr(commands, "load", lambda args: pytest.fail("no model is needed to refuse this"))
    assert main(["bench", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert names in err

"""Trees and rules of acceptance on the command line."""

import json

import pytest

from specviz import commands
from specviz.cli import main
from specviz.config import RunConfig
from specviz.trace_json import load_trace

PROMPT = "Explain why the sky is blue."
SHORT = ("--max-new-tokens", "12")


@pytest.fixture
def loaded(pair, monkeypatch):
    monkeypatch.setattr(commands, "load", lambda args: pair)


@pytest.fixture
def unloadable(monkeypatch):
    monkeypatch.setattr(commands, "load", lambda args: pytest.fail("no model is needed to refuse this"))


def told(capsys, *argv):
    status = main(argv)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.pair
def test_a_tree_writes_what_plain_decoding_writes(capsys, loaded, tmp_path):
    file = tmp_path / "tree.json"
    file.write_text('{"choices": [[0], [1], [0, 0], [0, 1], [0, 0, 0]]}', encoding="utf-8")
    results = []
    for options in (["--method", "none"], ["--method", "skip-tree"], ["--method", "draft", "--tree", str(file)]):
        status, out, _ = told(capsys, "generate", PROMPT, *SHORT, *options, "--json")
        assert status == 0
        results.append(json.loads(out))
    assert [r["tokens"] for r in results] == [results[0]["tokens"]] * 3
    assert [r["lossless"] for r in results] == [True] * 3
    assert len(results[1]["config"]["tree"]) == 8
    assert results[2]["config"]["method"] == "draft"
    assert results[2]["rounds"] < 12


@pytest.mark.pair
def test_a_lossy_run_says_so(capsys, loaded, tmp_path):
    lossy = [PROMPT, *SHORT, "--method", "skip-tree", "--verify", "typical", "--temperature", "0.8"]
    status, out, _ = told(capsys, "generate", *lossy, "--json")
    assert (status, json.loads(out)["lossless"]) == (0, False)
    _, out, err = told(capsys, "generate", *lossy)
    assert "Lossy" in err
    assert "Lossy" not in out
    file = tmp_path / "t.json"
    _, out, _ = told(capsys, "trace", *lossy, "-o", str(file), "--json")
    assert json.loads(out)["lossless"] is False
    trace = load_trace(file.read_bytes())
    assert trace.config.verify == "typical"
    assert any(r.draft.parents != tuple(range(-1, len(r.draft.parents) - 1)) for r in trace.rounds)
    _, _, err = told(capsys, "generate", *lossy[:-4], "--verify", "greedy")  # at temperature 0 it is exact
    assert err == ""


@pytest.mark.pair
def test_what_check_proves_of_trees(pair):
    from specviz.models.check import check_distribution, check_identity

    config = RunConfig("skip", tree=((0,), (1,), (0, 0)), temperature=1.0)
    assert check_identity(pair, config, prompts=(PROMPT,), tokens=16).passed
    spread = check_distribution(pair, config, samples=200)
    assert spread.passed
    assert spread.accepted > 0


@pytest.mark.parametrize("rule", ["typical", "greedy"])
def test_check_refuses_rules_that_are_not_lossless(capsys, unloadable, rule):
    status, out, err = told(capsys, "check", "--verify", rule)
    assert (status, out) == (2, "")
    assert "not a lossless rule" in err


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--method", "skip-tree", "--tree", "[[0],[0,0,0]]"], "[0, 0, 0]"),
        (["--method", "skip-tree", "--tree", '{"choices": [[0],[0]]}'], "[0]"),
        (["--method", "skip-tree", "--tree", "no-such-tree"], "budget:N"),
        (["--method", "eagle", "--tree", "small"], "eagle"),
        (["--method", "none", "--tree", "small"], "none"),
        (["--method", "skip", "--nodes", "4"], "nodes"),
        (["--method", "eagle-tree", "--nodes", "999"], "nodes"),
        (["--method", "skip-tree", "--verify", "block"], "chain"),
        (["--eps", "2"], "eps"),
        (["--delta", "nan"], "delta"),
        (["--branch", "0"], "branch"),
    ],
)
def test_wrong_trees_are_one_sentence_and_status_2(capsys, unloadable, tmp_path, options, names):
    if options[-1][0] in "[{":  # the content of a file
        file = tmp_path / "tree.json"
        file.write_text(options[-1], encoding="utf-8")
        options = [*options[:-1], str(file)]
    status, out, err = told(capsys, "generate", PROMPT, *options)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert names in err


@pytest.mark.parametrize(
    ("options", "method", "nodes", "tree"),
    [
        (["--method", "draft-tree"], "draft", 0, 8),
        (["--method", "skip-tree", "--tree", "chain"], "skip", 0, 0),
        (["--method", "medusa", "--tree", "published-63"], "medusa", 0, 63),
        (["--method", "eagle-tree"], "eagle", 16, 0),
        (["--method", "eagle-tree", "--nodes", "9"], "eagle", 9, 0),
        (["--method", "eagle"], "eagle", 0, 0),
    ],
)
def test_names_for_trees(options, method, nodes, tree):
    from specviz.cli import parser

    args = parser().parse_args(["generate", PROMPT, *options])
    config = commands.run_config(args)
    assert (config.method, config.nodes, len(config.tree)) == (method, nodes, tree)

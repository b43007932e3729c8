"""`python -m specviz bench` from the options to the files, on a tiny pair."""

import json

import pytest

from specviz import commands
from specviz.bench.report import HEADLINE
from specviz.cli import main
from specviz.serving import compare
from tests.fake_vllm import FakeVllm, models, running
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


@pytest.fixture
def fake(monkeypatch):
    """A server that serves the tiny target, and answers whatever it is asked as a real one once did."""
    monkeypatch.setattr(compare, "SETTLE", 0.2)
    server = FakeVllm()
    server.routes["/v1/models"] = 200, models("target")
    server.metrics = [text.replace("smollm2-135m", "target") for text in server.metrics]
    return server


WITH_SERVER = ["--only", "ours_plain,vllm", "--prompts", "2", "--max-new-tokens", "8", "--ignore-eos"]


def test_a_running_vllm_server_takes_part(pair, capsys, fake):
    with running(fake) as url:
        assert main(["bench", *pair, *WITH_SERVER, "--vllm-url", url, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    row = {row["key"]: row for row in done["contenders"]}["vllm"]
    assert (row["status"], row["runs"], row["tokens"]) == ("ok", 2, 2 * 44)  # 44 tokens in the recorded answer
    assert row["tok_s"] > 0
    assert row["settings"] == {"version": "0.32"}
    assert row["mean_acceptance_length"] == pytest.approx(1.6153846153846154)  # the server's own figure
    assert row["same"] is None
    asked = [body for _, body in fake.asked[1:]]  # the first warms up
    assert [body["messages"][0]["content"] for body in asked] == done["setup"]["prompts"]
    assert all((body["temperature"], body["max_tokens"], body["ignore_eos"]) == (0, 8, True) for body in asked)


def test_without_a_page_of_metrics_its_speed_is_measured_and_the_rest_said(pair, capsys, fake):
    fake.metrics = []
    fake.stream = b"\n\n".join(part for part in fake.stream.split(b"\n\n") if b"speculative_decoding" not in part)
    fake.stream = fake.stream.replace(b"data: [DONE]", USAGE + b"\n\ndata: [DONE]")
    with running(fake) as url:
        assert main(["bench", *pair, *WITH_SERVER, "--vllm-url", url]) == 0
    out = capsys.readouterr().out
    assert "vLLM server: The server has no page of metrics" in out
    assert "version 0.32" in out


USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":45,"total_tokens":89,"completion_tokens":44}}'


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda fake: fake.routes.update({"/v1/models": (200, models("another"))}), "serves another, not target"),
        (lambda fake: fake.routes.update({"/v1/models": (404, b"{}")}), "vLLM server did not run:"),
        (None, "does not answer"),
    ],
)
def test_a_server_that_cannot_take_part_is_a_row_with_the_reason(pair, capsys, fake, change, said):
    with running(fake) as url:
        if change is not None:
            change(fake)
            status = main(["bench", *pair, *WITH_SERVER, "--vllm-url", url])
    if change is None:  # it has gone
        status = main(["bench", *pair, *WITH_SERVER, "--vllm-url", url])
    out = capsys.readouterr().out
    assert status == 0
    assert said in out
    assert "specviz, plain" in out


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
        (["--only", "vllm"], "--vllm-url"),
        (["--vllm-url", "nowhere"], "http://127.0.0.1:8000"),
    ],
)
def test_wrong_options_are_one_sentence_and_status_2(capsys, monkeypatch, options, names):
    monkeypatch.setattr(commands, "load", lambda args: pytest.fail("no model is needed to refuse this"))
    assert main(["bench", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert names in err

"""The vLLM commands as programs; and vLLM itself, where SPECVIZ_VLLM_PYTHON names a Python that has it (0.32 or later).

vLLM cannot share an environment with specviz, so it is asked through its own Python. CONTRIBUTING.md says how.
"""

import io
import json
import os
import subprocess

import pytest

from specviz import cli, commands_vllm
from specviz.config import RunConfig
from specviz.models.fetch import target_dir
from specviz.models.served import served_of
from specviz.serving.carry_over import export
from specviz.serving.translate import translate
from specviz.serving.versions import Version
from tests.fake_vllm import FakeVllm, running

VLLM = os.environ.get("SPECVIZ_VLLM_PYTHON")
ASK_VLLM = """
import json, sys
from vllm.config import ModelConfig, ParallelConfig
from vllm.config.speculative import SpeculativeConfig
for case in json.load(sys.stdin):
    target = ModelConfig(model=case["target"])
    made = SpeculativeConfig(target_model_config=target, target_parallel_config=ParallelConfig(), **case["config"])
    print("TOOK " + json.dumps({key: getattr(made, key) for key in case["config"]}), flush=True)
"""


@pytest.fixture
def specviz(capsys, monkeypatch):
    """Runs a command: (exit status, stdout, stderr)."""

    def run(*args, stdin=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        status = cli.main(["vllm", *args])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_config(specviz):
    status, out, err = specviz("config", "--vllm-version", "0.33", "--method", "lookup", "--k", "4", "--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["config"]["method"] == "ngram"
    assert told["args"]["speculative_config"] == told["config"]
    compile(told["python"], "program", "exec")
    assert told["command"].startswith("vllm serve ")
    status, out, _ = specviz("config", "--preset", "llama-70b-1b", "--vllm-version", "0.32")
    assert status == 0
    assert "--tensor-parallel-size 4" in out


def test_translate(specviz):
    old = "LLM(model='t', speculative_model='d', num_speculative_tokens=5, use_v2_block_manager=True)"
    for args, stdin in (([old], ""), (["-"], old)):
        status, out, err = specviz("translate", *args, "--json", stdin=stdin)
        assert (status, err) == (0, "")
        told = json.loads(out)
        assert told["config"] == {
            "method": "draft_model", "model": "d", "num_speculative_tokens": 5, "draft_sample_method": "probabilistic"
        }  # fmt: skip
        assert len(told["changes"]) == 4
        assert all(change["why"] for change in told["changes"])
    status, out, err = specviz("translate", "print(1)", "--json")
    assert (status, out) == (2, "")
    assert err.startswith("There is no call of vLLM")


def test_compare(specviz):
    with running(FakeVllm()) as url:
        status, out, err = specviz("compare", "Hi", "--vllm-url", url, "--server-only", "--method", "lookup", "--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["label"].startswith("counts only")
    assert (told["vllm"]["drafts"], told["vllm"]["accepted"], told["specviz"]) == (13, 8, None)
    for args, sentence in (
        (["--vllm-url", "http://127.0.0.1:9"], "does not answer"),
        (["--vllm-url", "nowhere"], "must be one such as"),
        ([], "--vllm-url"),
    ):
        status, out, err = specviz("compare", "Hi", "--server-only", *args)
        assert (status, out) == (2, "")
        assert sentence in err
        assert "Traceback" not in err


@pytest.mark.pair
def test_compare_with_our_own_run(pair, specviz, monkeypatch):
    monkeypatch.setattr(commands_vllm, "load", lambda _args: pair)
    with running(FakeVllm()) as url:
        args = ("--method", "lookup", "--k", "4", "--max-new-tokens", "8")
        status, out, err = specviz("compare", "One two three one two", "--vllm-url", url, *args, "--json")
        assert (status, err) == (0, "")
        told = json.loads(out)
        assert told["specviz"]["tokens"] == 8
        assert told["specviz"]["accepted"] == sum(told["specviz"]["steps"])
        status, out, err = specviz("compare", "One two three one two", "--vllm-url", url, *args)
        assert status == 0
        assert out.count("\n") == 2


@pytest.mark.vllm
@pytest.mark.pair
@pytest.mark.skipif(VLLM is None, reason="SPECVIZ_VLLM_PYTHON names no Python with vLLM")
def test_vllm_takes_what_is_written(pair):
    served = served_of("smollm2-135m")
    assert served.draft is not None
    old = (
        f"LLM({served.target!r}, speculative_model={served.draft!r}, num_speculative_tokens=5, use_v2_block_manager=1)"
    )
    ngram = "LLM('t', speculative_model='[ngram]', num_speculative_tokens=5, ngram_prompt_lookup_max=4)"
    runs = [RunConfig(method, k=4, verify=verify) for method in ("draft", "lookup") for verify in ("lossless", "block")]
    configs = [export(run, served, Version(0, 32)).speculative for run in runs]
    configs += [translate(text, Version(0, 32)).config for text in (old, ngram)]
    cases = [{"target": str(target_dir()), "config": config} for config in configs]
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [VLLM, "-c", ASK_VLLM], input=json.dumps(cases), capture_output=True, text=True, env=environment, timeout=600
    )
    took = [json.loads(line.removeprefix("TOOK ")) for line in done.stdout.split("\n") if line.startswith("TOOK ")]
    assert took == [{**config} for config in configs], done.stderr[-2_000:]

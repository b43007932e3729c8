"""The settings of a run, written for vLLM. Whether vLLM takes them is asked of vLLM itself in tests/integration."""

import ast
import json
import shlex

import pytest

from specviz.config import METHODS, VERIFIERS, Override, RunConfig
from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES
from specviz.serving.carry_over import LOOKUP_MAX, LOOKUP_MIN, Served, export
from specviz.serving.known import FACTS, SERVED
from specviz.serving.versions import NEWEST, OFFERED, OLDEST, Version, read_version

V32, V33 = Version(0, 32), Version(0, 33)
PAIR = Served("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.2-1B-Instruct")
ALONE = Served("some/target")
TREE = ((0,), (1,), (0, 0), (0, 0, 0))


def keys(done):
    for lang in LANGUAGES:
        assert all(note.text(lang) for note in done.notes)
    return {note.key.removeprefix("serve.") for note in done.notes}


def draft(**more):
    return {
        "method": "draft_model",
        "model": "meta-llama/Llama-3.2-1B-Instruct",
        "num_speculative_tokens": 5,
        "draft_sample_method": "probabilistic",
        "rejection_sample_method": "standard",
    } | more


def test_a_draft_model():
    done = export(RunConfig("draft", k=5, temperature=0.7), PAIR, V33)
    assert done.speculative == draft()
    assert done.args == {"model": PAIR.target, "speculative_config": draft()}
    assert keys(done) == {"probabilistic", "other_draws", "detailed", "counts_only"}


def test_lookup_looks_for_what_ours_looks_for():
    done = export(RunConfig("lookup", k=4), ALONE, V33)
    assert done.speculative["method"] == "ngram"
    assert done.speculative["num_speculative_tokens"] == 4
    from specviz.engine.drafters import LookupDrafter

    drafter = LookupDrafter(100, "cpu")
    assert drafter.find([7, 90, 8, 7], 1) == [90]  # a match of one token
    assert drafter.find([1, 2, 3, 90, 2, 3, 80, 1, 2, 3], 1) == [90]  # of three before two
    assert drafter.find([1, 2, 3, 4, 90, 2, 3, 4, 80, 1, 2, 3, 4], 1) == [80]  # no more than three are compared
    assert drafter.longest == LOOKUP_MAX == done.speculative["prompt_lookup_max"]
    assert done.speculative["prompt_lookup_min"] == LOOKUP_MIN


def test_medusa_is_a_chain_up_to_32_and_gone_after():
    config = RunConfig("medusa", tree=TREE, temperature=0.5)
    served = Served("t", heads="heads")
    old = export(config, served, V32)
    method = {"method": "medusa", "model": "heads", "num_speculative_tokens": 3}
    assert old.speculative == method | {"rejection_sample_method": "standard"}
    assert keys(old) >= {"medusa_chain", "no_tree"}
    assert export(config, ALONE, V32).speculative["model"] == "path/to/medusa-heads"
    new = export(config, served, V33)
    assert new.speculative is None
    assert "speculative_config" not in new.args
    assert keys(new) >= {"no_medusa", "counts_only"}
    assert new.json == "null"


@pytest.mark.parametrize(
    ("config", "key"),
    [
        (RunConfig("draft", tree=TREE), "no_tree"),
        (RunConfig("draft", verify="typical"), "no_typical"),
        (RunConfig("draft", verify="greedy", temperature=1.0), "greedy_rule"),
        (RunConfig("draft", verify="block"), "block"),
        (RunConfig("draft", min_p=0.1, temperature=1.0), "no_min_p"),
        (RunConfig("draft", top_k=5, temperature=1.0), "draft_unfiltered"),
        (RunConfig("draft", top_p=0.9, temperature=1.0), "draft_unfiltered"),
        (RunConfig("draft", top_p=0.0, temperature=1.0), "top_p_zero"),
        (RunConfig("draft", max_new_tokens=0), "one_token"),
        (RunConfig("draft", overrides=(Override(0, 0, u=0.5),)), "no_overrides"),
        (RunConfig("skip"), "no_skip"),
        (RunConfig("eagle", nodes=8), "no_eagle"),
        (RunConfig("draft", adapt=True), "no_adapt"),
        (RunConfig("draft", k=0), "plain"),
        (RunConfig("none"), "plain"),
        (RunConfig("lookup"), "lookup"),
    ],
)
def test_what_does_not_carry_over_is_said(config, key):
    assert key in keys(export(config, PAIR, V33))
    assert key not in keys(export(RunConfig("draft", k=5), PAIR, V33))


def test_sampling():
    sampled = RunConfig("draft", temperature=0.7, top_k=5, top_p=0.9, seed=2**63 - 1, stop=("a", "\n"), ignore_eos=True)
    assert export(sampled, PAIR, V33).sampling == {
        "temperature": 0.7, "top_k": 5, "top_p": 0.9, "max_tokens": 64, "seed": 2**63 - 1, "stop": ["a", "\n"],
        "ignore_eos": True,
    }  # fmt: skip
    assert export(RunConfig("draft", top_k=5, top_p=0.9), PAIR, V33).sampling == {"temperature": 0.0, "max_tokens": 64}
    greedy = export(RunConfig("draft", verify="greedy", temperature=1.0), PAIR, V33)
    assert greedy.sampling["temperature"] == 0
    plain = export(RunConfig("none", min_p=0.1, temperature=1.0), PAIR, V33)
    assert plain.sampling["min_p"] == 0.1
    one = export(RunConfig("draft", top_p=0.0, temperature=1.0), PAIR, V33).sampling
    assert one["top_k"] == 1
    assert "top_p" not in one


def test_block_verification_carries_over():
    done = export(RunConfig("draft", k=5, verify="block"), PAIR, V33)
    assert done.speculative == draft(rejection_sample_method="block")


def test_vocabularies_of_other_sizes():
    done = export(RunConfig(k=5), Served("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"), V33)
    assert done.speculative["use_heterogeneous_vocab"] is True
    assert done.speculative["draft_sample_method"] == "greedy"
    assert {"rows_differ"} <= keys(done)
    assert "same_rows" in keys(export(RunConfig(), Served("a", "b"), V33))


def test_gpus():
    done = export(RunConfig(), Served(PAIR.target, PAIR.draft, tensor_parallel=4), V33)
    assert done.args["tensor_parallel_size"] == 4
    assert done.speculative["draft_tensor_parallel_size"] == 4
    assert "--tensor-parallel-size 4" in done.command
    assert "heads_shared" not in keys(done)
    odd = export(RunConfig(), Served("Qwen/Qwen2.5-72B-Instruct", "Qwen/Qwen2.5-7B-Instruct", tensor_parallel=8), V33)
    (note,) = (n for n in odd.notes if n.key == "serve.heads_shared")
    assert note.values["heads"] == 28
    assert "8" not in note.values["fitting"].split(", ")
    for wrong in (0, 65, 2.5, "4", True, None, float("nan")):
        with pytest.raises(SpecvizError) as caught:
            Served("t", tensor_parallel=wrong)
        assert caught.value.values["name"] == "tensor_parallel"


def test_served_pairs_fit_together():
    for pair in SERVED.values():
        target, beside = FACTS[pair.target], FACTS[pair.draft]
        assert target.rows == beside.rows
        assert target.heads % pair.tensor_parallel == beside.heads % pair.tensor_parallel == 0
    assert any("70B" in pair.target for pair in SERVED.values())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("verify", VERIFIERS)
@pytest.mark.parametrize("version", [OLDEST, V32, V33, Version(0, 40)])
def test_every_setting_gives_programs_that_parse(method, verify, version):
    config = RunConfig(method, verify=verify, temperature=0.9, top_k=3, stop=('"""', "'\\"), min_p=0.01)
    for served in (PAIR, ALONE, Served("a b; rm -rf /", "q\"uo'te$(x)", tensor_parallel=2)):
        done = export(config, served, version)
        keys(done)
        prompt = 'say "hi"\n\'\'\' """ \\ {x} ${1+1} `ls` \x00 \u202e 世界 \ud800'
        tree = ast.parse(done.python(prompt))
        texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        assert prompt in texts
        assert served.target in texts
        words = shlex.split(done.command.replace("\\\n", " "))
        assert words[:3] == ["vllm", "serve", served.target]
        if done.speculative is not None:
            assert json.loads(words[words.index("--speculative-config") + 1]) == done.speculative
            assert json.loads(done.json) == done.speculative
        assert ("--per-request-spec-decode-metrics" in words) == (
            done.speculative is not None and version >= Version(0, 29)
        )
        calls = {n.func.id: n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        given = {w.arg: ast.literal_eval(w.value) for w in calls["LLM"].keywords}
        assert given == {**done.args, "disable_log_stats": False}
        sampling = {w.arg: ast.literal_eval(w.value) for w in calls["SamplingParams"].keywords}
        assert sampling == done.sampling
        assert isinstance(n := ast.literal_eval(repr(done.sampling["stop"])), list)
        assert len(n) == 2


def test_raw_prompts_are_not_chatted():
    assert "llm.generate([" in export(RunConfig(chat=False), PAIR, V33).python("x")
    assert "llm.chat([" in export(RunConfig(), PAIR, V33).python("x")


def test_versions():
    for text in ("0.33", "v0.33.0", "0.33.1rc2", " 0.33.0+cpu ", "0.33.0.dev5"):
        assert read_version(text) == V33
    assert OFFERED[0] == NEWEST
    assert OFFERED[-1] == OLDEST
    for text in ("0.6.6", "0.27.1"):
        with pytest.raises(SpecvizError, match="other keys"):
            read_version(text)
    for wrong in ("", "latest", "0", "33", None, 0.33, "0." + "9" * 50, "٠.٣٣"):
        with pytest.raises(SpecvizError, match="must be one such as"):
            read_version(wrong)
    assert "newer" in keys(export(RunConfig(), PAIR, read_version("0.40")))
    assert {"totals"} <= keys(export(RunConfig(), PAIR, OLDEST))

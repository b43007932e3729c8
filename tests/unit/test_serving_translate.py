"""Old vLLM calls, brought up to date: read and never run, and every text ends in an answer or in a sentence."""

import ast
import json
import shlex
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES
from specviz.serving.translate import MAX_TEXT, Translation, translate
from specviz.serving.versions import Version

V32, V33 = Version(0, 32), Version(0, 33)
DRAFT = {"method": "draft_model", "model": "d", "num_speculative_tokens": 5}
DRAWN = DRAFT | {"draft_sample_method": "probabilistic"}
NGRAM = {"method": "ngram", "num_speculative_tokens": 5, "prompt_lookup_max": 4}

# the first is the example of vLLM's own documentation of 0.5
OPT = """LLM(
    model="facebook/opt-6.7b",
    tensor_parallel_size=1,
    speculative_model="facebook/opt-125m",
    num_speculative_tokens=5,
    use_v2_block_manager=True,
)"""

TABLE = [
    (OPT, DRAWN | {"model": "facebook/opt-125m"}),
    ("LLM(model='t', speculative_model='d', num_speculative_tokens=5)", DRAWN),
    ("llm = vllm.LLM('t', speculative_model='d', num_speculative_tokens=5)", DRAWN),
    ("EngineArgs(model='t', speculative_model='d', num_speculative_tokens=5)", DRAWN),
    ("e = A.from_engine_args(AsyncEngineArgs(model='t', speculative_model='d', num_speculative_tokens=5))", DRAWN),
    ("D = 'd'\nK = 5\nllm = LLM(model='t', speculative_model=D, num_speculative_tokens=K)", DRAWN),
    ("o = dict(speculative_model='d', num_speculative_tokens=5)\nLLM('t', **o)", DRAWN),
    ("o = {'speculative_model': 'd', 'num_speculative_tokens': 5}\nLLM('t', **o)", DRAWN),
    ("LLM('t', **{'speculative_model': 'd', 'num_speculative_tokens': 5})", DRAWN),
    ("    if x:\n        llm = LLM('t', speculative_model='d', num_speculative_tokens=5)", DRAWN),
    ("```python\nLLM('t', speculative_model='d', num_speculative_tokens=5)\n```", DRAWN),
    (">>> llm = LLM('t',\n...   speculative_model='d', num_speculative_tokens=5)", DRAWN),
    ("LLM('t', speculative_model='[ngram]', num_speculative_tokens=5, ngram_prompt_lookup_max=4)",
     NGRAM | {"prompt_lookup_min": 1}),
    ("LLM('t', speculative_model='[ngram]', num_speculative_tokens=5, ngram_prompt_lookup_max=4,"
     " ngram_prompt_lookup_min=2)", NGRAM | {"prompt_lookup_min": 2}),
    ("LLM('t', speculative_model='d', num_speculative_tokens=5, ngram_prompt_lookup_max=0)", DRAWN),
    ("LLM('t', tensor_parallel_size=4, speculative_model='d', num_speculative_tokens=5,"
     " speculative_draft_tensor_parallel_size=1)", DRAWN),
    ("LLM('t', tensor_parallel_size=4, speculative_model='d', num_speculative_tokens=5,"
     " speculative_draft_tensor_parallel_size=4)", DRAWN | {"draft_tensor_parallel_size": 4}),
    ("LLM('t', speculative_model='d', num_speculative_tokens=5, speculative_max_model_len=512,"
     " speculative_model_quantization='awq', spec_decoding_acceptance_method='typical_acceptance_sampler',"
     " typical_acceptance_sampler_posterior_threshold=0.09, typical_acceptance_sampler_posterior_alpha=0.3,"
     " speculative_disable_by_batch_size=4, disable_logprobs_during_spec_decoding=True,"
     " speculative_disable_mqa_scorer=True, num_lookahead_slots=5)",
     DRAWN | {"max_model_len": 512, "quantization": "awq"}),
    ("LLM('t', speculative_model=None, num_speculative_tokens=None)", None),
    ("LLM(model='t', max_model_len=2048)", None),
    ("LLM('t', speculative_config={'model': 'd', 'num_speculative_tokens': 5})", DRAFT),
    ("LLM('t', speculative_config=dict(method='draft_model', model='d', num_speculative_tokens=5,"
     " disable_by_batch_size=8, tensor_parallel_size=1))", DRAFT | {"draft_tensor_parallel_size": 1}),
    ("c = {'method': '[ngram]', 'num_speculative_tokens': 5, 'prompt_lookup_max': 4}\nLLM('t', speculative_config=c)",
     NGRAM),
    ("LLM('t', speculative_config={'method': 'deepseek_mtp', 'num_speculative_tokens': 1})",
     {"method": "mtp", "num_speculative_tokens": 1}),
    ("LLM('t', speculative_config={'method': 'draft_model', 'model': 'd', 'num_speculative_tokens': 5,"
     " 'rejection_sample_method': 'probabilistic', 'speculative_token_tree': '[(0,)]'})",
     DRAWN | {"rejection_sample_method": "standard"}),
    ("LLM('t', speculative_model='yuhuili/EAGLE-LLaMA3-Instruct-8B', num_speculative_tokens=2)",
     {"method": "eagle", "model": "yuhuili/EAGLE-LLaMA3-Instruct-8B", "num_speculative_tokens": 2}),
    ("python -m vllm.entrypoints.openai.api_server --host 0.0.0.0 --model t \\\n  --seed 42 -tp 1"
     " --speculative_model d --use-v2-block-manager \\\n  --num_speculative_tokens 5", DRAWN),
    ("$ CUDA_VISIBLE_DEVICES=0 vllm serve t --speculative-model=d --num-speculative-tokens=5", DRAWN),
    ("vllm serve t --speculative-model '[ngram]' --num-speculative-tokens 5 --ngram-prompt-lookup-max 4",
     NGRAM | {"prompt_lookup_min": 1}),
    ("""vllm serve t --speculative-config '{"model": "d", "num_speculative_tokens": 5, "disable_mqa_scorer": true}'""",
     DRAFT),
    ("vllm serve t --max-model-len 100", None),
]  # fmt: skip


def code_of(text):
    """What the translated text asks for, read with tools that are not ours: (arguments, speculative_config)."""
    if text.startswith(("vllm", "python", "CUDA")):
        words = shlex.split(text.replace("\\\n", " "))
        at = words.index("--speculative-config") if "--speculative-config" in words else None
        return words, None if at is None else json.loads(words[at + 1])
    names = ("LLM", "EngineArgs", "AsyncEngineArgs")
    calls = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call))
    call = next(n for n in calls if ast.unparse(n.func).rpartition(".")[2] in names)
    words = {w.arg: w.value for w in call.keywords}
    return words, words.get("speculative_config")


@pytest.mark.parametrize(("text", "config"), TABLE)
def test_table(text, config):
    for version in (V32, V33):
        done = translate(text, version)
        assert done.config == config
        if config is not None:
            assert next(iter(done.config)) == "method"
            assert done.args["speculative_config"] == config
        for lang in LANGUAGES:
            assert all(c.why.text(lang) for c in done.changes)
            assert all(n.text(lang) for n in done.notes)
        again = translate(done.code, version)  # what came out is today's: nothing is left to change
        assert again.config == config
        assert [c for c in again.changes if c.why.key != "serve.spread"] == []


@pytest.mark.parametrize(("text", "config"), TABLE)
def test_the_code_says_the_same(text, config):
    words, spec = code_of(translate(text).code)
    if isinstance(spec, ast.expr) and not isinstance(spec, ast.Name):
        names = {"D": "d", "K": 5}
        spec = {ast.literal_eval(k): names[v.id] if isinstance(v, ast.Name) else ast.literal_eval(v)
                for k, v in zip(spec.keys, spec.values, strict=True)}  # fmt: skip
    if not isinstance(spec, ast.Name):
        assert spec == config
    gone = ("speculative_model", "num_speculative_tokens", "use_v2_block_manager", "ngram_prompt_lookup_max")
    assert not set(gone) & set(words)
    assert not any(str(w).replace("-", "_").lstrip("_").startswith(gone) for w in words)


def test_each_argument_of_the_old_call_is_explained():
    done = translate(OPT)
    told = [c.old for c in done.changes]
    for name in ("speculative_model", "num_speculative_tokens", "use_v2_block_manager"):
        assert sum(name in old for old in told) == 1
    assert [c.new for c in done.changes if c.old.startswith("use_v2")] == [""]
    assert any(not c.old and "probabilistic" in c.new for c in done.changes)
    assert len({c.why.text("en") for c in done.changes}) == len(done.changes)


def test_what_stands_around_the_call_stays():
    before = "# 世界 comment\nfrom vllm import LLM\n\nMODEL = 'a/b'\nfor _ in range(1):\n    llm = "
    call = "LLM(model=MODEL, gpu_memory_utilization=0.9, speculative_model=get('x'), num_speculative_tokens=k)"
    after = "  # 界\nprint('é', llm)\n"
    done = translate(before + call + after)
    assert done.code.startswith(before)
    assert done.code.endswith(after.strip())
    assert "model=MODEL" in done.code
    assert "gpu_memory_utilization=0.9" in done.code
    assert '"num_speculative_tokens": k' in done.code
    assert '"model": get(' in done.code
    assert done.config["num_speculative_tokens"] == "{k}"
    assert {n.key for n in done.notes} == {"serve.unknown_name"}
    ast.parse(done.code)


def test_two_calls():
    text = "a = LLM('x', speculative_model='d', num_speculative_tokens=3)\nb = LLM('y', use_v2_block_manager=True)"
    done = translate(text)
    assert done.config["num_speculative_tokens"] == 3
    assert 'b = LLM("y")' in done.code
    assert len(done.changes) == 4


def test_what_is_hidden_is_said():
    done = translate("LLM('t', speculative_model='d', num_speculative_tokens=5, **more)")
    assert done.code.rstrip(")\n, ").endswith("**more")
    assert [n.key for n in done.notes] == ["serve.hidden"]
    changed = "o = {}\no['speculative_model'] = 'd'\nLLM('t', **o)"
    assert [n.key for n in translate(changed).notes] == ["serve.nothing_speculative", "serve.hidden"]
    counted = "LLM('t', speculative_model='d', num_speculative_tokens=10**100)"  # not worked out: it stays as it is
    assert translate(counted).config["num_speculative_tokens"] == "{10 ** 100}"
    twice = "D = 'a'\nD = 'b'\nLLM('t', speculative_model=D, num_speculative_tokens=5)"
    assert translate(twice).config["model"] == "{D}"


def test_medusa_left_with_33():
    text = "LLM('t', speculative_model='FasterDecoding/medusa-vicuna-7b-v1.3', num_speculative_tokens=4)"
    old, new = translate(text, V32), translate(text, V33)
    assert old.config["method"] == "medusa"
    assert new.config is None
    assert new.code == 'LLM("t")'
    assert "0.32 was the last version" in new.changes[-1].why.text("en")


def test_other_arguments_that_have_gone():
    done = translate("LLM('t', swap_space=4, dtype='bfloat16', num_scheduler_steps=8)")
    assert done.code == 'LLM("t", dtype="bfloat16")'
    assert [c.why.key for c in done.changes] == ["serve.gone_elsewhere"] * 2


def test_entries_of_newer_versions():
    text = (
        "LLM('t', speculative_config={'method': 'eagle3', 'model': 'd', 'num_speculative_tokens': 3, 'xpress_topc': 4})"
    )
    assert translate(text, V33).config["xpress_topc"] == 4
    assert "xpress_topc" not in translate(text, V32).config


WRONG = [
    ("", "text_empty"), ("  \n ", "text_empty"), ("x" * (MAX_TEXT + 1), "text_long"), (None, None), (3, None),
    ("LLM(model='t'", "syntax"), ("LLM(model='t' speculative_model='d')", "syntax"), ("print(1)", "no_call"),
    ("这不是代码", "no_call"), ("hello world", "syntax"), ("LLM", "no_call"), ("\ud800", "unreadable"),
    ("LLM('t', num_speculative_tokens=5)", "no_model"), ("LLM('t', speculative_model='d')", "tokens_missing"),
    ("LLM('t', speculative_config={'num_speculative_tokens': 5})", "no_model"),
    ("LLM('t', speculative_model='d', num_speculative_tokens=0)", "positive"),
    ("LLM('t', speculative_model='d', num_speculative_tokens='five')", "positive"),
    ("LLM('t', speculative_model='d', num_speculative_tokens=True)", "positive"),
    ("LLM('t', speculative_model='[ngram]', num_speculative_tokens=5, ngram_prompt_lookup_max=2,"
     " ngram_prompt_lookup_min=3)", "lookup_order"),
    ("LLM('t', speculative_config={'method': 'magic', 'num_speculative_tokens': 5})", "method_unknown"),
    ("vllm serve t --speculative-model 'd", "shell"), ("vllm serve t --speculative-config '{'", "config_json"),
    ("vllm serve t --speculative-config '[1]'", "config_json"), ("vllm serve t --speculative-config", "config_json"),
    ("vllm serve t --speculative-config '{\"a\": NaN}'", "config_json"),
    ("LLM(" + "(" * 300 + "1" + ")" * 300 + ")", "syntax"), ("-" * 15_000 + "1", "unreadable"),
    ("vllm serve '\ud800' --speculative-model b", "unreadable"), ("LLM('\ud800')", "unreadable"),
    ("LLM(a)" + ".LLM(a)" * 1_000, "too_much"), ("LLM(a=x)\n" * 2_000, "too_much"),
    ("x = {'num_speculative_tokens': 5}\nLLM(" + "**x, " * 2_000 + ")", "too_much"),
    ("LLM('t', speculative_model=" + "-" * 3_000 + "1)", "unreadable"), ("LLM(" + "a." * 6_000 + "b)", "unreadable"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key"), WRONG)
def test_what_cannot_be_translated_is_said(text, key):
    with pytest.raises(SpecvizError) as caught:
        translate(text)
    assert caught.value.key == (f"serve.{key}" if key else "ui.not_text")
    assert 10 < len(str(caught.value)) < 400


def test_nothing_is_run(monkeypatch, tmp_path):
    ran = []
    monkeypatch.setattr("builtins.exec", lambda *_: ran.append("exec"))
    monkeypatch.setattr("builtins.eval", lambda *_: ran.append("eval"))
    gate = tmp_path / "ran"
    for spy in (f"open({str(gate)!r}, 'w')", f"__import__('pathlib').Path({str(gate)!r}).touch()", "1/0", "exit()"):
        for text in (
            f"LLM({spy}, speculative_model={spy}, num_speculative_tokens={spy}, **{spy})",
            f"x = {spy}\nLLM('t', speculative_model=f'{{{spy}}}', num_speculative_tokens=5)",
            f"@{spy}\ndef f(): pass\nLLM('t', speculative_config={{'model': {spy}, 'num_speculative_tokens': 5}})",
            f"vllm serve $({spy}) --speculative-model `{spy}` --num-speculative-tokens 5",
        ):
            try:
                translate(text)
            except SpecvizError:
                continue
    assert not gate.exists()
    assert ran == []


FRAGMENTS = [
    "LLM(", "model='t'", "speculative_model='d'", "num_speculative_tokens=5", ")", ", ", "**kw", "kw = dict(", "\n",
    "use_v2_block_manager=True", "speculative_config={", "'model': 'x'", "}", "vllm serve t ", "--speculative-model ",
    "--speculative-config '", "'", '"', "[ngram]", "(", "{", ":", "\\", "#", "世", "\ud800", "\x0c", "\r", "= ", "-1",
    "1e999", "0x" + "f" * 60, "b'x'", "...", "f'{x}'", "await y", "x := 3", "\u202e", "None", "{1, 2}", "*a",
    "lambda x: x", "9" * 5_000,
]  # fmt: skip


def answer_to(text) -> Translation | SpecvizError:
    try:
        return translate(text)
    except SpecvizError as error:
        return error


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=14).map("".join))
@example("LLM('t', speculative_model='\\ud800', num_speculative_tokens=5)")
@example("LLM('t', speculative_model='d', num_speculative_tokens=5, seed=1e999)")
@example("LLM('t', speculative_config={1: 2, **x})")
@example("LLM(*a, model='t', speculative_model='d', num_speculative_tokens=5)")
@example("\x0cLLM('t',\r use_v2_block_manager=True)\u2028")
def test_every_text_ends_in_a_clear_answer(text):
    modules = set(sys.modules)
    done = answer_to(text)
    if isinstance(done, SpecvizError):
        assert done.key.startswith("serve.")
        assert len(str(done)) < 400
    else:
        json.dumps([done.config, done.args], allow_nan=False).encode()
        assert "LLM" in done.code or "EngineArgs" in done.code or "vllm" in done.code
        assert all(change.old or change.new for change in done.changes)
    assert "vllm" not in set(sys.modules) - modules


def test_blank_lines_between_prompts_stay():
    made = translate(">>> a = 1\n\n  \n>>> LLM('t', max_model_len=8)\n")
    assert made.code == "a = 1\n\n\nLLM('t', max_model_len=8)"


def test_a_name_for_something_large_stands_as_it_is():
    """It may be named thousands of times, and would be read and written as often."""
    for size, model in ((10, [0] * 10), (4_000, "{x}")):
        made = translate("x = [" + "0," * size + "]\nLLM('t', speculative_model=x, num_speculative_tokens=5)")
        assert made.config["model"] == model


def test_a_command_keeps_its_variables():
    """The new command is pasted into the same shell."""
    old = "HF_TOKEN=$HF_TOKEN vllm serve t --port $PORT --download-dir ${HOME}/models"
    old += " --speculative-model d --num-speculative-tokens 3"
    code = translate(old).code
    assert code.startswith("HF_TOKEN=$HF_TOKEN vllm serve t")
    assert "--port $PORT" in code
    assert "--download-dir ${HOME}/models" in code
    assert "'$" not in code


@pytest.mark.parametrize("rest", ["> log 2>&1 &", "&& echo done", "| tee log", "; ls"])
def test_more_than_one_command_is_refused_by_its_operator(rest):
    with pytest.raises(SpecvizError) as error:
        translate(f"vllm serve t --speculative-model d {rest}")
    assert rest.split()[0] in str(error.value)


def test_a_call_inside_a_call_is_left_alone():
    code = translate("LLM(model='t', speculative_model='d', num_speculative_tokens=2, args=EngineArgs(model='x'))").code
    ast.parse(code)


def test_a_long_variable_is_read_once():
    """A pattern that tried every place to end it in would take half a minute."""
    assert translate("vllm serve $" + "a" * 19_900 + "! --speculative-model b --num-speculative-tokens 3").config

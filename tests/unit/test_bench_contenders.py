"""Contenders on a tiny pair: the same text from all of them, the figures of ours, and where texts part."""

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from specviz.bench.agreement import compare, reference_of
from specviz.bench.flash import FlashSpec
from specviz.bench.gguf_file import find_gguf
from specviz.bench.hugging import Generate, fixed_drafts
from specviz.bench.line_up import Plan, choose_prompts, line_up, ours, parse_change
from specviz.bench.llama import LlamaCpp
from specviz.bench.memory import PeakMeter
from specviz.bench.names import KEYS
from specviz.bench.race import race
from specviz.bench.runs import Entrant
from specviz.bench.start import start
from specviz.bench.sweep import LENGTHS, padded, sweep
from specviz.errors import SpecvizError
from specviz.models.load import load_pair
from specviz.models.prepared import no_progress
from tests.unit.bench_fakes import Scripted
from tests.unit.bench_pair import CONTEXT, save_pair

LIMIT = 14
PLAN = Plan(("the quick brown fox", "世界 hello"), max_new_tokens=LIMIT, k=3, ignore_eos=True)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    target, draft = save_pair(tmp_path_factory.mktemp("pair"))
    return load_pair(target=str(target), draft=str(draft), device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def done(tiny):
    return start(PLAN, tiny, sweeps=())


def test_all_that_can_run_write_the_same(done):
    ran = {row["key"] for row in done["contenders"] if row["runs"]}
    assert ran >= {"ours_plain", "ours_draft", "ours_skip", "ours_lookup", "hf_generate", "hf_assisted", "hf_lookup"}
    assert done["greedy_identical"] is True
    assert done["setup"]["reference"] == "hf_generate"
    assert all(row["tokens"] == 2 * LIMIT for row in done["contenders"] if row["key"] in ran)
    assert all(row["same"] for row in done["contenders"] if row["key"] in ran)


def test_those_without_weights_are_rows_with_the_reason(done):
    rows = {row["key"]: row for row in done["contenders"]}
    assert list(rows) == list(KEYS)
    for key in ("ours_eagle", "ours_medusa"):
        assert rows[key]["status"] == "not_run"
        assert "no weights" in rows[key]["reason"]
    assert "eagle" in done["notes"]["speedup_eagle"]


def test_our_rows_tell_where_the_time_goes(done):
    rows = {row["key"]: row for row in done["contenders"]}
    draft = rows["ours_draft"]
    assert 1 < draft["mean_acceptance_length"] < 4
    assert 0 < draft["alpha"] < 1
    assert all(draft[name] > 0 for name in ("c", "drafting", "checking", "predicted_speedup", "tok_s", "step_ms"))
    assert 0 < draft["overhead_share"] < 1
    assert draft["per_position"][0] <= 1
    assert rows["ours_plain"]["predicted_speedup"] is None


def test_generate_counts_the_tokens_after_the_first(tiny):
    plain = Generate("hf_generate", tiny, "plain", 0, ignore_eos=True)
    plain.open()
    run = plain.run(tiny.codec.encode("fox"), LIMIT)
    assert (len(run.tokens), run.first_tokens) == (LIMIT, 1)
    assert 0 < run.first_seconds < run.seconds
    stops = Generate("hf_generate", tiny, "plain", 0)
    assert stops.run(tiny.codec.encode("fox"), LIMIT).tokens == run.tokens[: run.tokens.index(0) + 1]


def test_assisted_generation_drafts_k_every_round(tiny, monkeypatch):
    config, sizes = tiny.draft.generation_config, []
    before = config.to_dict()
    forward = type(tiny.target).forward

    def counted(self, input_ids=None, **rest):
        if self is tiny.target:
            sizes.append(input_ids.shape[-1])
        return forward(self, input_ids=input_ids, **rest)

    monkeypatch.setattr(type(tiny.target), "forward", counted)
    assisted = Generate("hf_assisted", tiny, "assisted", 3, ignore_eos=True)
    assisted.open()
    assisted.run(tiny.codec.encode("the lazy dog"), LIMIT)
    assert len(sizes) > 2
    assert set(sizes[1:-2]) == {4}  # three drafts and one token before them; fewer only near the end
    assert config.to_dict() == before
    with pytest.raises(ZeroDivisionError), fixed_drafts(tiny.draft, 3):
        raise ZeroDivisionError
    assert config.to_dict() == before


def test_partings_are_told_with_the_gap_of_a_fresh_pass(tiny):
    prompts = [tiny.codec.encode("the quick brown fox")]
    lanes, _ = race([ours("ours_plain", PLAN, tiny), ours("ours_draft", PLAN, tiny)], prompts, LIMIT, 1, no_progress)
    plain, draft = lanes
    true = plain.runs[0, 0].tokens
    wrong = (*true[:5], (true[5] + 1) % tiny.vocab_size, *true[6:])
    draft.runs[0, 0] = replace(draft.runs[0, 0], tokens=wrong)
    (parting,) = compare(tiny, lanes, prompts, reference_of(lanes, "float32"))
    with torch.inference_mode():
        logits = tiny.target(torch.tensor([[*prompts[0], *true[:5]]])).logits[0, -1]
    assert (parting.key, parting.position, parting.expected, parting.found) == ("ours_draft", 5, true[5], wrong[5])
    assert parting.gap == pytest.approx(float(logits.max() - logits[wrong[5]]), abs=1e-4)
    assert parting.reference_gap == pytest.approx(0.0, abs=1e-4)
    assert not parting.tie
    draft.runs[0, 0] = replace(draft.runs[0, 0], tokens=true[:-2])  # it stops too soon
    (parting,) = compare(tiny, lanes, prompts, plain)
    assert (parting.position, parting.found, parting.gap, parting.tie) == (LIMIT - 2, None, None, False)


def test_another_precision_is_not_compared(tiny):
    four_bits = Entrant(Scripted("llama_cpp", [], precision="Q4_1", shift=1))
    lanes, _ = race([Scripted("ours_plain", []), four_bits.contender], [[7]], 6, 1, no_progress)
    assert compare(tiny, lanes, [[7]], reference_of(lanes, "float32")) == []


@pytest.mark.parametrize("kind", ["context", "k", "tree"])
def test_sweeps(tiny, kind):
    found = sweep(kind, replace(PLAN, max_new_tokens=4), tiny, no_progress)
    lanes = {lane["key"]: lane["points"] for lane in found["lanes"]}
    if kind == "context":
        assert [point["x"] for point in lanes["ours_plain"]] == pytest.approx([128, 256], abs=16)
        assert all(point["x"] <= CONTEXT for points in lanes.values() for point in points)
    else:
        assert [point["x"] for point in lanes["ours_plain"]] == [None]
        assert [point["x"] for point in lanes["ours_draft"]] == (
            [1, 2, 3, 4, 5, 6, 8] if kind == "k" else [2, 4, 8, 16, 32, 63]
        )
    assert all(point["tok_s"] > 0 for points in lanes.values() for point in points)
    assert "ours_eagle" in found["missing"]


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    target, draft = save_pair(tmp_path_factory.mktemp("roomy"), 8192)
    return load_pair(target=str(target), draft=str(draft), device="cpu", dtype="float32")


SHORT = replace(PLAN, max_new_tokens=4, only=("ours_plain", "ours_lookup"))


def test_the_sweep_over_the_context_runs_to_its_end(roomy):
    found = sweep("context", SHORT, roomy, no_progress)
    lanes = {lane["key"]: lane["points"] for lane in found["lanes"]}
    assert lanes.keys() == {"ours_plain", "ours_lookup"}
    for points in lanes.values():
        assert [point["x"] for point in points] == pytest.approx(LENGTHS, abs=16)
        assert all(point["tok_s"] > 0 for point in points)
    assert (found["left_out"], found["missing"], found["interrupted"]) == ([], {}, False)


def test_a_sweep_keeps_within_its_time(roomy, monkeypatch):
    """The clock of the test: each context takes twice as long as the one before, the first a second."""
    seconds = [0.0]

    def raced(contenders, texts, *_):
        seconds[0] += len(texts[0]) / 128
        return [Entrant(one) for one in contenders], False

    monkeypatch.setattr("specviz.bench.sweep.race", raced)
    monkeypatch.setattr("specviz.bench.sweep.BUDGET", 20.0)
    monkeypatch.setattr("specviz.bench.sweep.time", SimpleNamespace(monotonic=lambda: seconds[0]))
    found = sweep("context", SHORT, roomy, no_progress)
    assert len(found["left_out"]) == 2  # 1 + 2 + 4 + 8 seconds; another 16, and then 32, would be too many
    assert f"{len(padded(roomy, 2048, SHORT.prompts[0]))} tokens" in found["left_out"][0]


def test_a_padded_prompt_has_the_length_and_ends_with_the_question(tiny):
    tokens = padded(tiny, 200, "why is the sky blue?")
    assert len(tokens) == pytest.approx(200, abs=16)
    assert "why is the sky blue?" in tiny.codec.decode(tokens)
    assert padded(tiny, 3, "why?") == tiny.codec.encode("why?")


def test_settings_of_one_drafter():
    assert parse_change("eagle.nodes=16") == ("eagle", "nodes", 16)
    assert parse_change("medusa.tree=small") == ("medusa", "tree", "small")
    plan = replace(PLAN, changes={"eagle": {"nodes": 9}, "draft": {"k": 7}})
    assert (plan.config("eagle").nodes, plan.config("draft").k, plan.config("lookup").k) == (9, 7, 3)
    assert (plan.k_of("draft"), plan.k_of("lookup")) == (7, 3)
    for wrong in ("eagle", "eagle.seed=3", "none.k=3", "k=3", "eagle.nodes", "=", ""):
        with pytest.raises(SpecvizError) as error:
            parse_change(wrong)
        assert "method.name=value" in str(error.value)


def test_the_same_draft_and_k_for_all(tiny):
    made = {one.key: one for one in line_up(replace(PLAN, changes={"draft": {"k": 6}}), tiny, 99)}
    assert {made[key].settings["k"] for key in ("ours_draft", "hf_assisted", "flashspec")} == {6}
    assert {made[key].settings["k"] for key in ("ours_lookup", "hf_lookup", "llama_cpp_lookup")} == {3}
    assert made["llama_cpp"].settings == {}


def test_prompts_come_from_all_kinds():
    prompts = choose_prompts(8)
    assert len(set(prompts)) == 8
    assert choose_prompts(2) == prompts[:2]
    for wrong in (-1, 10**6):
        with pytest.raises(SpecvizError):
            choose_prompts(wrong)


LLAMA = """
import os, signal
class Llama:
    def __init__(self, path, draft_model=None, **options):
        print("loading", path)
        self.draft, self.options = draft_model, options
    def reset(self): pass
    def generate(self, tokens, **how):
        assert how["temp"] == 0
        if tokens == [1]:
            os.kill(os.getpid(), signal.SIGILL)
        if tokens == [2]:
            raise ValueError("no such token")
        yield from range(3, 99)
"""


@pytest.fixture
def llama(tmp_path, monkeypatch):
    """The real worker process, on a package that has the library's interface."""
    package = tmp_path / "llama_cpp"
    package.mkdir()
    (package / "__init__.py").write_text(LLAMA)
    (package / "llama_speculative.py").write_text(
        "class LlamaPromptLookupDecoding:\n    def __init__(self, **o): pass\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("specviz.bench.llama.precision_of", lambda file: "Q4_1")
    return lambda k=0: LlamaCpp("llama_cpp", lambda: tmp_path / "model.gguf", k, 1, 64, [20])


@pytest.mark.parametrize("k", [0, 4])
def test_llama_in_a_process_of_its_own(llama, k):
    one = llama(k)
    one.open()
    try:
        assert one.precision == "Q4_1"
        assert one.pid not in (None, 0)
        run = one.run([7, 8], 5)
        assert (run.tokens, run.first_tokens) == ((3, 4, 5, 6, 7), 1)
        assert one.run([7], 50).tokens[-1] == 20  # the end of the text
    finally:
        one.close()
    assert one.pid is None


@pytest.mark.parametrize(("token", "reason"), [(1, "SIGILL"), (2, "no such token")])
def test_a_dead_worker_is_a_reason(llama, token, reason):
    lanes, _ = race([llama()], [[7], [token]], 6, 1, no_progress)
    assert reason in lanes[0].reason
    assert len(lanes[0].runs) == 1


def test_what_is_not_installed_says_so(tiny, monkeypatch):
    monkeypatch.setattr("specviz.bench.llama.find_spec", lambda name: None)
    monkeypatch.setattr("specviz.bench.flash.find_spec", lambda name: None)
    for one in (LlamaCpp("llama_cpp", lambda: None, 0, 1, 64, []), FlashSpec("flashspec", tiny, 4, own=False)):
        with pytest.raises(SpecvizError, match=r"requirements-bench\.txt"):
            one.open()
        one.close()


def test_no_gguf_of_an_unknown_target(tmp_path):
    with pytest.raises(SpecvizError, match="--gguf"):
        find_gguf(None, "my-own", no_progress)
    with pytest.raises(SpecvizError, match=r"nothing\.gguf"):
        find_gguf(tmp_path / "nothing.gguf", "my-own", no_progress)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_the_peak_of_memory_is_that_of_the_time_between():
    meter = PeakMeter()
    meter.start()
    block = bytearray(80_000_000)
    block[::4096] = b"x" * len(block[::4096])  # touched, so that it is there
    del block
    first = meter.stop()
    meter.start()
    second = meter.stop()
    assert first.extra > 60
    assert second.extra < 40
    assert first.total > second.total
    assert PeakMeter(pid=2**22).stop() is None


def test_names_need_no_torch():
    """The command line knows the contenders before it loads anything heavy."""
    code = "import sys; import specviz.cli; sys.exit('torch' in sys.modules or 'plotly' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

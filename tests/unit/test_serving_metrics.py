"""vLLM's page of metrics, against pages that vLLM itself wrote."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specviz.serving.prometheus import Counters, counters, samples
from tests.fake_vllm import MODEL, page

LLAMA = "meta-llama/Llama-3.3-70B-Instruct"


def grown(version, model):
    before, after = (counters(page(f"metrics-{version}-{when}.txt"), model) for when in ("before", "after"))
    return after.since(before)


def test_a_real_page_agrees_with_what_the_server_said_of_the_request():
    last = page("answer-0.32.txt").strip().split("\n\n")[-2].removeprefix("data: ")
    told = json.loads(last)
    own = told["metrics"]["speculative_decoding"]
    found = grown("0.32", MODEL)
    assert found.drafts == own["num_spec_steps"] == 13
    assert found.draft_tokens == own["num_draft_tokens"] == 52
    assert found.accepted == own["num_accepted_draft_tokens"] == sum(own["per_step_accepted"]) == 8
    steps = own["per_step_accepted"]
    assert found.per_position == tuple(sum(n > i for n in steps) for i in range(4)) == (3, 3, 2, 0)
    assert found.generated == told["usage"]["completion_tokens"] == 44
    assert found.requests == 1
    assert found.vllm
    assert found.speculates
    assert not found.old


def test_two_engines_of_a_newer_version_are_added_up():
    found = grown("0.33", LLAMA)
    accepted = [5, 0, 2, 3, 1, 4]
    assert (found.drafts, found.draft_tokens, found.accepted) == (6, 28, sum(accepted))
    assert found.per_position == tuple(sum(n > i for n in accepted) for i in range(5))
    assert (found.generated, found.requests) == (21, 2)
    assert grown("0.33", None) == found


def test_another_model_has_counted_nothing():
    assert counters(page("metrics-0.33-after.txt"), "another").drafts == 0
    assert not counters(page("metrics-0.33-after.txt"), "another").speculates


def test_an_old_server_is_recognised():
    found = counters(page("metrics-0.6.txt"))
    assert found.old
    assert not found.speculates


def test_pages_without_speculation():
    lines = [line for line in page("metrics-0.32-after.txt").split("\n") if "spec_decode" not in line]
    plain = counters("\n".join(lines), MODEL)
    assert plain.vllm
    assert not plain.speculates
    assert not plain.old
    assert plain.generated == 44
    assert counters("# HELP x y\nprocess_cpu_seconds_total 3.5\n") == Counters()
    assert counters("") == Counters()


def test_a_server_that_was_started_anew_counts_from_zero():
    before, after = counters(page("metrics-0.33-after.txt")), counters(page("metrics-0.32-after.txt"))
    assert after.since(before) == after


def test_counts_that_no_server_can_have_are_passed_over():
    huge = "".join(f'vllm:spec_decode_num_drafts_total{{engine="{i}"}} 1.7e308\n' for i in range(3))
    huge += "vllm:spec_decode_num_drafts_total -235\n"
    assert counters(huge + "vllm:request_success_total 2\n") == Counters(vllm=True, requests=2)


def test_the_text_format():
    text = (
        'vllm:a{x="1",y="two \\"quotes\\", a \\\\ and a \\n"} 3.0 1700000000\n'
        "vllm:b 1e+03\r\n"
        'vllm:c{le="+Inf"} NaN\n'
        "vllm:d{} +Inf\n"
        'vllm:e{broken="} 1\n'
        "vllm:f one\n"
        "vllm:huge 1e308\n"
        'vllm:g{ z = "1" , }  7\n'
        "\u4e16\u754c 3\n" + "vllm:h " + "1" * 20_000
    )
    found = {s.name: (s.labels, s.value) for s in samples(text)}
    assert found == {
        "vllm:a": ({"x": "1", "y": 'two "quotes", a \\ and a \n'}, 3.0),
        "vllm:b": ({}, 1000.0),
        "vllm:g": ({"z": "1"}, 7.0),
    }


@pytest.mark.parametrize(
    "line", ["vllm:x{" + "a" * 9_900 + "}", "vllm:x" + " " * 9_900 + "a b", "vllm:x " + "1" * 9_900 + " a"]
)
def test_hostile_lines_are_read_once(line):
    """Patterns that tried every part of a line again would take minutes."""
    assert counters(f"{line} 1\n" * 200 + "vllm:generation_tokens_total 7\n").generated == 7


@pytest.mark.parametrize("position", ["-1", "1.5", "", "99999", "x"])
def test_positions_that_are_none_do_not_count(position):
    name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
    assert counters(f'{name}{{position="{position}"}} 5\n{name}{{position="1"}} 2').per_position == (0, 2)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet='vllm:spec_decode_num_drafts{}="\\,# \n0123456789.eE+-NaInf', max_size=200))
def test_any_page_has_counters(text):
    assert isinstance(counters(text), Counters)

"""What the buttons do, on the real pair."""

import json

import pytest

from specviz.trace import Finish
from specviz.trace_json import MAX_BYTES, dump_trace, load_trace, trace_to_json
from specviz.ui import detail_panel, files_panel, settings, step_handlers, whatif

RUNS = pytest.mark.pair


def stage_after(messages):
    """The trace that the browser holds after these messages, joined as assets/js/app/stages.js does."""
    trace = None
    for message in messages:
        if not isinstance(message, dict) or "id" not in message:
            continue
        if "trace" in message:
            trace = json.loads(json.dumps(message["trace"], allow_nan=False))
        if "append" in message:
            grown = message["append"]
            assert grown["at"] == len(trace["rounds"])
            trace["rounds"] += grown["rounds"]
            trace["vocab"] |= grown["vocab"]
            trace |= {"finish": grown["finish"], "baseline_ms": grown["baseline_ms"]}
    return trace


def run(runner, values, shown=None, session="test", **options):
    return list(step_handlers.run(runner, [values[name] for name in settings.FIELDS], shown, session, **options))


@RUNS
def test_a_run_streams_rounds_that_add_up_to_the_trace(runner, values):
    updates = run(runner, values)
    messages = [update[0] for update in updates]
    trace = updates[-2][1]
    assert trace.finish is Finish.LENGTH
    assert len(trace.generated) == 8
    joined = stage_after(messages)
    assert joined == json.loads(dump_trace(trace))
    assert sum("append" in m for m in messages if isinstance(m, dict)) >= 1
    assert sum("trace" in m for m in messages if isinstance(m, dict)) == 1  # whole once, then what is new
    assert messages[-2]["status"] is None
    run_button, _, stop_button = updates[-1][2:]
    assert run_button["interactive"] is True
    assert stop_button["interactive"] is False


@RUNS
def test_steps_make_the_same_trace_as_a_run(runner, values):
    whole = run(runner, values)[-2][1]
    trace = None
    for _ in range(len(whole.rounds)):
        updates = run(runner, values, trace, one_round=True)
        before, trace = trace, updates[-2][1]
        assert len(trace.rounds) == (len(before.rounds) if before else 0) + 1
    assert trace.generated == whole.generated
    for one, other in zip(trace.rounds, whole.rounds, strict=True):
        assert [(v.status, v.u) for v in one.verdicts] == [(v.status, v.u) for v in other.verdicts]
        assert [v.p for v in one.verdicts] == pytest.approx([v.p for v in other.verdicts], rel=1e-3)


@RUNS
def test_another_setting_begins_anew(runner, values):
    first = run(runner, values, one_round=True)[-2][1]
    second = run(runner, values | {"seed": "99"}, first, one_round=True)[-2][1]
    assert len(second.rounds) == 1
    assert second.config.seed == 99


@RUNS
def test_stop_ends_within_a_round_and_the_trace_goes_on(runner, values):
    values |= {"max_new_tokens": 200}
    stream = step_handlers.run(runner, [values[n] for n in settings.FIELDS], None, "stopper")
    trace = None
    for update in stream:
        trace = update[1] if hasattr(update[1], "rounds") else trace
        if trace is not None and len(trace.rounds) == 2:
            assert runner.stop("stopper")
    assert trace.finish is Finish.CANCELLED
    assert len(trace.rounds) <= 5  # the visitor's news may lag behind by a few
    more = run(runner, values, trace, one_round=True)[-2][1]
    assert len(more.rounds) == len(trace.rounds) + 1


@RUNS
def test_two_visitors_do_not_mix(runner, values):
    alone = run(runner, values)[-2][1]
    other = values | {"prompt": "Say hello.", "method": "none"}
    a = step_handlers.run(runner, [values[n] for n in settings.FIELDS], None, "a")
    b = step_handlers.run(runner, [other[n] for n in settings.FIELDS], None, "b")
    traces = {"a": None, "b": None}
    live = {"a": a, "b": b}
    while live:
        for name in list(live):
            update = next(live[name], None)
            if update is None:
                del live[name]
            elif hasattr(update[1], "rounds"):
                traces[name] = update[1]
    assert traces["a"].generated == alone.generated
    assert traces["b"].prompt.text == "Say hello."


@pytest.mark.parametrize(
    "wrong",
    [{"k": 10**9}, {"k": "3"}, {"temperature": float("nan")}, {"prompt": "x" * 10**7}, {"pair": "../../etc/passwd"}],
)
def test_wrong_values_are_said_on_the_stage_and_nothing_is_lost(runner, values, sample, wrong):
    (update,) = run(runner, values | wrong, sample)
    assert update[0]["status"]["kind"] == "error"
    assert len(update[0]["status"]["text"]) < 400
    assert not hasattr(update[1], "rounds")  # skipped: the visitor's trace stays
    assert update[2]["interactive"] is True


@RUNS
def test_what_the_models_refuse_is_said(runner, values):
    filled = values | {"prompt": "   "}
    updates = list(step_handlers.run(runner, [filled[n] for n in settings.FIELDS], None, "t"))
    said = [u[0]["status"] for u in updates if isinstance(u[0], dict) and u[0].get("status")]
    assert said[-1]["kind"] == "error"
    assert said[-1]["key"] == "errors.prompt_empty"  # the browser says it in the visitor's language


def test_an_unforeseen_failure_is_a_calm_sentence(runner, values, caplog, monkeypatch):
    monkeypatch.setattr(runner, "submit", lambda *a, **k: 1 / 0)
    (update,) = run(runner, values)
    assert "not your doing" in update[0]["status"]["text"]
    assert "ZeroDivisionError" in caplog.text


@RUNS
@pytest.mark.parametrize(
    ("change", "value"), [("temperature", 1.5), ("k", 2), ("seed", "77"), ("u", 0.999), ("token", None)]
)
def test_a_fork_keeps_what_was_before(runner, values, change, value):
    trace = run(runner, values | {"max_new_tokens": 16})[-2][1]
    index = next(r.index for r in trace.rounds if r.draft.tokens and r.index > 0)
    if change == "token":
        drafted = trace.rounds[index].draft.tokens[0]
        value = next(id for _, id in whatif.token_choices(trace, index + 1, 1) if id != drafted)
    updates = list(whatif.fork(runner, trace, index + 1, change, value, 1, "en", "forker"))
    forked = updates[-2][1]
    assert forked.forked_at == index
    assert forked.rounds[:index] == trace.rounds[:index]
    assert (forked.finish == "length") == (len(forked.generated) == 16)  # it may also come to its end before
    first = forked.rounds[index]
    if change == "u":
        assert first.verdicts[0].u == 0.999
    elif change == "token":
        assert first.draft.tokens[0] == value
    elif change == "k":
        assert len(first.draft.tokens) <= 2
    compared = [u[2] for u in updates if isinstance(u[2], str) and u[2]]
    assert f"From round {index + 1}" in compared[-1]
    load_trace(dump_trace(forked))


@pytest.mark.parametrize(
    ("at", "change", "value", "position"),
    [
        (0, "k", 3, 1), (10**9, "k", 3, 1), ("1", "k", 3, 1), (1, "magic", 3, 1), (1, ["k"], 3, 1), (1, "k", 10**9, 1),
        (1, "u", 1.0, 1), (1, "u", None, 99), (1, "token", None, 1), (1, "token", -4, 1), (float("nan"), "k", 3, 1),
    ],
)  # fmt: skip
def test_a_wrong_fork_is_refused_in_words(runner, sample, at, change, value, position):
    (update,) = whatif.fork(runner, sample, at, change, value, position, "en", "forker")
    assert update[0]["value"]["status"]["kind"] == "error"


def test_a_saved_run_opens_again(runner, sample, tmp_path):
    text, _ = files_panel.export(sample)
    file = tmp_path / "run.json"
    file.write_text(text, encoding="utf-8")
    message, trace, *controls = files_panel.read(str(file), runner)
    assert trace == sample
    assert message["trace"] == trace_to_json(sample)
    assert settings.read(controls).config.k == sample.config.k


def test_a_bad_file_is_refused_and_nothing_changes(runner, tmp_path, sample):
    data = trace_to_json(sample)
    data["rounds"][0]["draft"]["parents"][0] = 7
    for text in ("{", "[]", "null", '{"schema":"other"}', json.dumps(data), " " * (MAX_BYTES + 1)):
        file = tmp_path / "run.json"
        file.write_text(text, encoding="utf-8")
        message, trace, *_ = files_panel.read(str(file), runner)
        assert message["status"]["kind"] == "error"
        assert "trace" not in message
        assert not hasattr(trace, "rounds")
    assert files_panel.read(None, runner)[0]["status"]["kind"] == "error"


def test_the_detail_of_every_position_can_be_shown(sample):
    for r in sample.rounds[:6]:
        for position in range(len(r.draft.tokens) + 1):
            for lang in ("en", "zh-CN"):
                told, left_title, left, right_title, right = detail_panel.figures(sample, (r.index, position), lang)
                assert told.startswith("<p>")
                assert left["visible"] is True
                assert bool(right_title) is right["visible"]
                assert left_title

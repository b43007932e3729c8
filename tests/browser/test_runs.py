"""Runs on the real pair, as visitors make them."""

import json

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.pair]


def open_file(page, file):
    with page.expect_file_chooser() as chooser:
        page.click("#sv-open")
    chooser.value.set_files(file)


def test_run_step_stop_fork_save_and_open(visit, tmp_path):
    visit.open()
    page = visit.page
    page.wait_for_selector(".sv-state-ready", timeout=240_000)

    visit.fill("Name three colours.", most=16)
    page.click("#sv-run")
    done = visit.until("s.trace.prompt.text === 'Name three colours.' && s.trace.finish && !s.status")
    assert len(done["trace"]["rounds"]) >= 3
    with page.expect_download() as saved:
        page.click("#sv-save")
    # what was streamed round by round is, to the last number, what the server holds
    assert done["trace"] == json.loads(saved.value.path().read_text(encoding="utf-8"))
    visit.until("s.cursor > 1")  # and it plays

    page.fill("#sv-seed textarea", "5")  # other settings: the next round is the first of a new trace
    page.click("#sv-step")
    visit.until("s.trace.config.seed === 5 && s.trace.rounds.length === 1 && !s.status")
    page.click("#sv-step")
    visit.until("s.trace.rounds.length === 2 && !s.status && s.view.round === 1")

    page.click("text=What if?")
    page.fill("#sv-fork-round input", "2")
    page.click("#sv-fork")
    forked = visit.until("s.trace && s.trace.finish && !s.status", "fork")
    assert forked["trace"]["forked_at"] == 1
    assert forked["trace"]["rounds"][0] == visit.stage()["trace"]["rounds"][0]
    assert "From round 2" in page.inner_text("#sv-compared")

    with page.expect_download() as saved:
        page.click("#sv-save")
    file = tmp_path / "run.json"
    saved.value.save_as(file)
    trace = json.loads(file.read_text(encoding="utf-8"))
    assert trace["config"]["seed"] == 5
    assert len(trace["rounds"]) == 2

    page.click("#sv-stage-main .sv-host", position={"x": 5, "y": 5})
    page.fill("#sv-seed textarea", "6")
    page.click("#sv-step")
    visit.until("s.trace.config.seed === 6 && !s.status")
    open_file(page, file)
    visit.until("s.trace.config.seed === 5 && s.trace.rounds.length === 2")
    page.wait_for_function("document.querySelector('#sv-seed textarea').value === '5'")

    file.write_text('{"schema": "something else"}', encoding="utf-8")
    open_file(page, file)
    said = visit.until("s.status && s.status.kind === 'error'")
    assert len(said["trace"]["rounds"]) == 2  # what was there is still there


def test_stop_and_a_second_visitor(make_visit):
    first, second = make_visit().open(), make_visit(locale="zh-CN").open()
    first.page.wait_for_selector(".sv-state-ready", timeout=240_000)
    first.fill("Tell me a long story.", most=400)
    first.page.click("#sv-run")
    first.until("s.trace.prompt.text === 'Tell me a long story.' && s.trace.rounds.length > 1")
    second.fill("Say hello.", most=6)
    second.page.click("#sv-run")
    second.until("s.status && s.status.kind === 'queued' && s.status.n === 1")
    first.page.click("#sv-stop")
    stopped = first.until("s.trace.finish === 'cancelled' && !s.status")
    assert len(stopped["trace"]["rounds"]) < 200
    other = second.until("s.trace.prompt.text === 'Say hello.' && s.trace.finish && !s.status")
    assert sum(len(r["path"]) + bool(r["final"]) for r in other["trace"]["rounds"]) <= 6
    assert first.stage()["trace"]["prompt"]["text"] == "Tell me a long story."
    first.page.wait_for_function("!document.querySelector('#sv-run').disabled")

"""The Serve tab: handlers as functions; the settings of the page are those of a visitor."""

import json
import re
import threading
import time

import pytest

from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES
from specviz.serving.known import SERVED
from specviz.serving.note import Note
from specviz.ui import samples, serve_handlers, serve_html, settings
from specviz.ui.options import Options
from specviz.ui.runner import Runner
from tests.fake_vllm import FakeVllm, dribble, models, running
from tests.trees import tree_trace

NASTY = "</code></pre><img src=x onerror=alert(1)>${1+1}`\x00\u202e"
PAGE = serve_handlers.PAGE


@pytest.fixture
def page():
    """A runner that loads nothing, and the controls as a new visitor finds them."""
    runner = Runner(Options(), load=None)
    trace = samples.sample(samples.FIRST)
    return runner, dict(zip(settings.FIELDS, settings.of_trace(trace, runner.default).values(), strict=True))


def written(page, version="0.33", models=PAGE, gpus=1, lang="en", **changes):
    runner, values = page
    return serve_handlers.written(runner, lang, version, models, gpus, list((values | changes).values()))


def text_of(html):
    import html as escapes

    return escapes.unescape(re.sub(r"<[^>]*>", "", html))


def test_the_settings_of_the_page_are_written(page):
    python, command, config, notes = written(page, method="draft", k=7, temperature=0.5, prompt="Why?")
    spec = json.loads(text_of(config))
    assert (spec["method"], spec["num_speculative_tokens"]) == ("draft_model", 7)
    assert '"Why?"' in text_of(python)
    assert "temperature=0.5" in text_of(python)
    assert text_of(command).startswith("vllm serve ")
    assert notes.count("<li>") >= 3
    assert json.loads(text_of(written(page, method="draft", k=3)[2]))["num_speculative_tokens"] == 3


def test_in_both_languages(page):
    said = {lang: written(page, method="skip", lang=lang)[3] for lang in LANGUAGES}
    assert "layers skipped" in said["en"]
    assert "跳过若干层" in said["zh-CN"]


@pytest.mark.parametrize("models", [PAGE, "nothing", None, 7, ["x"], {"a": 1}])
def test_what_is_no_pair_for_large_machines_needs_one_gpu(models):
    assert serve_handlers.gpus_of(models) == 1


@pytest.mark.parametrize("name", SERVED)
def test_pairs_for_large_machines(page, name):
    gpus = serve_handlers.gpus_of(name)
    _, command, config, notes = written(page, models=name, gpus=gpus, method="draft")
    assert SERVED[name].target in text_of(command)
    assert f"--tensor-parallel-size {gpus}" in text_of(command)
    assert json.loads(text_of(config))["model"] == SERVED[name].draft
    assert "cannot share" not in notes


def test_what_a_visitor_writes_is_escaped(page):
    for part in written(page, prompt=NASTY, stop=NASTY):
        assert "<img" not in part
    for part in serve_handlers.translated(
        f"LLM('t', speculative_model={NASTY!r}, num_speculative_tokens=5)", "0.33", "en"
    ):
        assert "<img" not in part
    for part in serve_handlers.translated(NASTY, NASTY, "en"):
        assert "<img" not in part


@pytest.mark.parametrize(
    "wrong",
    [{"version": "0.1"}, {"version": None}, {"models": "../../etc"}, {"models": ["x"]}, {"models": None}, {"gpus": 0},
     {"gpus": "4"}, {"gpus": None}, {"gpus": 10**9}, {"k": 10**9}, {"k": float("nan")}, {"prompt": "x" * 300_000},
     {"method": "rm"}, {"pair": "../x"}, {"tree": "[[0]", "method": "draft"}],
)  # fmt: skip
def test_wrong_values_are_one_sentence(page, wrong):
    for lang in LANGUAGES:
        *empty, told = written(page, lang=lang, **wrong)
        assert empty == ["", "", ""]
        assert 'role="alert"' in told
        assert len(told) < 500
        assert "unexpected" not in told.lower() or lang != "en"


def test_a_public_page_shows_no_folder_of_its_machine(tmp_path, page):
    values = page[1] | {"method": "draft", "pair": "custom"}
    folder = tmp_path / "my-target"
    folder.mkdir()
    for public in (False, True):
        runner = Runner(Options(target=str(folder), draft="hub/draft", public=public), load=None)
        parts = "".join(serve_handlers.written(runner, "en", "0.33", PAGE, 1, list(values.values())))
        assert (str(tmp_path) in parts) is not public
        assert "my-target" in parts
        assert "hub/draft" in parts
    bundled = Runner(Options(public=True), load=None)
    values = page[1] | {"method": "draft", "max_new_tokens": 20}
    parts = "".join(serve_handlers.written(bundled, "en", "0.33", PAGE, 1, list(values.values())))
    assert "HuggingFaceTB/SmolLM2-135M-Instruct" in parts
    assert "path/to/draft-model" in parts


def test_translating():
    code, told = serve_handlers.translated(
        "LLM('t', speculative_model='d', num_speculative_tokens=5, use_v2_block_manager=True)", "0.33", "zh-CN"
    )
    assert "speculative_config" in code
    assert told.count("<tr>") == 5
    assert "已取消" in told
    code, told = serve_handlers.translated("LLM(", "0.33", "en")
    assert code == ""
    assert "closing bracket" in told


def compared(url, trace, lang="en", public=False):
    options = Options(vllm_url=url, public=public)
    waiting, *_, done = serve_handlers.compare(Runner(options), trace, "a visitor", lang)
    assert [button["interactive"] for button in waiting[1:]] == [False, True]
    assert [button["interactive"] for button in done[1:]] == [True, False]
    return done[0]


def test_beside_a_server():
    trace = samples.sample(samples.FIRST)
    for lang in LANGUAGES:
        with running(FakeVllm()) as url:
            table = compared(url + "/v1", trace, lang)
        assert "8 / 52" in table
        assert "1.62" in table
        assert f"{sum(len(r.path) for r in trace.rounds)} / " in table
    assert "只有计数" in table
    nasty = tree_trace([(0,), (1,)], path=(0,))
    fake = FakeVllm()
    fake.stream = fake.stream.replace(b'"content":"I"', json.dumps({"content": NASTY})[1:-1].encode())
    with running(fake) as url:
        assert "<img" not in compared(url, nasty)


def test_a_model_with_a_strange_name_turns_nothing_round():
    fake = FakeVllm()
    fake.routes["/v1/models"] = (200, models("\u202eabc\x00"))
    with running(fake) as url:
        table = compared(url, samples.sample(samples.FIRST))
    assert not {"\u202e", "\x00"} & set(table)
    assert "U+202Eabc" in table


def test_a_comparison_that_cannot_be():
    trace = samples.sample(samples.FIRST)
    assert "no run to compare" in compared("http://127.0.0.1:9", None)
    assert "without a server" in compared(None, trace)
    down = compared("http://127.0.0.1:9", trace)
    assert "127.0.0.1:9" in down
    assert 'role="alert"' in down
    hidden = compared("http://127.0.0.1:9", trace, public=True)
    assert "127.0.0.1" not in hidden
    assert "does not answer" in hidden


def test_who_stops_it_or_leaves_hangs_up():
    """The second visitor's prompt waits for the first one's answer, and then has its turn."""
    fake, gone, trace = FakeVllm(), threading.Semaphore(0), samples.sample(samples.FIRST)

    def stream(handler):
        dribble(b'data: {"choices": [{"text": "bit."}]}\n\n', pause=0.01, seconds=30)(handler)
        gone.release()

    fake.stream = stream
    with running(fake) as url:
        runner = Runner(Options(vllm_url=url))
        first, second = (serve_handlers.compare(runner, trace, session, "en") for session in "ab")
        assert "Waiting" in next(first)[0]
        assert "bit." in next(first)[0]
        next(second)
        assert "Other prompts go first: 1" in next(second)[0]
        runner.stop("a", {serve_handlers.PLACE})
        *_, (told, ask, stop) = first
        assert "Stopped" in told
        assert (ask["interactive"], stop["interactive"]) == (True, False)
        assert any("bit." in news[0] for news in second)
        second.close()
        assert gone.acquire(timeout=10)
        assert gone.acquire(timeout=10)
        assert not runner.busy("a")
        assert not runner.busy("b")


def test_a_newer_comparison_takes_the_table_and_the_buttons_over():
    fake, trace = FakeVllm(), samples.sample(samples.FIRST)
    fake.stream = dribble(b'data: {"choices": [{"text": "bit."}]}\n\n', pause=0.01, seconds=30)
    with running(fake) as url:
        runner = Runner(Options(vllm_url=url))
        first, second = (serve_handlers.compare(runner, trace, "a", "en") for _ in range(2))
        next(first)
        assert "bit." in next(first)[0]
        next(second)
        next(second)
        assert list(first) == []
        assert any("bit." in news[0] for news in second)
        assert runner.stop("a", {serve_handlers.PLACE})
        *_, (told, ask, stop) = second
        assert "Stopped" in told
        assert (ask["interactive"], stop["interactive"]) == (True, False)


def test_a_server_that_stalls_does_not_hold_who_stops_it():
    fake, go_on, trace = FakeVllm(), threading.Event(), samples.sample(samples.FIRST)
    fake.stream = lambda _handler: go_on.wait(60)
    with running(fake) as url:
        runner = Runner(Options(vllm_url=url))
        news = serve_handlers.compare(runner, trace, "a", "en")
        next(news)
        threading.Timer(0.3, lambda: runner.stop("a", {serve_handlers.PLACE})).start()
        began = time.monotonic()
        assert "Stopped" in list(news)[-1][0]
        assert time.monotonic() - began < 10
        go_on.set()


def test_the_address_is_checked_at_the_start():
    assert Options(vllm_url="http://host:8000/v1/").vllm_url == "http://host:8000"
    with pytest.raises(SpecvizError, match="address of the vLLM server"):
        Options(vllm_url="host:8000")


def test_notes_are_said_once():
    a, b = Note("ui.stop"), Note("ui.run")
    assert serve_html.notes([a, b, a], "en").count("<li>") == 2
    assert serve_html.notes([], "en") == ""

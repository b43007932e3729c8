"""The exported page, opened from disk with the network off."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe

from specviz import export
from specviz.choices import of_profile
from specviz.i18n import ASSETS
from specviz.trace_json import load_trace
from tests.trees import NASTY, tree_trace

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page from a file: (page, requests, errors)."""
    contexts = []

    def open_(html, width=1280, **options):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 800}, offline=True, **options)
        contexts.append(context)
        page, asked, errors = context.new_page(), [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda entry: errors.append(entry.text) if entry.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        return page, asked, errors

    yield open_
    for context in contexts:
        context.close()


def until(page, condition):
    """As `wait_for_function`, which the page's policy does not let in."""
    for _ in range(600):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    raise AssertionError(condition)


@pytest.mark.parametrize(("name", "lang", "width"), [("sky", "en", 1280), ("tree", "zh-CN", 390)])
def test_a_run_plays_offline(opened, name, lang, width):
    trace = load_trace((ASSETS / "traces" / f"{name}.json").read_bytes())
    made = export.trace_page(trace, lang)
    assert made.size < export.MAX_BYTES
    page, asked, errors = opened(made.html, width)
    until(page, "SpecvizPage.cursor > 1")
    page.keyboard.press("End")
    until(page, "SpecvizPage.cursor === SpecvizPage.timeline.length")
    assert len(asked) == 1
    assert errors == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shown = json.loads(page.evaluate("JSON.stringify(SpecvizPage.trace)"))
    original = json.loads((ASSETS / "traces" / f"{name}.json").read_text(encoding="utf-8"))
    for one, other in zip(shown["rounds"], original["rounds"], strict=True):
        one.pop("layout", None)
        assert one == other
    page.click("#sh-toggle")
    assert page.locator("#sh-list section").count() == len(trace.rounds)


def test_nothing_in_a_trace_becomes_markup(opened):
    trace = tree_trace(of_profile((4, 7, 4, 1)), path=(0, 5), tried=(4, 13))
    assert any(text in token.text for token in trace.vocab for text in NASTY if "script" in text)
    page, asked, errors = opened(export.trace_page(trace, "en").html)
    page.wait_for_selector(".sv-tree-window")
    page.keyboard.press("End")
    page.click("#sh-toggle")
    assert errors == []
    assert len(asked) == 1
    assert page.locator("img, #sh-list b, #sh-list script").count() == 0
    assert page.evaluate("document.scripts.length") == 3  # the data, the stage, the page's own


@pytest.mark.parametrize("lang", ["en", "zh-CN"])
def test_a_lesson_plays_offline_by_keyboard(opened, lang):
    from specviz.lessons.book import book

    lesson = book()["lessons"][2]
    page, asked, errors = opened(export.lesson_page(lesson["id"], lang).html)
    until(page, "SpecvizPage.stage && SpecvizPage.stage.cursor > 0")
    assert page.inner_text(".sl-text h2").endswith(lesson["texts"][lang]["title"])
    for _ in lesson["pages"]:
        page.keyboard.press("n")
    page.wait_for_selector(".sl-choice")
    assert page.evaluate("SpecvizPage.answered") is False
    page.keyboard.press(str(lesson["right"] + 1))
    page.keyboard.press("Enter")
    page.wait_for_selector(".sl-answer .sl-yes")
    assert errors == []
    assert len(asked) == 1


def test_on_paper_every_round_is_there(opened, tmp_path):
    trace = load_trace((ASSETS / "traces" / "sky.json").read_bytes())
    page, _, errors = opened(export.trace_page(trace, "en").html)
    until(page, "SpecvizPage.cursor > 0")
    assert not page.is_visible("#sh-list")
    page.emulate_media(media="print")
    assert page.is_visible("#sh-list")
    assert not page.is_visible("#sh-play")
    assert page.locator("#sh-list section:visible").count() == len(trace.rounds)
    assert errors == []


def test_without_scripts_the_list_is_there(opened):
    trace = load_trace((ASSETS / "traces" / "repeat.json").read_bytes())
    page, _, _ = opened(export.trace_page(trace, "en").html, java_script_enabled=False)
    assert page.is_visible("#sh-list")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(opened, scheme):
    # axe itself must run in it, and its policy forbids every script that is not its own
    html = export.lesson_page("nothing-lost", "en").html.replace("Content-Security-Policy", "x-none")
    page, _, _ = opened(html, color_scheme=scheme, reduced_motion="reduce")
    until(page, "SpecvizPage.stage && SpecvizPage.stage.cursor > 0")
    page.click("#sh-toggle")
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []

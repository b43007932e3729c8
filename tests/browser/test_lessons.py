"""The Learn tab: every lesson by keyboard alone, in both languages; presenting with a clicker; links; "try it live"."""

import pytest

from specviz.lessons.book import listed
from specviz.lessons.records import lessons

pytestmark = pytest.mark.browser
READY = "globalThis.SpecvizApp && SpecvizApp.peekLessons() && SpecvizApp.peekLessons().settled"


def open_lessons(visit, query):
    visit.page.goto(visit.address + query)
    visit.page.wait_for_function(READY)
    return visit.page


def state(page):
    return page.evaluate("SpecvizApp.peekLessons()")


def until(page, condition):
    page.wait_for_function(f"() => {{ const s = SpecvizApp.peekLessons(); return {condition}; }}")


@pytest.mark.parametrize(("lang", "width"), [("en", 1280), ("zh-CN", 390)])
def test_all_lessons_by_keyboard_alone(make_visit, lang, width):
    page = open_lessons(make_visit(width=width, reduced_motion="reduce"), f"?tab=learn&lang={lang}")
    assert page.locator(".sl-list li button").count() == 12
    for number, (row, lesson) in enumerate(zip(listed(), lessons(), strict=True)):
        until(page, f"s.lesson === '{row['id']}' && s.step === 1")
        assert row["title"][lang] in page.inner_text(".sl-text h2")
        for _ in lesson.pages:
            assert page.inner_text(".sl-page")
            page.keyboard.press("n")
        until(page, "s.asking && s.settled")
        assert page.locator(".sl-answer").count() == 0  # nothing is told before an answer was given
        page.keyboard.press("Enter")
        assert not state(page)["answered"]
        asked_at = state(page)["cursor"]
        page.keyboard.press("Shift+ArrowRight")  # nor does the stage go on to it
        page.keyboard.press("End")
        assert state(page)["cursor"] <= asked_at
        right = lesson.asked().right
        page.keyboard.press(str(right + 1))
        page.keyboard.press("Enter")
        until(page, "s.answered")
        told = page.inner_text(".sl-choice.sl-right").replace("\n", " ")
        assert page.locator(".sl-choice.sl-wrong").count() == 0
        assert row["answer"][lang].split()[-1] in told
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert str(number + 1) in page.locator(".sl-list > summary").text_content()
        page.keyboard.press("n")
    page.reload()
    page.wait_for_function(READY)
    assert page.locator(".sl-list li button.sl-right").count() == 12  # kept in the browser


def test_the_stage_stops_before_the_answer(visit):
    page = open_lessons(visit, "?lesson=accept-or-reject&step=3")
    stops = state(page)["cursor"]
    for key in ("ArrowRight", "Shift+ArrowRight", "End", "Space"):
        page.keyboard.press(key)
        page.wait_for_timeout(100)
        assert state(page)["cursor"] == stops
    assert "rejected" not in page.inner_text(".sl-stage .sv-sentence")
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_function(f"SpecvizApp.peekLessons().cursor < {stops}")  # what has been can be seen again


def test_presenting_with_a_clicker_and_a_show_of_hands(visit):
    page = open_lessons(visit, "?lesson=3&step=2&lang=en&present=1")
    assert not page.is_visible(".sv-top")
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.sl-text')).fontSize)") >= 20
    page.keyboard.press("PageDown")
    until(page, "s.asking")
    page.keyboard.press("PageDown")
    assert page.inner_text(".sl-hint")
    page.click(".sl-controls .sl-plain")
    page.keyboard.type("18")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.locator(".sl-hands").nth(1).fill("7")
    page.keyboard.press("PageDown")
    until(page, "s.answered")
    told = page.inner_text(".sl-poll-told")
    asked = next(lesson for lesson in lessons() if lesson.id == "accept-or-reject").asked()
    assert "25" in told
    assert f"{asked.u:.2f}" in told
    assert f"{asked.bar:.2f}" in told
    assert not page.is_visible(".sl-notes")
    page.keyboard.press("s")
    assert page.is_visible(".sl-notes p")
    page.keyboard.press("PageDown")
    until(page, "s.lesson === 'the-leftover' && s.step === 1")
    page.keyboard.press("PageUp")
    until(page, "s.lesson === 'accept-or-reject' && s.asking")
    page.keyboard.press("Escape")
    assert page.is_visible(".sv-top")


def test_hands_put_themselves_right_and_a_tie_is_no_answer(visit):
    page = open_lessons(visit, "?lesson=3&step=3&lang=zh-CN")
    page.click(".sl-controls .sl-plain")
    fields = page.locator(".sl-hands")
    for typed, counted in (("-5", ""), ("99999", "9999"), ("2.5", "2"), ("1e2", "100")):
        fields.nth(0).fill(typed)
        page.keyboard.press("Tab")
        assert fields.nth(0).input_value() == counted
    fields.nth(1).fill("100")
    page.keyboard.press("Enter")
    assert "不止一个" in page.inner_text(".sl-hint")
    fields.nth(1).fill("-7")
    assert page.inner_text(".sl-hint") == ""
    page.keyboard.press("Enter")  # the browser has nothing to say about it, in whatever language
    until(page, "s.answered")
    assert "100" in page.inner_text(".sl-poll-told")


def test_the_focus_is_never_lost(visit):
    page = open_lessons(visit, "?lesson=3&step=3&lang=en")

    def focused():
        return page.evaluate(
            "document.activeElement.closest('.sl-answer, .sl-text h2, .sl-plain')?.className ?? 'lost'"
        )

    page.keyboard.press("2")
    page.focus(".sl-controls .sl-main")
    page.keyboard.press("Enter")
    assert focused() == "sl-answer"  # so that it is read aloud
    told_at = state(page)["cursor"]
    page.keyboard.press("Shift+ArrowLeft")  # and the arrows still are the stage's
    page.wait_for_function(f"SpecvizApp.peekLessons().cursor < {told_at}")
    page.focus(".sl-side button")
    page.keyboard.press("Enter")
    until(page, "s.presenting")
    assert focused() == ""  # the heading
    page.keyboard.press("Escape")
    page.click(".sl-answer ~ .sl-controls button")
    assert focused() == ""
    for _ in range(2):
        page.focus(".sl-controls .sl-plain")
        page.keyboard.press("Enter")
    assert focused() == "sl-plain"


def test_links_language_and_terms(visit):
    page = open_lessons(visit, "?lesson=7&step=2&lang=zh-CN")
    assert state(page)["lesson"] == "cache-and-rollback"
    assert "回滚" in page.inner_text(".sl-page")
    page.click("#sv-lang label >> nth=0")
    page.wait_for_function("document.querySelector('.sl-page').innerText.includes('rolled back')")
    assert state(page)["step"] == 2
    assert "lesson=cache-and-rollback&step=2" in page.url
    assert "lang=en" in page.url
    page.locator(".sl-page .sv-term").first.focus()
    assert "rejected tokens" in page.inner_text(".sl-text .sv-bubble")
    page.click("#sv-tab-step-button")
    page.wait_for_selector("#sv-prompt", state="visible")
    assert "lesson" not in page.url
    assert not page.is_visible(".sl-text")


def test_try_it_live_fills_in_the_settings(visit):
    page = open_lessons(visit, "?lesson=candidate-trees&step=3&lang=en")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.click(".sl-live")
    page.wait_for_selector("#sv-tab-tree-button[aria-selected=true]")
    lesson = next(lesson for lesson in lessons() if lesson.id == "candidate-trees")
    prompt, config = lesson.settings()
    page.wait_for_function("document.activeElement.id === 'sv-run'")
    assert page.input_value("#sv-prompt textarea") == prompt
    assert page.input_value("#sv-temperature input") == f"{config.temperature:g}"
    assert page.input_value("#sv-tree :is(input, textarea)").count("[") == len(config.tree) + 1


def test_a_link_to_a_lesson_that_does_not_exist_says_so(visit):
    page = open_lessons(visit, "?lesson=../x&lang=en")
    assert "does not exist" in page.inner_text(".sl-missing")
    page.click("text=简体中文")
    page.wait_for_selector(".sl-missing >> text=不存在")
    page.keyboard.press("n")
    page.wait_for_function("!document.querySelector('.sl-missing').textContent")

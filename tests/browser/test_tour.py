"""The tour of a first visit: four steps by keyboard, once, and only on the plain page."""

import pytest

pytestmark = pytest.mark.browser

CARD = ".sv-tour-card"


def titles(page):
    return page.inner_text(f"{CARD} h2")


@pytest.mark.parametrize(("locale", "width"), [("en-US", 1280), ("zh-CN", 390)])
def test_four_steps_by_keyboard_and_never_again(make_visit, locale, width):
    visit = make_visit(width=width, tour=True, locale=locale, reduced_motion="reduce").open()
    page = visit.page
    page.wait_for_selector(CARD)
    seen = [titles(page)]
    for key in ("Enter", "ArrowRight", "ArrowLeft", "Enter", "Enter"):
        page.keyboard.press(key)
        seen.append(titles(page))
    first, second, third, again, third_again, fourth = seen
    assert (second, third) == (again, third_again)
    assert len({first, second, third, fourth}) == 4
    assert ("真实" in first) == (locale == "zh-CN")
    box = page.locator(CARD).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Enter")
    page.wait_for_selector(CARD, state="detached")
    assert page.evaluate("[...document.body.children].every((node) => !node.inert)")
    again = page.context.new_page()
    again.goto(visit.address)
    again.wait_for_selector(".sv-host.sv")
    again.wait_for_function("SpecvizApp.peek('main').cursor > 1")
    assert again.locator(CARD).count() == 0


def test_the_focus_stays_inside_and_escape_ends_it(make_visit):
    visit = make_visit(tour=True).open()
    page = visit.page
    page.wait_for_selector(CARD)
    assert page.get_attribute(CARD, "aria-modal") == "true"
    for _ in range(5):
        page.keyboard.press("Tab")
        assert page.evaluate("(card) => document.querySelector(card).contains(document.activeElement)", CARD)
    page.keyboard.press("Space")  # presses the button that has the focus, and not play or pause
    page.keyboard.press("Escape")
    page.wait_for_selector(CARD, state="detached")
    visit.until("s.view.playing")  # the run went on behind it


@pytest.mark.parametrize("query", ["?tour=0", "?tab=tree", "?lesson=1", "?lesson=1&present=1", "?k=3"])
def test_it_does_not_come_on_a_link(make_visit, query):
    visit = make_visit(tour=True)
    visit.page.goto(visit.address + query)
    visit.page.wait_for_selector(".sv-host.sv", state="attached")
    visit.page.wait_for_function("globalThis.SpecvizApp && document.body.dataset.svTab")
    assert visit.page.locator(CARD).count() == 0
    assert visit.page.evaluate("localStorage.getItem('specviz.tour')") is None

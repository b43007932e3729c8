"""The Proof tab in a browser: a bar is dragged and the numbers move, by mouse and by keyboard; a fault turns it red."""

import pytest

pytestmark = pytest.mark.browser


def choose(page, field, nth):
    page.click(f"{field} input")
    page.click(f"ul[role=listbox] li >> nth={nth}")


def value(page, bar):
    return float(page.get_attribute(f"[data-key={bar}]", "aria-valuenow"))


def settled(page, selector):
    """Where it stands once the page around it has stopped moving."""
    box, before = page.locator(selector).bounding_box(), None
    while box != before:
        page.wait_for_timeout(300)
        box, before = page.locator(selector).bounding_box(), box
    return box


@pytest.mark.parametrize(("width", "lang"), [(1280, "en"), (390, "zh-CN")])
def test_bars_and_numbers(make_visit, width, lang):
    visit = make_visit(width=width)
    page = visit.page
    page.goto(f"{visit.address}?tab=proof&lang={lang}")
    page.wait_for_selector("[data-key=p-0]")
    assert value(page, "p-0") == 0.3
    told = page.inner_text(".pf-sentence")

    box = settled(page, "[data-key=p-0]")
    x, bottom = box["x"] + box["width"] / 2, box["y"] + box["height"]
    page.mouse.move(x, bottom - 0.3 * box["height"])
    page.mouse.down()
    page.mouse.move(x, bottom - 0.6 * box["height"], steps=4)
    page.mouse.up()
    assert value(page, "p-0") == pytest.approx(0.6, abs=0.02)
    assert sum(value(page, f"p-{i}") for i in range(5)) == pytest.approx(1, abs=0.003)
    assert page.inner_text(".pf-sentence") != told

    before = value(page, "q-4")
    page.focus("[data-key=q-4]")
    page.keyboard.press("ArrowUp")
    assert value(page, "q-4") == pytest.approx(before + 0.01)
    page.keyboard.press("Home")
    assert value(page, "q-4") == 0
    sums = page.locator(".pf-table tfoot td").all_inner_texts()
    assert sums[0] == sums[1] == sums[-1] == "1.000"
    assert float(sums[2]) + float(sums[3]) == pytest.approx(1, abs=0.002)
    page.wait_for_function("/4[,.]?000/.test(document.querySelector('.pf-told').textContent)")  # the server's draws
    assert page.locator(".pf-curve .pf-freq").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not page.is_visible("#sv-stage-main")


def test_draws_are_those_of_the_last_change(visit):
    page = visit.page
    asked = []

    def late(route):
        if '"seed"' not in (route.request.post_data or ""):
            return route.continue_()
        asked.append(route.request.post_data_json["event_data"])
        page.wait_for_timeout(2000)
        return route.continue_()

    page.route("**/queue/join*", late)
    page.goto(f"{visit.address}?tab=proof&lang=en")
    page.wait_for_selector("[data-key=p-0]")
    for preset in ("good", "equal"):
        page.click(f"[data-key=preset-{preset}]")
        page.wait_for_timeout(700)
    page.wait_for_function("document.querySelector('.pf-told').textContent.includes('100.0 %')")
    assert asked[-1]["p"] == asked[-1]["q"]


def test_paused_draws_go_on_where_they_were(visit):
    page = visit.page
    page.goto(f"{visit.address}?tab=proof&lang=en")
    drawn = (
        "() => Number((document.querySelector('.pf-told')?.textContent.match(/[\\d,]+/) ?? ['0'])[0].replace(',', ''))"
    )
    page.wait_for_function(f"({drawn})() > 50")
    page.click("[data-key=toggle]")
    before = page.evaluate(drawn)
    assert before < 4000
    page.wait_for_timeout(300)
    assert page.evaluate(drawn) == before
    page.evaluate("globalThis.least = Infinity")
    page.evaluate(
        f"new MutationObserver(() => {{ least = Math.min(least, ({drawn})()); }})"
        ".observe(document.querySelector('.pf-told'), {childList: true, characterData: true, subtree: true})"
    )
    page.click("[data-key=toggle]")
    page.wait_for_function(f"({drawn})() > {before}")
    assert page.evaluate("least") >= before


def test_only_the_main_button_drags(visit):
    page = visit.page
    page.goto(f"{visit.address}?tab=proof&lang=en")
    page.wait_for_selector("[data-key=p-0]")
    box = settled(page, "[data-key=p-0]")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10, button="right")
    assert value(page, "p-0") == 0.3


def test_another_language_in_the_middle_of_a_check(visit):
    page = visit.page
    page.goto(f"{visit.address}?tab=proof&lang=en")
    page.wait_for_selector("[data-key=p-0]")
    page.fill("#sv-pf-runs input", "20000")
    page.click("#sv-pf-run")
    told = "document.querySelector('#sv-pf-verdict').textContent"
    page.wait_for_function(f"{told}.includes('of 20000')")
    page.wait_for_selector("#sv-pf-stop:not([disabled])")
    page.click("#sv-lang label >> nth=1")
    page.wait_for_function(f"{told}.includes('/ 20000 次，目前')")
    page.click("#sv-pf-stop")
    page.wait_for_function(f"{told}.includes('停止')")
    assert "first token" not in page.inner_text("#sv-pf-details")


def test_a_planted_fault_turns_the_check_red_and_the_right_engine_green(visit):
    page = visit.page
    page.goto(f"{visit.address}?tab=proof&lang=en")
    page.wait_for_selector("[data-key=p-0]")
    assert not page.is_visible("#sv-pf-prompt")
    choose(page, "#sv-pf-fault", 5)
    page.fill("#sv-pf-runs input", "800")
    page.click("#sv-pf-run")
    page.wait_for_selector(".pf-verdict.pf-caught", timeout=180_000)
    page.wait_for_selector("#sv-pf-figure .js-plotly-plot .point")
    assert "differs" in page.inner_text("#sv-pf-details")
    page.wait_for_selector("#sv-pf-run:not([disabled])")
    page.click("#sv-lang label >> nth=1")
    page.wait_for_function("document.querySelector('#sv-pf-verdict').textContent.includes('抓到')")
    page.wait_for_function("document.querySelector('[data-key=word-0]').textContent === '天空'")
    choose(page, "#sv-pf-fault", 0)
    page.fill("#sv-pf-runs input", "200")
    page.click("#sv-pf-run")
    page.wait_for_selector(".pf-verdict.pf-passed", timeout=180_000)

"""The Race tab as a visitor meets it: a real race, replayed on its clocks, explained, in both languages."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.pair]


def race(visit):
    return visit.page.evaluate("SpecvizApp.peekRace()")


def until(visit, condition):
    visit.page.wait_for_function(
        f"() => {{ const r = SpecvizApp.peekRace(); return r && {condition}; }}", timeout=180_000
    )
    return race(visit)


def start(visit, most=12):
    visit.page.wait_for_selector(".sv-state-ready", state="attached", timeout=240_000)
    visit.page.fill("#sv-most input", str(most))
    visit.page.keyboard.press("Tab")
    visit.page.click("#sv-race-go")


def test_a_race_is_replayed_and_explained(make_visit):
    visit = make_visit(width=1280).open("?tab=race")
    page = visit.page
    page.wait_for_selector("#sv-method")
    assert not page.is_visible("#sv-stage-main")
    start(visit)
    raced = until(visit, "r.race && r.playing")
    total = [sum(len(r["tokens"]) for r in lane["rounds"]) for lane in raced["race"]["lanes"]]
    assert total == [12, 12]
    page.click(".sr-play")
    standing = until(visit, "!r.playing")
    if standing["at"] < standing["total"]:  # it was not over yet: in the middle some tokens are not there
        assert standing["shown"] != total
        assert page.locator(".sr-text .sr-own:visible, .sr-text .sr-accepted:visible").count() == sum(standing["shown"])
    page.locator(".sr-scrub").focus()
    page.keyboard.press("End")
    assert until(visit, "r.at === r.total")["shown"] == total
    assert page.inner_text(".sr-outcome").strip()
    page.wait_for_selector("#sv-race-ladder .js-plotly-plot .bars")
    assert "Checking" in page.inner_text("#sv-race-formula")
    assert page.inner_text("#sv-race-why li")
    assert page.locator("#sv-race-table tbody tr").count() == 1

    page.click("#sv-lang label >> nth=1")
    page.wait_for_function("document.querySelector('#sv-race-formula').textContent.includes('检验')")
    page.wait_for_function("document.querySelector('.sr-play').textContent.includes('播放')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280

    page.click("#sv-tab-step-button")
    page.wait_for_selector("#sv-stage-main", state="visible")
    assert not page.is_visible("#sv-race-go")


def test_one_button_races_where_drafting_pays(make_visit):
    visit = make_visit(width=1280).open("?tab=race")
    page = visit.page
    page.wait_for_selector(".sv-state-ready", state="attached", timeout=240_000)
    page.fill("#sv-most input", "24")
    page.keyboard.press("Tab")
    page.click("#sv-race-copy")
    raced = until(visit, "r.race")["race"]
    plain, fast = (lane["rounds"] for lane in raced["lanes"])
    assert raced["method"] == "lookup"
    assert [x for one in plain for x in one["tokens"]] == [x for one in fast for x in one["tokens"]]
    assert 3 * len(fast) < len(plain) == 24
    assert page.input_value("#sv-prompt textarea").startswith("Copy this text")
    assert page.is_enabled("#sv-race-go")
    assert page.is_enabled("#sv-race-copy")

    page.fill("#sv-most input", "300")
    page.keyboard.press("Tab")
    page.click("#sv-race-go")
    page.wait_for_selector(".sr-host.sr-busy")
    page.click("#sv-race-stop")
    until(visit, "r.status && r.status.kind === 'stopped'")
    page.wait_for_selector(".sr-host:not(.sr-busy)")  # the race before is on show again
    assert race(visit)["race"]["method"] == "lookup"


def test_who_wants_no_motion_sees_the_end_on_a_phone_too(make_visit):
    visit = make_visit(width=390, reduced_motion="reduce").open("?tab=race&lang=zh-CN")
    start(visit, most=8)
    visit.page.click("#sv-lang label >> nth=0")  # while it runs: the end is told in English
    ended = until(visit, "r.race")
    assert ended["playing"] is False
    assert ended["shown"] == [8, 8]
    visit.page.wait_for_function("document.querySelector('#sv-race-formula').textContent.includes('Checking')")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390

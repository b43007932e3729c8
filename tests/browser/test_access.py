"""Nobody is locked out: axe-core over every tab, in light and dark and both languages, with everything unfolded.

axe leaves a contrast open where something lies behind or before a text; those are measured in contrast.js.
"""

from itertools import pairwise
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

TABS = {  # and what is there once the tab is
    "step": "#sv-stage-main .sv-board",
    "tree": "#sv-p-rows tr >> nth=1",
    "race": "#sv-race-go",
    "proof": "#sv-toy .pf-slider",
    "learn": "#sv-course .sl-text h2",
    "serve": "#sv-vllm-version input",
}
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
OPTIONS = {"resultTypes": ["violations", "incomplete"]}
# Rules that are not asked for, and why. Nothing of ours is excluded.
EXCLUDED: dict[str, str] = {}
UNFOLD = """() => {
  const shown = (node) => node && node.offsetParent;
  for (const id of ['sv-more-button', 'sv-edit-button']) {
    const button = document.getElementById(id);
    if (shown(button) && button.getAttribute('aria-expanded') !== 'true') button.click();
  }
  for (const button of document.querySelectorAll('.sv-panel > button:not(.open)')) if (shown(button)) button.click();
  for (const fold of document.querySelectorAll('details')) if (shown(fold)) fold.open = true;
}"""


def faults(page):
    """Serious and critical violations, and contrasts that are too weak, each as one line."""
    result = Axe().run(page, options=OPTIONS).response
    found = [
        f"{one['impact']} {one['id']}: {node['target']} {node['html'][:120]}"
        for one in result["violations"]
        if one["impact"] in ("serious", "critical") and one["id"] not in EXCLUDED
        for node in one["nodes"]
    ]
    open_ = [
        node["target"][0]
        for one in result["incomplete"]
        if one["id"] == "color-contrast"
        for node in one["nodes"]
        if isinstance(node["target"][0], str)
    ]
    return found + [f"contrast {weak}" for weak in page.evaluate(CONTRAST, open_)]


def test_the_language_can_be_switched_by_keyboard_alone(make_visit):
    visit = make_visit().open("?lang=en")
    page = visit.page
    visit.until("s.cursor > 1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#sv-lang') !== null")  # the first thing on the page
    assert "语言" in page.inner_text("#sv-lang")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.wait_for_function("document.documentElement.lang === 'zh-CN'")


def show(visit, tab):
    visit.page.click(f"#sv-tab-{tab}-button")
    visit.page.wait_for_selector(f"#sv-tab-{tab}-button[aria-selected=true]")
    visit.page.wait_for_selector(TABS[tab])
    visit.page.evaluate(UNFOLD)


def play(visit):
    """To a round with a rejection, a token pinned, the list of keys open."""
    visit.until("s.cursor > 0")
    visit.page.locator("#sv-stage-main .sv-host").focus()
    for key in (*["Shift+ArrowRight"] * 3, "ArrowDown", "?"):
        visit.page.keyboard.press(key)
    visit.until("s.position !== null")


@pytest.mark.parametrize(("scheme", "lang"), [("light", "en"), ("dark", "zh-CN")])
def test_no_tab_has_a_serious_fault(make_visit, scheme, lang):
    visit = make_visit(color_scheme=scheme, reduced_motion="reduce").open(f"?lang={lang}")
    page = visit.page
    play(visit)
    assert set(TABS) == {button.get_attribute("id")[7:-7] for button in page.locator("#sv-tabs [role=tab]").all()}
    found = {}
    for tab in TABS:
        show(visit, tab)
        found[tab] = faults(page)
    visit = make_visit(color_scheme=scheme, reduced_motion="reduce").open(f"?lang={lang}&tab=tree")  # drafts are trees
    visit.until("s.trace.config.tree.length")  # the recorded tree takes the first run's place, and its selection
    play(visit)
    visit.page.wait_for_selector("#sv-stage-main .sv-tree-window")
    found["trees"] = faults(visit.page)
    assert found == {tab: [] for tab in found}


def test_the_checks_can_fail(visit):
    visit.open()
    visit.page.evaluate("""() => {
      const put = (html) => document.querySelector('main').insertAdjacentHTML('beforeend', html);
      put('<button id="nameless"></button><img src="data:," id="wordless">');
      put('<p style="color:#aaa;background:#fff">weak</p>');
      put('<p id="behind" style="color:#999;position:relative">weak and open</p>');
    }""")
    found = "\n".join(faults(visit.page))
    assert "button-name" in found
    assert "image-alt" in found
    assert "color-contrast" in found
    weak = visit.page.evaluate(CONTRAST, ["#behind", "h1.sv-name"])
    assert [one["text"] for one in weak] == ["weak and open"]


def test_every_round_is_said_to_screen_readers(make_visit):
    visit = make_visit(reduced_motion="reduce").open("?lang=en")
    page = visit.page
    visit.until("s.cursor > 0")
    page.locator("#sv-stage-main .sv-host").focus()
    page.keyboard.press("Home")
    heard = page.locator("#sv-stage-main .sv-header [aria-live=polite].sv-hidden")
    rounds = visit.stage()["trace"]["rounds"]
    said = []
    for _ in rounds:
        page.keyboard.press("Shift+ArrowRight")
        said.append(heard.text_content())
    for i, (one, text) in enumerate(zip(rounds, said, strict=True)):
        accepted = "all" if len(one["path"]) == len(one["draft"]["tokens"]) else len(one["path"])
        assert text.startswith(f"Round {i + 1}: {len(one['draft']['tokens'])} drafted, {accepted} accepted"), text
    assert any("rejected: p 0." in text and ", u 0." in text and "recovered" in text for text in said)
    page.keyboard.press("ArrowLeft")  # inside a round the step is said, and not the round before
    assert heard.text_content() == ""


FOCUSED = """() => {
  const node = document.activeElement, box = node.getBoundingClientRect();
  const around = [node, node.closest('label, .container, .wrap')].filter(Boolean).map((one) => getComputedStyle(one));
  const ringed = ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
  const seen = around.some((style) => ringed(style) || style.boxShadow !== 'none');
  const field = /^(INPUT|TEXTAREA)$/.test(node.tagName); // its border changes, and the caret stands in it
  const name = node.id || node.className || node.tagName;
  return { top: box.top + scrollY, left: box.left, seen: seen || field, name, body: node === document.body };
}"""


def test_the_focus_is_seen_and_goes_through_the_page_in_its_order(visit):
    visit.open()
    visit.until("s.cursor > 2")
    visit.page.keyboard.press("Space")
    visit.until("!s.view.playing")
    visit.page.evaluate("document.activeElement.blur()")
    places, unseen = [], []
    for _ in range(36):
        visit.page.keyboard.press("Tab")
        place = visit.page.evaluate(FOCUSED)
        assert not place["body"], places
        places.append((place["top"], place["left"]))
        if not place["seen"]:
            unseen.append(place["name"])
    assert unseen == []
    # downwards, or to a column further right; parts of one row may differ a little in height
    assert [(a, b) for a, b in pairwise(places) if b[0] < a[0] - 100 and b[1] <= a[1]] == []

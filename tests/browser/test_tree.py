"""The Tree tab, on a tree that a visitor brings along: the panels follow the stage, in both languages, at any width."""

import pytest

from specviz.choices import of_profile
from specviz.trace_json import dump_trace
from tests.trees import tree_trace

pytestmark = pytest.mark.browser

NODE = {"en": "node {}", "zh-CN": "节点 {}"}


@pytest.fixture
def file(tmp_path):
    trace = tree_trace(of_profile((4, 7, 4, 1)), path=(0, 5), tried=(4, 13))
    path = tmp_path / "tree.json"
    path.write_text(dump_trace(trace), encoding="utf-8")
    return path


def open_file(page, file):
    # after the recorded tree, which comes by itself
    page.wait_for_function("() => SpecvizApp.peek('main').trace?.config.tree.length")
    with page.expect_file_chooser() as chooser:
        page.click("#sv-open")
    chooser.value.set_files(file)


def open_tree(visit, file):
    """The file's tree of 16 nodes, once it has its places on the screen."""
    open_file(visit.page, file)
    visit.until("s.trace && s.trace.config.tree.length === 16 && s.trace.rounds[0].layout")


def select(visit, presses):
    """The node that so many presses of the arrow key lead to."""
    visit.page.locator("#sv-stage-main .sv-host").focus()
    for _ in range(presses):
        visit.page.keyboard.press("ArrowDown")
    return visit.until("s.position !== null")["position"]


def told(visit, position, lang):
    visit.page.wait_for_function(
        "(text) => document.querySelector('#sv-tree-place')?.textContent.includes(text)",
        arg=NODE[lang].format(position + 1),
    )


@pytest.mark.parametrize(("width", "lang", "other"), [(1280, "en", "zh-CN"), (390, "zh-CN", "en")])
def test_the_panels_follow_the_selected_node(make_visit, file, width, lang, other):
    visit = make_visit(width=width).open(f"?lang={lang}&tab=tree")
    page = visit.page
    page.wait_for_selector("#sv-tab-tree-button[aria-selected=true]")
    open_tree(visit, file)
    page.wait_for_selector("#sv-p-rows tr >> nth=17")  # the heads, the text's last token, 16 nodes
    page.wait_for_selector("#sv-p-mask .js-plotly-plot .hm", state="attached")

    position = select(visit, 3)
    told(visit, position, lang)
    assert page.locator("#sv-p-rows tr.sv-p-on").count() == 1
    assert page.locator("#sv-p-paths li.sv-p-on").count() >= 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    assert not page.is_visible("#sv-edit")  # folded: graph and transport come first
    page.click("#sv-edit-button")
    tree = page.input_value("#sv-tree input")
    page.click("#sv-branch-add")
    page.wait_for_function("(old) => document.querySelector('#sv-tree input').value.length > old.length", arg=tree)
    page.wait_for_function("document.querySelector('#sv-tree-told').textContent.includes('17')")

    page.click(f"#sv-lang label >> nth={['en', 'zh-CN'].index(other)}")
    told(visit, position, other)
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.click("#sv-tab-step-button")
    page.wait_for_selector("#sv-whatif", state="visible")
    assert not page.is_visible("#sv-p-rows")
    assert visit.stage()["position"] == position  # one stage for both tabs
    page.click("#sv-tab-tree-button")
    page.wait_for_selector("#sv-p-rows", state="visible")


def in_sight(page, selector):
    """Whether a part lies in the window as a whole."""
    box, size = page.locator(selector).bounding_box(), page.viewport_size
    return box["y"] >= 0 and box["y"] + box["height"] <= size["height"] + 1


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_tab_opens_with_a_recorded_tree_that_plays(make_visit, width, height):
    visit = make_visit(width=width, height=height).open()
    assert not visit.stage()["trace"]["config"]["tree"]
    # by script, for a click by Playwright can scroll the page itself
    visit.page.wait_for_selector("#sv-tab-tree-button").evaluate("button => button.click()")
    visit.until("s.trace.config.tree.length && s.view.playing && s.view.phase === 'pass'")
    assert visit.page.evaluate("scrollY") == 0  # nobody has asked for it
    visit.page.keyboard.press("Space")
    visit.until("!s.view.playing")
    visit.page.keyboard.press("ArrowRight")
    visit.page.wait_for_timeout(800)  # the page has scrolled
    assert in_sight(visit.page, ".sv-tree-window")
    assert in_sight(visit.page, ".sv-transport")


def test_the_page_is_the_readers_to_scroll_while_the_tree_plays(make_visit):
    visit = make_visit(height=720).open("?tab=tree")
    page = visit.page
    visit.until("s.trace.config.tree.length && s.view.playing")
    page.locator("#sv-stage-main .sv-host").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Space")  # asked for, so the page follows
    page.wait_for_function("scrollY > 60")
    page.wait_for_timeout(800)
    page.mouse.move(300, 20)
    for _ in range(20):  # one turn of the wheel can get lost in a scrolling that is under way
        page.mouse.wheel(0, -600)
        page.wait_for_timeout(300)
        if page.evaluate("scrollY") == 0:
            break
    began = visit.stage()["cursor"]
    visit.until(f"s.view.playing && s.cursor > {began} + 3")
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("ArrowRight")  # asked for again
    page.wait_for_function("scrollY > 60")

    page.keyboard.press("Space")
    visit.until("s.view.playing")
    page.evaluate("document.querySelector('#sv-edit-button').click()")
    visit.until("!s.view.playing")  # who edits is not hurried


def test_the_cache_is_shown_where_the_gates_were(make_visit):
    visit = make_visit(height=720).open("?tab=tree&lang=en")
    page = visit.page
    visit.until("s.trace.config.tree.length && s.view.phase === 'draft'")
    page.click(".sv-phases button >> nth=4")
    page.wait_for_selector(".sv-caches")
    page.wait_for_timeout(800)
    for side in page.locator(".sv-caches .sv-gather").all():
        box, bar = side.bounding_box(), page.locator(".sv-transport").bounding_box()
        assert box["y"] + box["height"] <= bar["y"]
    assert page.locator(".sv-cache-line > span").all_inner_texts() == ["before", "after"] * 2
    assert in_sight(page, ".sv-run")  # the text, above the tree


def test_a_node_that_was_taken_out_is_no_longer_described(visit, file):
    visit.open("?tab=tree&lang=en")
    page = visit.page
    open_tree(visit, file)
    page.click("#sv-edit-button")
    position = select(visit, 6)
    told(visit, position, "en")
    page.click("#sv-branch-remove")
    page.wait_for_selector(".sv-preview")
    visit.until("s.position === null")
    page.wait_for_function("document.querySelector('#sv-tree-place').textContent.includes('Select a node')")


def test_what_a_visitor_has_filled_in_stays(visit):
    visit.open()
    visit.page.fill("#sv-prompt textarea", "My own prompt")
    visit.page.click("#sv-tab-tree-button")
    visit.page.wait_for_selector("#sv-p-paths li")
    visit.page.wait_for_timeout(500)
    assert visit.page.input_value("#sv-prompt textarea") == "My own prompt"
    assert not visit.stage()["trace"]["config"]["tree"]


@pytest.mark.parametrize("width", [1280, 390])
def test_an_edited_tree_is_seen_before_it_is_run(make_visit, file, width):
    visit = make_visit(width=width).open("?tab=tree&lang=en")
    page = visit.page
    open_tree(visit, file)
    page.click("#sv-edit-button")
    page.click("#sv-branch-add")
    page.wait_for_selector(".sv-preview .sv-node.sv-new")
    assert page.locator(".sv-preview .sv-node").count() == 17
    assert "not run yet" in page.inner_text(".sv-preview .sv-tree-bar")
    page.locator(".sv-preview .sv-node.sv-new").click()  # a branch goes on from one that is new itself
    page.wait_for_function("document.querySelector('#sv-tree-told').textContent.includes('level 1, no. 5')")
    page.click("#sv-branch-add")
    page.wait_for_function("document.querySelectorAll('.sv-preview .sv-node.sv-new').length === 2")
    page.click("#sv-branch-remove")
    page.wait_for_selector(".sv-preview", state="detached")  # the tree of the run again
    page.click("#sv-shape input")
    page.click("ul[role=listbox] li >> nth=1")
    page.wait_for_selector(".sv-preview")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#sv-stage-main .sv-host").focus()
    page.keyboard.press("ArrowRight")  # the run goes on
    page.wait_for_selector(".sv-preview", state="detached")
    page.fill("#sv-tree :is(input, textarea)", "[[0],[0,5],")
    page.wait_for_selector("#sv-tree-told .sv-wrong")
    page.click("#sv-run")
    visit.until("s.status && s.status.kind === 'error'")
    assert page.is_visible("#sv-tree")  # what cannot be read stays in sight


def test_a_click_in_any_panel_selects_everywhere(visit, file):
    visit.open("?tab=tree&lang=en")
    page = visit.page
    open_file(page, file)
    visit.until("s.trace && s.trace.config.tree.length === 16")
    page.wait_for_selector("#sv-p-rows tr >> nth=17")
    page.wait_for_selector("#sv-p-mask .js-plotly-plot .hm", state="attached")
    page.locator("#sv-stage-main .sv-host").focus()
    page.keyboard.press("End")

    def selected(node):
        visit.until(f"s.position === {node}")
        pressed = page.locator(".sv-tree .sv-node[aria-pressed=true]")
        assert pressed.count() == 1
        assert page.locator(f"#sv-p-rows tr.sv-p-on[data-node='{node}']").count() == 1
        assert page.locator("#sv-p-rows tr.sv-p-on").count() == 1
        assert page.locator(f"#sv-p-paths .sv-p-node.sv-p-on[data-node='{node}']").count() >= 1
        told(visit, node, "en")
        page.wait_for_function("document.querySelectorAll('#sv-p-mask .shapelayer path').length === 2")

    page.locator("#sv-p-paths [data-node='5']").first.click()
    selected(5)
    page.locator("#sv-p-rows tr[data-node='9']").click()
    selected(9)
    page.locator("#sv-p-heads li[data-node='2']").first.click()
    selected(2)
    mask = page.locator("#sv-p-mask .nsewdrag")
    mask.scroll_into_view_if_needed()
    box = mask.bounding_box()
    mask.click(position={"x": box["width"] / 36, "y": box["height"] * 7.5 / 17})  # the text before, row of node 6
    selected(6)
    page.locator(".sv-tree .sv-node").nth(3).click()
    selected(3)


def test_a_chain_in_the_tree_tab_and_the_settings_that_make_sense(visit):
    visit.open("?tab=tree")
    page = visit.page
    visit.until("s.trace.config.tree.length > 0")
    page.click("#sv-sample input")
    page.click("ul[role=listbox] li:has-text('k 4')")
    page.wait_for_function("document.querySelectorAll('#sv-p-paths li').length === 1")
    page.click("#sv-more-button")
    page.click("#sv-edit-button")
    assert page.is_visible("#sv-k")
    page.click("#sv-shape input")
    page.click("ul[role=listbox] li >> nth=1")
    page.wait_for_function("document.querySelector('#sv-tree input').value.startsWith('[[0]')")
    page.wait_for_selector("#sv-k", state="hidden")
    page.wait_for_selector("#sv-siblings", state="visible")
    page.click("#sv-verify input")
    page.click("ul[role=listbox] li >> nth=3")
    page.wait_for_selector("#sv-eps", state="visible")
    page.click("#sv-method input")
    page.click("ul[role=listbox] li >> nth=2")
    page.wait_for_selector("#sv-nodes", state="visible")
    page.wait_for_selector("#sv-tree", state="hidden")
    page.wait_for_selector("#sv-branch", state="visible")

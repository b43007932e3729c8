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
    with page.expect_file_chooser() as chooser:
        page.click("#sv-open")
    chooser.value.set_files(file)


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
    open_file(page, file)
    visit.until("s.trace && s.trace.config.tree.length === 16 && s.trace.rounds[0].layout")
    page.wait_for_selector("#sv-p-rows tr >> nth=17")  # the heads, the text's last token, 16 nodes
    page.wait_for_selector("#sv-p-mask .js-plotly-plot .hm", state="attached")

    position = select(visit, 3)
    told(visit, position, lang)
    assert page.locator("#sv-p-rows tr.sv-p-on").count() == 1
    assert page.locator("#sv-p-paths li.sv-p-on").count() >= 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    tree = page.input_value("#sv-tree textarea")
    page.click("#sv-branch-add")
    page.wait_for_function("(old) => document.querySelector('#sv-tree textarea').value.length > old.length", arg=tree)
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


def test_a_chain_in_the_tree_tab_and_the_settings_that_make_sense(visit):
    visit.open("?tab=tree")
    page = visit.page
    page.wait_for_selector("#sv-p-paths li")
    assert page.locator("#sv-p-paths li").count() == 1
    assert page.is_visible("#sv-k")
    page.click("#sv-shape input")
    page.click("ul[role=listbox] li >> nth=1")
    page.wait_for_function("document.querySelector('#sv-tree textarea').value.startsWith('[[0]')")
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

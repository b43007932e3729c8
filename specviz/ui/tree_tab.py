"""The Tree tab: the editor of the candidate tree, and the panels under the stage. Wiring and layout.

The stage and the settings are those of the Step tab (see `desk.py`). What is on the board comes from the browser as a
text, "run/round/position": empty while another tab is open, so that a visitor who only watches asks the server nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz.errors import SpecvizError
from specviz.trace import Trace
from specviz.ui import settings, tree_edit, tree_handlers
from specviz.ui.desk import TABS, Desk
from specviz.ui.message import problem
from specviz.ui.options import DRAWING
from specviz.ui.page import LANE, QUIET, Page
from specviz.ui.step_tab import empty_panels

HERE = "() => SpecvizApp.placeOf('main')"
# who picks the EAGLE-style layer in this tab wants a tree, and 0 nodes are a chain
EAGLE_TREE = "(method, n) => method === 'eagle' && !n && document.body.dataset.svTab === 'tree' ? 16 : n"


def build(page: Page, desk: Desk, others: list) -> None:
    """Adds the tab's panels to the page that is being built, and wires its controls.

    others   the Step tab's parts that belong to the trace on show
    """
    place = gr.Textbox(visible=False)
    for name in TABS:
        desk.tabs[name].select(None, None, [place], js=f"() => SpecvizApp.openTab('{name}')")
    desk.stage.cursor(None, None, [place], js=HERE)
    desk.stage.select(None, None, [place], js=HERE)
    page.demo.load(None, None, [place], js="() => SpecvizApp.openTab(SpecvizApp.wantedTab())")
    page.demo.load(None, None, [desk.strip], js="() => SpecvizApp.selectTab()")
    with gr.Column(elem_classes="sv-p-under sv-on-tree"):
        told = gr.HTML(elem_classes="sv-told", padding=False, elem_id="sv-tree-place")
        with gr.Column(elem_classes="sv-p-follow"):
            _panels(page, desk, place, told)
            _verifiers(page, desk, place)
    _editor(page, desk, place, told)
    runs = [desk.run.click, desk.step.click, desk.fields["prompt"].submit]
    gr.on(runs, None, None, None, js="() => SpecvizApp.fold(true)")
    desk.sample.select(None, None, None, js="() => SpecvizApp.fold(false)")
    _first_tree(page, desk, others)


def _first_tree(page: Page, desk: Desk, others: list) -> None:
    """Who opens the tab first, without a run or settings of their own, finds a recorded tree that plays."""
    seen = gr.State(False)
    outputs = [seen, desk.sample, desk.stage, desk.trace, *desk.controls, *others]

    def on_open(seen: bool, name: Any, *values: Any) -> tuple:
        shown = None if seen else tree_handlers.first_tree(name, values, page.runner)
        if shown is None:
            return True, *[gr.skip()] * (len(outputs) - 1)
        return True, tree_handlers.FIRST_TREE, *shown, *empty_panels()

    def on_load(request: gr.Request, *values: Any) -> tuple:
        query = dict(request.query_params)
        if query.get("tab") != "tree" or not {*settings.FIELDS}.isdisjoint(query):
            return (gr.skip(),) * len(outputs)
        return on_open(*values)

    inputs = [seen, desk.sample, *desk.controls]
    desk.tabs["tree"].select(on_open, inputs, outputs, **QUIET)
    page.demo.load(on_load, inputs, outputs, **QUIET)


def _panels(page: Page, desk: Desk, place: gr.Textbox, told: gr.HTML) -> None:
    labels = page.labels
    with gr.Row(elem_classes="sv-figures"):
        with gr.Column(min_width=300):
            labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="ui.mask")
            mask = gr.Plot(show_label=False, visible=False, container=False, elem_id="sv-p-mask")
            labels.add(gr.Markdown(elem_classes="sv-note"), value="ui.mask_note")
        with gr.Column(min_width=300):
            labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="ui.paths")
            paths = gr.HTML(padding=False, elem_id="sv-p-paths")
    labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="ui.heads")
    heads = gr.HTML(padding=False, elem_id="sv-p-heads")
    labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="ui.rows")
    rows = gr.HTML(padding=False, elem_id="sv-p-rows")
    gr.on(
        [place.change, page.lang.change],
        lambda trace, at, lang: tree_handlers.panels(trace, at, lang) if at else (gr.skip(),) * 5,
        [desk.trace, place, page.lang],
        [told, mask, paths, heads, rows],
        concurrency_limit=DRAWING,
        show_progress="hidden",
        api_visibility="private",
        trigger_mode="always_last",
    )


def _verifiers(page: Page, desk: Desk, place: gr.Textbox) -> None:
    labels, runner = page.labels, page.runner
    labels.add(gr.Markdown(elem_classes="sv-p-heading"), value="ui.verifiers")
    with gr.Row(elem_classes="sv-files"):
        go = labels.add(gr.Button(size="sm", elem_id="sv-compare"), value="ui.compare")
    table = gr.HTML(padding=False, elem_id="sv-p-verifiers")
    compared = gr.State(None)

    def on_compare(request: gr.Request, trace: Trace | None, at: Any, lang: str) -> Iterator[tuple]:
        """Judges the round on the board by every rule."""
        yield from tree_handlers.compare(runner, trace, at, lang, request.session_hash or "")

    go.click(
        on_compare,
        [desk.trace, place, page.lang],
        [desk.stage, table, compared, *desk.actions],
        api_visibility="private",
        **LANE,
    )
    gr.on(
        [place.change, page.lang.change],
        tree_handlers.compared_again,
        [desk.trace, compared, page.lang],
        [table, compared],
        **QUIET,
    )


def _editor(page: Page, desk: Desk, place: gr.Textbox, at_node: gr.HTML) -> None:
    """Name, size and branches write the tree's text; the text says in words what it is, and which of the names.

    `at_node` changes with the trace and the selected node. The words follow it and not `place`, whose changes Gradio
    6.31 reports again after each answer to them: with one more listener it would go on asking.
    """
    fields, editor, lang = desk.fields, desk.editor, page.lang
    tree, method, nodes = fields["tree"], fields["method"], fields["nodes"]

    def edited(make: Any) -> Any:
        """A handler that returns (text, told): the new text, or the old one and what is wrong."""

        def handler(lang: str, *values: Any) -> tuple:
            try:
                return make(*values), gr.skip()
            except SpecvizError as error:
                return gr.skip(), problem(error, lang)

        return handler

    def at(change: Any) -> Any:
        return lambda text, k, trace, place: change(text, k, tree_edit.selected(trace, place))

    outputs, names = [tree, editor.told], [editor.shape, editor.budget]
    last: dict[str, Any] = {"trigger_mode": "always_last", **QUIET}
    editor.shape.select(edited(tree_edit.of_name), [lang, editor.shape, tree], outputs, **QUIET)
    editor.budget.input(edited(tree_edit.of_size), [lang, editor.budget, tree], outputs, **last)
    here = [lang, tree, fields["k"], desk.trace, place]
    editor.add.click(edited(at(tree_edit.add_branch)), here, outputs, **QUIET)
    editor.remove.click(edited(at(tree_edit.remove_branch)), here, outputs, **QUIET)

    tree.change(lambda text: (tree_edit.name_of(text), tree_edit.size_of(text)), [tree], names, **QUIET)
    names_of_said = ("tree", "method", "pair", "k", "nodes", "branch", "siblings", "temperature")
    said = {name: fields[name] for name in names_of_said}
    preview = gr.Textbox(visible=False)
    preview.change(None, [preview], None, js="(shape) => SpecvizApp.preview(shape)")

    def in_words(lang: str, trace: Trace | None, place: Any, *values: Any) -> tuple[str, str]:
        given = dict(zip(said, values, strict=True))
        shape = tree_edit.preview(given, trace, place)
        told = tree_edit.in_words(given, trace, tree_edit.selected(trace, place), lang)
        return told, json.dumps(shape, separators=(",", ":")) if shape else ""

    triggers = [*(one.change for one in said.values()), at_node.change, lang.change, page.demo.load]
    gr.on(triggers, in_words, [lang, desk.trace, place, *said.values()], [editor.told, preview], **last)
    method.select(None, [method, nodes], [nodes], js=EAGLE_TREE)
    marks, mark = [method, tree, fields["verify"]], "(...values) => SpecvizApp.mark(...values)"
    gr.on([*(one.change for one in marks), page.demo.load], None, marks, None, js=mark)

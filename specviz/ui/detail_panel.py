"""Under the stage: one position in Plotly figures that can be zoomed and saved, with the numbers in words."""

from __future__ import annotations

from typing import Any

import gradio as gr

from specviz.i18n import t
from specviz.trace import Status, Trace
from specviz.ui.page import QUIET, Page
from specviz.ui.place import read_place
from specviz.ui.stage import Stage
from specviz.views import distributions, words
from specviz.views.tokens import markup

Place = tuple[int, int]  # round, position


def build(page: Page, stage: Stage, trace: gr.State) -> tuple[gr.State, list]:
    """Adds the panel. Returns the state of the selection and what must be emptied for another trace."""
    with page.labels.add(gr.Accordion(open=False, elem_classes="sv-panel"), label="ui.detail") as panel:
        told = gr.HTML(elem_classes="sv-told", padding=False)
        with gr.Row(elem_classes="sv-figures"):
            with gr.Column(min_width=300):
                compared_title = gr.HTML(padding=False)
                compared = gr.Plot(show_label=False, visible=False, container=False)
            with gr.Column(min_width=300):
                rest_title = gr.HTML(padding=False)
                rest = gr.Plot(show_label=False, visible=False, container=False)
    selected = gr.State(None)
    outputs = [told, compared_title, compared, rest_title, rest]

    pinned = gr.Textbox(visible=False)
    stage.select(None, None, [pinned], js=f"() => SpecvizApp.placeOnBoard('{stage.name}')")

    def on_select(trace: Trace | None, pinned: Any, lang: str) -> tuple:
        found = read_place(trace, pinned)
        if found is None or found[1] is None:  # let go, or the run went on: what was chosen stays to be read
            return (gr.skip(),) * (1 + len(outputs))
        place = (found[0].index, found[1])
        return place, *figures(trace, place, lang)

    pinned.change(
        on_select,
        [trace, pinned, page.lang],
        [selected, *outputs],
        trigger_mode="always_last",
        **QUIET,
    )

    def on_open(trace: Trace | None, place: Place | None, lang: str) -> tuple:
        place = place if in_trace(trace, place) else first_rejection(trace)
        return place, *figures(trace, place, lang)

    gr.on(
        [panel.expand, page.lang.change],
        on_open,
        [trace, selected, page.lang],
        [selected, *outputs],
        **QUIET,
    )
    return selected, outputs


def figures(trace: Trace | None, place: Place | None, lang: str) -> tuple:
    """Updates of the words, and of either figure with its title."""
    hidden = ("", gr.update(visible=False))
    if trace is None or place is None:
        return _paragraph(t(lang, "ui.detail_hint")), *hidden, *hidden
    r, position = place
    key = "ui.detail_place" if trace.rounds[r].draft.shape.is_chain else "ui.detail_node"
    where = t(lang, key, r=r + 1, n=position + 1)
    told = f"<p><b>{markup(where)}</b> {markup(words.verdict(trace, r, position, lang))}</p>"
    if trace.rounds[r].detail is None:
        return told + _paragraph(t(lang, "ui.no_detail")), *hidden, *hidden
    left = gr.update(value=distributions.comparison(trace, r, position, lang), visible=True)
    left_title = _paragraph(distributions.comparison_title(trace, r, position, lang))
    rest = distributions.residual(trace, r, position, lang)
    if rest is None:
        return told, left_title, left, *hidden
    rest_title = _paragraph(distributions.residual_title(trace, r, position, lang))
    return told, left_title, left, rest_title, gr.update(value=rest, visible=True)


def _paragraph(text: str) -> str:
    return f'<p class="sv-figure-title">{markup(text)}</p>'


def in_trace(trace: Trace | None, place: Any) -> bool:
    """Whether there is such a position."""
    if trace is None or place is None or not all(type(x) is int and x >= 0 for x in place):
        return False
    r, position = place
    return r < len(trace.rounds) and position <= len(trace.rounds[r].draft.tokens)


def first_rejection(trace: Trace | None) -> Place | None:
    """The first position worth a look: one where p and q disagreed."""
    if trace is None or not trace.rounds:
        return None
    found = ((r.index, i) for r in trace.rounds for i, v in enumerate(r.verdicts) if v.status is Status.REJECTED)
    return next(found, (0, 0))

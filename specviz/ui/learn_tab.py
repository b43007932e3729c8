"""The Learn tab: the course as one component, which the browser runs, and "try it live". Wiring only.

Everything that is shown and asked is in `specviz.lessons.book`; assets/js/lessons draws it. The server gives the
bundled traces, one by one as lessons are opened, and needs no model for it.
"""

from __future__ import annotations

import json
from typing import Any

import gradio as gr
from starlette.exceptions import HTTPException

from specviz.lessons.book import book
from specviz.lessons.records import lessons, recorded
from specviz.ui import settings
from specviz.ui.desk import Desk
from specviz.ui.fields import sent
from specviz.ui.message import whole
from specviz.ui.oneway import OneWay
from specviz.ui.page import QUIET, Page

# The name of the event stands in quotes for Gradio, which makes a listener of it.
ON_LOAD = "SpecvizApp.attachLessons({element, props, trigger, server}); // event: 'live' {id}"


def lesson_trace(name: Any) -> str:
    """A trace that a lesson names, as JSON. Any other name is answered with status 404."""
    if name not in [lesson.trace for lesson in lessons()]:
        raise HTTPException(404)
    return json.dumps(whole(recorded(name))["trace"], ensure_ascii=False, separators=(",", ":"))


class Course(OneWay):
    """The course. Its value is the book as JSON."""

    holds = "the lessons as JSON"

    def __init__(self) -> None:
        super().__init__(
            json.dumps(book(), ensure_ascii=False, separators=(",", ":")),
            html_template='<div class="sl-host"></div>',
            js_on_load=ON_LOAD,
            server_functions=[lesson_trace],
            elem_id="sv-course",
            padding=False,
        )


def build(page: Page, desk: Desk) -> None:
    """Adds the tab to the page that is being built, and wires it."""
    with desk.strip:
        tab = page.labels.add(gr.Tab(id="learn", elem_id="sv-tab-learn"), label="learn.tab")
        with tab:
            course = Course()
    tab.select(None, None, None, js="() => { SpecvizApp.openTab('learn'); }")
    course.live(try_live, None, [*desk.controls, desk.strip], **QUIET).then(
        None, [desk.strip], None, js="(tab) => { SpecvizApp.openTab(tab); SpecvizApp.readyToRun(); }"
    )


def try_live(event: gr.EventData) -> tuple:
    """The settings of a lesson into the controls, and the tab that shows them."""
    lesson = next((one for one in lessons() if one.id == sent(event, "id")), None)
    if lesson is None:
        return (*[gr.skip()] * (len(settings.FIELDS) + 1),)
    prompt, config = lesson.settings()
    pair = lesson.run().models.pair
    return *settings.Settings(prompt, config, pair).values(), gr.Tabs(selected=lesson.tab)

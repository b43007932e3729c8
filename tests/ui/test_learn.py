"""The Learn tab's handlers: what they give, and that anything else that is sent gets nothing and fails nowhere."""

import json

import gradio as gr
import pytest
from starlette.exceptions import HTTPException

from specviz.lessons.records import lessons
from specviz.ui.learn_tab import lesson_trace, try_live


def test_the_traces_of_lessons_are_given():
    for name in {lesson.trace for lesson in lessons()}:
        assert json.loads(lesson_trace(name))["schema"] == "specviz-trace/1"


@pytest.mark.parametrize("name", ["nothing", "../traces/sky", "", None, 7, ["sky"], {"a": 1}])
def test_nothing_else_is(name):
    with pytest.raises(HTTPException) as refused:
        lesson_trace(name)
    assert refused.value.status_code == 404


def test_try_it_live_fills_in_the_settings_of_a_lesson():
    lesson = lessons()[0]
    filled = try_live(gr.EventData(None, {"id": lesson.id}))
    assert filled[0] == lesson.settings()[0]


@pytest.mark.parametrize("sent", [None, 7, "id", [], {}, {"id": "nothing"}, {"id": ["x"]}])
def test_anything_else_changes_nothing(sent):
    assert all(part == gr.skip() for part in try_live(gr.EventData(None, sent)))

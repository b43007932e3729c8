"""`assets/lessons/lessons.json`, read and checked: what each lesson shows, asks, and offers to try.

A record names rules and never round numbers or answers, so it stays true when its trace is recorded anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from specviz.config import RunConfig
from specviz.i18n import ASSETS
from specviz.lessons.moments import MOMENTS, Moment
from specviz.lessons.questions import QUESTIONS, Question
from specviz.trace import Trace
from specviz.trace_json import load_trace

FOLDER = ASSETS / "lessons"
PHASES = ("start", "heads", "draft", "pass", "gate", "outcome", "cache", "commit", "end")
PARTS = ("", "text", "tiles", "draft", "pass", "gate", "verdict", "out", "lens", "cache", "graph", "mask")
HIDDEN = ("", "times")  # what would give the answer away, hidden until it is told
TABS = ("step", "tree")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the stage stands, and what is highlighted on it.

    phase   of the lesson's round; "start" and "end" are the round's own; `part` of that step is over (0..1)
    focus   the part of the stage that is highlighted
    pin     whether the moment's position is selected, so that the inspector speaks of it
    moment  a rule of its own, instead of the lesson's
    """

    phase: str
    part: float = 1.0
    focus: str = ""
    pin: bool = False
    moment: str = ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One record. `pages` has a place for each page of the text; `ask` and `tell` are those of the question."""

    id: str
    trace: str
    moment: str
    pages: tuple[Place, ...]
    question: str
    ask: Place
    tell: Place
    hide: str = ""
    tab: str = "step"
    live: Mapping[str, Any] | None = None  # settings that "try it live" changes, against those of the trace

    def run(self) -> Trace:
        """Its recorded run."""
        return recorded(self.trace)

    def found(self, place: Place | None = None) -> Moment:
        """Round and position of a place, or of the lesson itself."""
        rule = (place and place.moment) or self.moment
        moment = MOMENTS[rule](self.run())
        if moment is None:
            raise ValueError(f"lesson {self.id}: the trace {self.trace} has no moment {rule}")
        return moment

    def asked(self) -> Question:
        """Its question with all numbers, its choices, and which of them is right: computed."""
        return QUESTIONS[self.question](self.run(), self.found())

    def settings(self) -> tuple[str, RunConfig]:
        """Prompt and settings of "try it live"."""
        run, changed = self.run(), dict(self.live or {})
        prompt = changed.pop("prompt", run.prompt.text)
        return prompt, replace(run.config, **changed)


@cache
def recorded(name: str) -> Trace:
    """A bundled trace."""
    return load_trace((ASSETS / "traces" / f"{name}.json").read_bytes())


@cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons, in their order. Raises ValueError for a record that names what there is not."""
    data = json.loads((FOLDER / "lessons.json").read_text(encoding="utf-8"))
    read = tuple(_lesson(record) for record in data)
    if len({lesson.id for lesson in read}) != len(read):
        raise ValueError("two lessons with one id")
    return read


def _lesson(record: dict) -> Lesson:
    unknown = record.keys() - {f.name for f in fields(Lesson)}
    if unknown:
        raise ValueError(f"lesson {record.get('id')}: unknown {sorted(unknown)}")
    places = {name: Place(**record[name]) for name in ("ask", "tell")}
    lesson = Lesson(**record | places | {"pages": tuple(Place(**page) for page in record["pages"])})
    for name, value, known in (
        ("moment", lesson.moment, MOMENTS),
        ("question", lesson.question, QUESTIONS),
        ("hide", lesson.hide, HIDDEN),
        ("tab", lesson.tab, TABS),
        *(("phase", p.phase, PHASES) for p in (*lesson.pages, lesson.ask, lesson.tell)),
        *(("focus", p.focus, PARTS) for p in (*lesson.pages, lesson.ask, lesson.tell)),
        *(("moment", p.moment or lesson.moment, MOMENTS) for p in (*lesson.pages, lesson.ask, lesson.tell)),
    ):
        if value not in known:
            raise ValueError(f"lesson {lesson.id}: {name} {value!r} is none of {', '.join(known)}")
    return lesson

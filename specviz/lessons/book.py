"""All lessons put together: as the browser shows them, and as the command line lists them."""

from __future__ import annotations

import re
from functools import cache

from specviz.i18n import LANGUAGES, fill
from specviz.lessons.records import Lesson, Place, lessons
from specviz.lessons.texts import glossary, text
from specviz.views.lesson_html import TERM, html


@cache
def book() -> dict:
    """What the browser needs: {"lessons": [...], "glossary": {language: [[id, term, html], ...]}}. Plain JSON.

    A lesson is {id, trace, hide, pages, ask, tell, right, bar, u, texts}; a place is {round, phase, index, part, focus,
    pin}; `texts` holds, for each language, {title, pages, question, choices, answer, notes} as HTML. Whoever plays
    lessons without a server needs this, the traces that it names, and `assets/js/lessons`.
    """
    explained = {lang: {id: plain(entry.text) for id, entry in glossary(lang).items()} for lang in LANGUAGES}
    listed = {
        lang: [[id, entry.term, html(entry.text, {}, explained[lang])] for id, entry in glossary(lang).items()]
        for lang in LANGUAGES
    }
    return {"lessons": [_shown(lesson, explained) for lesson in lessons()], "glossary": listed}


def _shown(lesson: Lesson, explained: dict[str, dict[str, str]]) -> dict:
    asked = lesson.asked()
    key = asked.choices[asked.right].key
    texts = {}
    for lang in LANGUAGES:
        said, terms = text(lang, lesson.id), explained[lang]
        texts[lang] = {
            "title": said.title,
            "pages": [html(page, asked.values, terms) for page in said.pages],
            "question": html(said.question, asked.values, terms),
            "choices": [html(said.choices[c.key], asked.values | c.values, terms, inline=True) for c in asked.choices],
            "answer": html(said.answer(key), asked.values, terms),
            "notes": html(said.notes, asked.values, terms),
        }
    return {
        "id": lesson.id,
        "trace": lesson.trace,
        "hide": lesson.hide,
        "pages": [_placed(lesson, place) for place in lesson.pages],
        "ask": _placed(lesson, lesson.ask),
        "tell": _placed(lesson, lesson.tell),
        "right": asked.right,
        "bar": asked.bar,
        "u": asked.u,
        "texts": texts,
    }


def _placed(lesson: Lesson, place: Place) -> dict:
    round, position = lesson.found(place)
    return {
        "round": round,
        "phase": place.phase,
        "index": position if place.phase == "gate" else None,  # None: the last step of the phase
        "part": place.part,
        "focus": place.focus,
        "pin": position if place.pin else None,
    }


def listed() -> list[dict]:
    """For the command line: id, and by language the title, the question, the choices and the computed answer."""
    rows = []
    for lesson in lessons():
        asked = lesson.asked()
        row: dict = {
            "id": lesson.id,
            "trace": lesson.trace,
            "title": {},
            "question": {},
            "choices": {},
            "answer": {},
            "reason": {},
        }
        for lang in LANGUAGES:
            said = text(lang, lesson.id)
            choices = [plain(said.choices[c.key], asked.values | c.values) for c in asked.choices]
            row["title"][lang] = said.title
            row["question"][lang] = plain(said.question, asked.values)
            row["choices"][lang] = choices
            row["answer"][lang] = choices[asked.right]
            row["reason"][lang] = plain(said.answer(asked.choices[asked.right].key), asked.values)
        rows.append(row)
    return rows


def plain(source: str, values: dict[str, str] | None = None) -> str:
    """A text without its markup, on one line. Formulas stay as they are written."""
    values = values or {}
    words = TERM.sub(lambda link: link[1], source).replace("**", "")
    filled = [part if part.startswith("$") else fill(part, values) for part in re.split(r"(\$[^$]+\$)", words)]
    return " ".join("".join(filled).replace("$", "").split())

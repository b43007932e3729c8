"""The texts of lessons and the glossary: `assets/lessons/<language>/<id>.md` and `glossary.md`.

A lesson is a title (`# ...`) and sections with fixed English names: `## Page` (one to three), `## Question`,
`## Choices` (`- key: text`), `## Answer` (one text, or `- key: text` for each choice that may be right), `## Notes` for
the teacher. `{name}` is filled in with a number or token of the run, `$...$` is a formula, `[words](term:id)` is
explained by the glossary, whose entries are `## id: Term` with a text below.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from specviz.i18n import ASSETS

FOLDER = ASSETS / "lessons"
SECTIONS = ("Question", "Choices", "Answer", "Notes")
ITEM = re.compile(r"^- (\w+): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Text:
    """One lesson in one language, as written."""

    title: str
    pages: tuple[str, ...]
    question: str
    choices: dict[str, str]
    answers: dict[str, str]  # by the key of the right choice; "" is for all
    notes: str

    def answer(self, key: str) -> str:
        """The reason, where the choice `key` is right."""
        return self.answers[key if key in self.answers else ""]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the glossary."""

    term: str
    text: str


@cache
def text(lang: str, id: str) -> Text:
    """A lesson's text. Raises ValueError where a section is missing."""
    title, parts = _sections(FOLDER / lang / f"{id}.md")
    found = {name: body for name, body in parts if name in SECTIONS}
    pages = tuple(body for name, body in parts if name == "Page")
    wrong = [name for name, _ in parts if name != "Page" and name not in SECTIONS]
    if wrong or not pages or len(found) != len(SECTIONS):
        raise ValueError(f"{lang}/{id}.md: sections are {[name for name, _ in parts]}")
    answer = found["Answer"]
    return Text(
        title=title,
        pages=pages,
        question=found["Question"],
        choices=dict(ITEM.findall(found["Choices"])),
        answers=dict(ITEM.findall(answer)) or {"": answer},
        notes=found["Notes"],
    )


@cache
def glossary(lang: str) -> dict[str, Entry]:
    """The glossary, by id and in its order."""
    _, parts = _sections(FOLDER / lang / "glossary.md")
    split = ((heading.partition(": "), body) for heading, body in parts)
    return {id: Entry(term, body) for (id, _, term), body in split}


def _sections(file: Path) -> tuple[str, list[tuple[str, str]]]:
    """(what stands after `# `, the sections as (heading, text))."""
    head, *rest = re.split(r"^## ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    parts = [part.partition("\n") for part in rest]
    return head.strip().removeprefix("# "), [(name.strip(), body.strip()) for name, _, body in parts]

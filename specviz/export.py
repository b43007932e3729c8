"""A run or a lesson as one HTML file that plays from disk: the stage's own scripts, styles and words in one page.

It asks nobody for anything, and its policy forbids it. What a trace holds is foreign text: it stands in the page as
JSON that cannot end its element, and as escaped text in the list of rounds.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from specviz.bundle import CSS, JS, bundle, inline, math_font, script_json
from specviz.errors import SpecvizError
from specviz.i18n import counted, strings, t
from specviz.trace import Round, Trace
from specviz.views.drawn import drawn_round, drawn_trace
from specviz.views.handout import rounds_list, settings_line
from specviz.views.tokens import markup, visible

MAX_BYTES = 2_000_000  # from here on distributions are left out; a very long run can be larger even without
SPARE = 1000  # bytes for the note about it
LONGEST_TITLE = 80
STAGE_CSS = ("base", "board", "motion", "panels", "phone", "tree")
LESSON = "lesson:"


@dataclass(frozen=True, slots=True)
class Page:
    """The file's text; from how many rounds at the end the distributions had to be left out, and that in words."""

    html: str
    rounds: int
    left_out: int = 0
    note: str = ""

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.html.encode())


def trace_page(trace: Trace, lang: str) -> Page:
    """The page of a run."""
    title = visible(trace.prompt.text, keep_spaces=True)
    title = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
    heading = f"<h1>{markup(title)}</h1><p>{markup(settings_line(trace, lang))}</p>"

    def made(kept: Trace, note: str) -> str:
        return _page(title, heading, {"trace": drawn_trace(kept)}, kept, lang, note)

    return _fitted(trace, made, lang)


def lesson_page(id: str, lang: str) -> Page:
    """The page of a lesson: its text, its question, its run. Raises SpecvizError where there is no such lesson."""
    from specviz.lessons.book import book  # reads formulas and Markdown, which runs need not wait for
    from specviz.lessons.records import lessons

    lesson = next((one for one in lessons() if one.id == id), None)
    if lesson is None:
        raise SpecvizError("handout.no_lesson", id=id, known=", ".join(one.id for one in lessons()))
    whole = book()
    shown = next(one for one in whole["lessons"] if one["id"] == id)
    text = shown["texts"][lang]
    only = {"lessons": [shown | {"texts": {lang: text}}], "glossary": {lang: whole["glossary"][lang]}}
    run = lesson.run()
    heading = f"<h1 class='sh-paper'>{markup(text['title'])}</h1><p>{markup(settings_line(run, lang))}</p>"

    own = ("where", "where_question")  # not "Lesson 4 of 12" where there is but one
    learn = _words(lang, "learn.") | {key: strings(lang)[f"handout.{key}"] for key in own}

    def made(kept: Trace, note: str) -> str:
        data = {"trace": drawn_trace(kept), "book": only, "learn": learn}
        return _page(text["title"], heading, data, kept, lang, note, _printed(text, shown["right"], lang))

    return _fitted(run, made, lang)


def _fitted(trace: Trace, made: Callable[[Trace, str], str], lang: str) -> Page:
    """The page with as many distributions as fit, those of the first rounds before those of the last."""
    count = len(trace.rounds)
    page = Page(made(trace, ""), count)
    if page.size <= MAX_BYTES:
        return page
    sizes = [len(script_json(drawn_round(r)).encode()) - len(script_json(_bare(r)).encode()) for r in trace.rounds]
    left_out, saved = 0, -SPARE
    while left_out < count and page.size - saved > MAX_BYTES:
        left_out += 1
        saved += sizes[count - left_out]
    rounds = (*trace.rounds[: count - left_out], *(replace(r, detail=None) for r in trace.rounds[count - left_out :]))
    note = counted(lang, "handout.trimmed", left_out, limit=f"{MAX_BYTES / 1e6:g}")
    return Page(made(replace(trace, rounds=rounds), note), count, left_out, note)


def _bare(r: Round) -> dict:
    return drawn_round(replace(r, detail=None))


def _page(title: str, heading: str, data: Mapping, trace: Trace, lang: str, note: str, printed: str = "") -> str:
    def say(key: str) -> str:
        return markup(t(lang, f"handout.{key}"))

    data = {"lang": lang, "stage": _words(lang, "stage."), **data}
    lesson = "book" in data
    entries = [JS / "stage" / "main.js", *([JS / "lessons" / "main.js"] if lesson else []), JS / "handout" / "main.js"]
    scripts = [inline(bundle(entry)) for entry in entries]
    names = [*STAGE_CSS, *(["lessons"] if lesson else [])]
    files = [*(CSS / f"{name}.css" for name in names), CSS / "handout" / "page.css"]
    style = "\n".join([*(file.read_text(encoding="utf-8") for file in files), *([math_font()] if lesson else [])])
    policy = f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; style-src 'unsafe-inline'; img-src data:"
    policy += "; font-src data:" if lesson else ""
    return f"""<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="specviz">
<title>{markup(t(lang, "handout.title", prompt=title))}</title>
<style>
{style}
</style>
<noscript><style>.sh-list, .sh-printed {{ display: block }} .sh-play, .sh-actions {{ display: none }}</style></noscript>
</head>
<body>
<header class="sh-head">{heading}
<p class="sh-lead">{say("lesson_lead" if lesson else "lead")}</p>
{f"<p>{markup(note)}</p>" if note else ""}<noscript><p>{say("no_script")}</p></noscript>
<p class="sh-actions">
<button type="button" id="sh-toggle" aria-controls="sh-list" aria-expanded="false">{say("list")}</button>
<button type="button" id="sh-print">{say("print")}</button></p></header>
<main>
<div class="sh-play" id="sh-play"></div>
{f'<div class="sh-printed">{printed}</div>' if printed else ""}
<div class="sh-list" id="sh-list"><h2>{say("list_title")}</h2>
{rounds_list(trace, lang)}
</div></main>
<script type="application/json" id="sh-data">{script_json(data)}</script>
{"".join(f"<script>{script}</script>" for script in scripts)}
</body>
</html>
"""


def _printed(text: Mapping, right: int, lang: str) -> str:
    """A lesson on paper: all pages, the question, and at the end the answer. The texts are HTML of our own."""
    choices = "".join(f"<li>{choice}</li>" for choice in text["choices"])
    question = f"<h2>{markup(t(lang, 'handout.question'))}</h2>{text['question']}<ol>{choices}</ol>"
    answer = f"<h2>{markup(t(lang, 'handout.answer'))}</h2><p>{right + 1}. {text['choices'][right]}</p>{text['answer']}"
    return f"{''.join(text['pages'])}{question}{answer}"


def _words(lang: str, prefix: str) -> dict:
    """One area's words, without the prefix, as the scripts want them."""
    return {key.removeprefix(prefix): text for key, text in strings(lang).items() if key.startswith(prefix)}


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"

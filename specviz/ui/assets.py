"""The scripts and styles of the page; how modules become one script is in `bundle.py`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from specviz.bundle import CSS, JS, bundle, inline, math_font, script_json
from specviz.i18n import LANGUAGES, strings

ENTRIES = (JS / "stage" / "main.js", JS / "lessons" / "main.js", JS / "proof" / "main.js", JS / "app" / "main.js")


@cache
def head() -> str:
    """What goes into the page's <head>: the words of every language, the scripts, the font of formulas."""
    words = {lang: strings(lang) for lang in LANGUAGES}
    scripts = [f"globalThis.SpecvizStrings = {script_json(words)};", *(bundle(entry) for entry in ENTRIES)]
    icon = (
        "<link rel='icon' href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
        "%3Crect x='1' y='3' width='4' height='10' rx='1' fill='%23d0841c'/%3E"
        "%3Crect x='6' y='3' width='9' height='10' rx='1' fill='%235b80ee'/%3E%3C/svg%3E\">"
    )
    return f"{icon}<style>{math_font()}</style>" + "".join(map(script, scripts))


def script(code: str) -> str:
    """A script as it stands in the page."""
    return f"<script>{inline(code)}</script>"


def styles() -> list[Path]:
    """The style sheets, the stage's before the page's."""
    files = sorted(CSS.glob("*.css"))
    return sorted(files, key=lambda file: (file.name.startswith("app"), file.name))

"""The scripts and styles of the page, put together from readable modules: no build tool, no request to anywhere.

Modules use a small part of ES modules: imports `import { a, b } from './x.js';` of named things, and `export` before a
declaration. They are joined in the order of their imports into one classic script, in which every module-level name
must be unique.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from specviz.i18n import ASSETS, LANGUAGES, strings

JS, CSS = ASSETS / "js", ASSETS / "css"
ENTRIES = (JS / "stage" / "main.js", JS / "app" / "main.js")

IMPORT = re.compile(r"^import \{[^}]*\} from '(\./[\w./-]+\.js)';$", re.MULTILINE)
ANY_IMPORT = re.compile(r"^\s*import\b.*$|\bimport\(", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const|let)\b)", re.MULTILINE)
ANY_EXPORT = re.compile(r"^export\b.*$", re.MULTILINE)
DECLARED = re.compile(
    r"^(?:async function|function|class|const|let|var)\*? +(?:(\w+)|[{\[]([^}\]]*)[}\]])", re.MULTILINE
)


def modules(entry: Path) -> list[Path]:
    """The entry and all that it imports, each after what it needs itself. Raises ValueError for a circle."""
    done: list[Path] = []
    open_: list[Path] = []

    def visit(file: Path) -> None:
        file = file.resolve()
        if file in done:
            return
        if file in open_:
            raise ValueError(f"{file.name} imports itself, through {[f.name for f in open_]}")
        open_.append(file)
        for found in IMPORT.finditer(file.read_text(encoding="utf-8")):
            visit(file.parent / found[1])
        open_.remove(file)
        done.append(file)

    visit(entry)
    return done


def bundle(entry: Path) -> str:
    """One classic script. Raises ValueError where a module uses more of ES modules than said above."""
    parts, owner = [], {}
    for file in modules(entry):
        code = IMPORT.sub("", file.read_text(encoding="utf-8"))
        code = EXPORT.sub("", code)
        for wrong in (*ANY_IMPORT.findall(code), *ANY_EXPORT.findall(code)):
            raise ValueError(f"{file.name}: cannot bundle {wrong.strip()!r}")
        for name, several in DECLARED.findall(code):
            for one in filter(None, [name, *re.findall(r"\w+", several)]):
                if one in owner:
                    raise ValueError(f"{one} is declared in {owner[one]} and in {file.name}")
                owner[one] = file.name
        parts.append(f"// {file.name}\n{code.strip()}\n")
    return "(() => {\n'use strict';\n" + "\n".join(parts) + "})();\n"


@cache
def head() -> str:
    """What goes into the page's <head>: the words of every language and the scripts."""
    words = {lang: strings(lang) for lang in LANGUAGES}
    scripts = [f"globalThis.SpecvizStrings = {script_json(words)};", *(bundle(entry) for entry in ENTRIES)]
    icon = (
        "<link rel='icon' href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
        "%3Crect x='1' y='3' width='4' height='10' rx='1' fill='%23d0841c'/%3E"
        "%3Crect x='6' y='3' width='9' height='10' rx='1' fill='%235b80ee'/%3E%3C/svg%3E\">"
    )
    return icon + "".join(f"<script>{_inline(script)}</script>" for script in scripts)


def styles() -> list[Path]:
    """The style sheets, the stage's before the page's."""
    files = sorted(CSS.glob("*.css"))
    return sorted(files, key=lambda file: (file.name.startswith("app"), file.name))


def script_json(value: object) -> str:
    """JSON that may stand inside a script."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _inline(script: str) -> str:
    """A script that does not end its element early."""
    if re.search(r"<(/script|!--)", script, re.IGNORECASE):
        raise ValueError("a script must not hold '</script' or '<!--'")
    return script

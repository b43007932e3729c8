"""Scripts and styles for a page, put together from readable modules: no build tool, no request to anywhere.

Modules use a small part of ES modules: imports `import { a, b } from './x.js';` of named things, and `export` before a
declaration. They are joined in the order of their imports into one classic script, in which every module-level name
must be unique. A classic script also runs where a module would not be loaded: in a page opened from a file.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

from specviz.i18n import ASSETS

JS, CSS = ASSETS / "js", ASSETS / "css"
MATH_FONT = ASSETS / "fonts" / "stix-two-math.woff2"
HALF = re.compile("[\ud800-\udfff]")  # half a character: UTF-8 has none

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


def script_json(value: object) -> str:
    """JSON that may stand inside a script, and in a file of UTF-8, whatever texts it holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def inline(script: str) -> str:
    """A script that does not end its element early."""
    if re.search(r"<(/script|!--)", script, re.IGNORECASE):
        raise ValueError("a script must not hold '</script' or '<!--'")
    return script


def math_font() -> str:
    """The font of formulas as a style rule that needs no other file; without one few systems draw MathML well."""
    data = base64.b64encode(MATH_FONT.read_bytes()).decode()
    return f'@font-face{{font-family:"specviz math";src:url(data:font/woff2;base64,{data}) format("woff2")}}'

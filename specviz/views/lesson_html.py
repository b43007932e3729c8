"""A lesson's text as HTML: Markdown, formulas as MathML (which browsers draw without any library), explained terms."""

from __future__ import annotations

import html as markup
import re
from collections.abc import Mapping

from latex2mathml.converter import convert
from markdown_it import MarkdownIt

from specviz.i18n import HOLE

NAMED = re.compile(r"<mo>(min|max)</mo>")  # as operators they would stand apart from their brackets
MATH = re.compile(r"\$([^$]+)\$")
TERM = re.compile(r"\[([^\]]+)\]\(term:([\w-]+)\)")
# stand for what is put in after Markdown has been read, so that no token or formula can be taken for Markdown
OPEN, CLOSE = "\ue000", "\ue001"
KEPT = re.compile(f"{OPEN}(\\d+){CLOSE}")

_markdown = MarkdownIt("commonmark", {"html": False})


def html(source: str, values: Mapping[str, str], terms: Mapping[str, str], inline: bool = False) -> str:
    """`source` with `{name}` filled in from `values`, and `[words](term:id)` explained by `terms`.

    inline  without a paragraph around it. Raises KeyError for a name or a term that there is not.
    """
    kept: list[str] = []

    def keep(piece: str) -> str:
        kept.append(piece)
        return f"{OPEN}{len(kept) - 1}{CLOSE}"

    text = MATH.sub(lambda found: keep(formula(found[1])), source)
    text = HOLE.sub(lambda found: keep(_value(found[1], values[found[1]])), text)
    text = TERM.sub(lambda found: keep(_term(found[1], terms[found[2]])), text)
    out = _markdown.renderInline(text) if inline else _markdown.render(text)
    while KEPT.search(out):  # a term may hold a value
        out = KEPT.sub(lambda found: kept[int(found[1])], out)
    return out.strip()


def formula(tex: str) -> str:
    """A formula as MathML; one that begins with `\\displaystyle` stands on its own."""
    block = tex.startswith(r"\displaystyle")
    made = convert(tex.removeprefix(r"\displaystyle").strip(), display="block" if block else "inline")
    return NAMED.sub(r"<mi>\1</mi>", made)


def _value(name: str, value: str) -> str:
    shown = markup.escape(value)
    return f'<code class="sl-token">{shown}</code>' if name.partition("_")[0] == "tok" else f"<b>{shown}</b>"


def _term(words: str, explanation: str) -> str:
    told = markup.escape(explanation, quote=True)
    return (
        f'<button type="button" class="sv-term" data-explain="{told}" aria-description="{told}">'
        f"{markup.escape(words)}</button>"
    )

"""Tokens as readable text: white space and unseen characters spelled out, bytes as hexadecimal, specials in brackets.

The browser's stage has the same rules (assets/js/stage/tokens.js).
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Mapping

from specviz.trace import Token, Trace

MARKS = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"}
JOINERS = "\u200c\u200d\ufe0e\ufe0f"  # they belong to what stands before them
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164"  # letters and marks by their category, and yet nothing is drawn
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}
LONGEST = 24


def vocabulary(trace: Trace) -> dict[int, Token]:
    """The tokens of a trace by id."""
    return {token.id: token for token in trace.vocab}


def visible(text: str, keep_spaces: bool = False) -> str:
    """`text` with every character to be seen. Nothing in it can change the direction or the markup around it."""
    out: list[str] = []
    for c in text:
        if c == " " and keep_spaces:
            out.append(c)
        elif c in MARKS:
            out.append(MARKS[c])
        elif (c in JOINERS and out) or (c not in FILLERS and unicodedata.category(c) not in UNSEEN):
            out.append(c)
        else:
            out.append(f"U+{ord(c):04X}")
    return "".join(out)


def name(vocab: Mapping[int, Token], id: int, longest: int = LONGEST) -> str:
    """A token in one short line of plain text."""
    token = vocab.get(id)
    if token is None:
        return f"#{id}"
    if token.bytes is not None:
        return "·".join(f"{byte:02X}" for byte in token.bytes)
    shown = visible(token.text)
    if token.special:
        shown = f"⟨{shown.strip('<|>')}⟩"
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def markup(text: str) -> str:
    """`text` as it may stand in HTML."""
    return html.escape(text, quote=True)


def label(vocab: Mapping[int, Token], id: int) -> str:
    """A token's name for Plotly, whose labels know some tags and some entities, but not that of the quotation mark."""
    return html.escape(name(vocab, id), quote=False)


def unique_labels(vocab: Mapping[int, Token], ids: Iterable[int]) -> list[str]:
    """Labels of an axis, where two equal ones would share a place: the second one gets its id."""
    seen: set[str] = set()
    out = []
    for id in ids:
        text = label(vocab, id)
        if text in seen:
            text = f"{text} #{id}"
        seen.add(text)
        out.append(text)
    return out


def text_of(vocab: Mapping[int, Token], ids: Iterable[int]) -> str:
    """The text that tokens spell, without the special ones; U+FFFD for bytes that are no character (yet)."""
    raw = b""
    for id in ids:
        token = vocab.get(id)
        if token is not None and not token.special:
            raw += token.bytes if token.bytes is not None else token.text.encode("utf-8", "replace")
    return raw.decode("utf-8", "replace")

"""What the browser says is on the board: "run/round/position", the position only where one is pinned. No Gradio here.

Where an edited tree is previewed, a node that no run has drafted can be selected: "run/round//0.2" is the third
candidate after the likeliest first token.

A text and not an event's data: of several quick events Gradio hands on the first one's data, but a component's latest
value. See `placeOnBoard` in assets/js/app/stages.js.
"""

from __future__ import annotations

import re
from typing import Any

from specviz.trace import Round, Trace
from specviz.ui.message import run_id

PLACE = re.compile(r"(\d{1,10})/(-?\d{1,9})/(\d{0,9})(?:/(\d{1,3}(?:\.\d{1,3}){0,20}))?", re.ASCII)


def read_place(trace: Trace | None, text: Any) -> tuple[Round, int | None] | None:
    """The round and the pinned position, which may be one after the last node. None where the trace has no such round,
    or has become another one since.
    """
    found = PLACE.fullmatch(text) if isinstance(text, str) else None
    if found is None or trace is None or int(found[1]) != run_id(trace):
        return None
    index, position = int(found[2]), int(found[3]) if found[3] else None
    if not 0 <= index < len(trace.rounds):
        return None
    r = trace.rounds[index]
    return r, position if position is None or position <= len(r.draft.tokens) else None


def read_branch(text: Any) -> tuple[int, ...]:
    """The ranks of the selected node that was not drafted yet; () where none is."""
    found = PLACE.fullmatch(text) if isinstance(text, str) else None
    return tuple(map(int, found[4].split("."))) if found and found[4] else ()

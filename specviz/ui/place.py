"""What the browser says is on the board: "run/round/position", the position only where one is pinned. No Gradio here.

A text and not an event's data: of several quick events Gradio hands on the first one's data, but a component's latest
value. See `placeOnBoard` in assets/js/app/stages.js.
"""

from __future__ import annotations

import re
from typing import Any

from specviz.trace import Round, Trace
from specviz.ui.message import run_id

PLACE = re.compile(r"(\d{1,10})/(-?\d{1,9})/(\d{0,9})", re.ASCII)


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

"""What a round with a tree of 64 nodes costs the screen: Python's time, and what is sent to the browser.

    python -m benchmarks.tree_round [trace.json]

Takes the rounds of a recorded trace, or runs two of them on the bundled pair. Prints one JSON object; times are medians
over repeats and rounds, of a warm process, with nothing remembered of the layout. Aim: below 150 ms and 200 KB a round.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from specviz.choices import of_profile
from specviz.config import RunConfig
from specviz.trace import Trace
from specviz.trace_json import load_trace
from specviz.ui import message, tree_handlers
from specviz.ui.stage import Stage
from specviz.views.tree_layout import layout, layout_of

REPEATS = 20
PROFILE = (10, 28, 24, 2)  # 64 nodes


def recorded(path: str | None) -> Trace:
    """The trace of the file, or of a fresh run."""
    if path is not None:
        return load_trace(Path(path).read_bytes())
    from specviz.models.load import load_pair
    from specviz.models.run import advance, start

    pair = load_pair(method="skip")
    trace = start(pair, "Explain why the sky is blue.", RunConfig("skip", tree=of_profile(PROFILE), temperature=0.8))
    for trace in advance(pair, trace, rounds=2):  # noqa: B007, B020 each is the one before, grown
        pass
    return trace


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds (median of REPEATS), and the result."""
    times, out = [], work()
    for _ in range(REPEATS):
        began = time.perf_counter()
        out = work()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times), out


def main() -> None:
    """Measures every round that drafts a tree."""
    trace = recorded(sys.argv[1] if len(sys.argv) > 1 else None)
    stage, figures = Stage(name="bench", render=False), []
    for r in trace.rounds:
        if layout_of(r) is None:
            continue
        before, after = trace.cut(r.index), trace.cut(r.index + 1)
        place = f"{message.run_id(after)}/{r.index}/{len(r.draft.tokens) - 1}"

        def send(before: Trace = before, after: Trace = after) -> str | None:
            layout.cache_clear()
            return stage.postprocess(message.delta(before, after))

        def panels(after: Trace = after, place: str = place) -> str:
            told, mask, *lists = tree_handlers.panels(after, place, "en")
            return mask["value"].to_json() + json.dumps([told, *lists])

        sent_ms, sent = timed(send)
        panels_ms, shown = timed(panels)
        figures.append((len(r.draft.tokens), sent_ms, panels_ms, len(sent or ""), len(shown)))
    nodes, *columns = zip(*figures, strict=True)
    sent_ms, panels_ms, sent_bytes, panel_bytes = (statistics.median(column) for column in columns)
    print(
        json.dumps(
            {
                "rounds": len(figures),
                "nodes": max(nodes),
                "round_and_layout_ms": round(sent_ms, 2),
                "panels_ms": round(panels_ms, 2),
                "round_and_layout_kb": round(sent_bytes / 1000, 1),
                "panels_kb": round(panel_bytes / 1000, 1),
                "worst_kb": round(max(a + b for *_, a, b in figures) / 1000, 1),
            }
        )
    )


if __name__ == "__main__":
    main()

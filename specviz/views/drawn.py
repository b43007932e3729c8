"""A trace as the browser draws it: its JSON, and where the nodes of each tree stand."""

from __future__ import annotations

from specviz.trace import Round, Trace
from specviz.trace_json import round_to_json, trace_to_json
from specviz.views.tree_layout import layout_of


def drawn_round(r: Round) -> dict:
    """One round; where its draft is no chain, with `layout`."""
    return _with_layout(r, round_to_json(r))


def drawn_trace(trace: Trace) -> dict:
    """All of a trace."""
    data = trace_to_json(trace)
    data["rounds"] = [_with_layout(r, found) for r, found in zip(trace.rounds, data["rounds"], strict=True)]
    return data


def _with_layout(r: Round, data: dict) -> dict:
    layout = layout_of(r)
    return data if layout is None else data | {"layout": layout}

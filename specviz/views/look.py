"""The look that all figures share: their colours, their font, their axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

# Readable on white and on near-black alike; the stage's meanings: green = accepted, violet = leftover, red = rejected.
GREEN, VIOLET, RED, BLUE, AMBER = "#1f9a76", "#9b66df", "#dd5570", "#5b80ee", "#d0841c"
GREY, LINE = "#7b828e", "rgba(128,134,146,.28)"
HOVER = {"bgcolor": "#191c22", "bordercolor": "#7b828e", "font": {"color": "#ffffff", "size": 13}}
CLEAR = "rgba(0,0,0,0)"
MODEBAR = {"remove": ["select", "lasso", "zoomIn", "zoomOut", "autoScale"], "bgcolor": CLEAR}


# the parts of a round's time: (colour, hatching), told apart by either
SPENT = {
    "draft": (AMBER, "/"),
    "target": (BLUE, ""),
    "verify": (GREEN, "x"),
    "commit": (VIOLET, "\\"),
    "other": (RED, "."),
}


def spent(part: str) -> dict:
    """How a bar of time spent on `part` is filled."""
    color, shape = SPENT[part]
    hatch = {"fillmode": "overlay", "fgcolor": "rgba(255,255,255,.75)", "size": 7, "solidity": 0.2}
    return {"color": color, "pattern": {"shape": shape, **hatch}}


def figure(
    data: Sequence[BaseTraceType], x: Mapping, y: Mapping, *, size: int, legend: Mapping, **layout: object
) -> go.Figure:
    """`data` with these axes and this size of letters. A template of our own: Plotly's is larger than the data."""
    axis = {"gridcolor": LINE, "linecolor": LINE, "zerolinecolor": LINE}
    shared = {
        "template": go.layout.Template(),
        "font": {"color": GREY, "size": size, "family": "Inter, system-ui, sans-serif"},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "xaxis": axis | x,
        "yaxis": axis | y,
        "legend": {"orientation": "h", "yanchor": "bottom", "x": 0} | legend,
        "hoverlabel": HOVER,
    }
    return go.Figure(data=list(data), layout=shared | layout)

"""The look that all figures share: their colours, their font, their axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

GREY, LINE = "#7b828e", "rgba(128,134,146,.28)"
HOVER = {"bgcolor": "#191c22", "bordercolor": "#7b828e", "font": {"color": "#ffffff", "size": 13}}
CLEAR = "rgba(0,0,0,0)"
MODEBAR = {"remove": ["select", "lasso", "zoomIn", "zoomOut", "autoScale"], "bgcolor": CLEAR}


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

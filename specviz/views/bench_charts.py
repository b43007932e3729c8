"""The charts of a benchmark's report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from specviz.i18n import t
from specviz.views.look import AMBER, BLUE, GREY, SPENT, VIOLET, figure, spent

# Okabe and Ito's colours for lanes that stand side by side, told apart by their marks, too
LANES = {
    "ours_plain": (GREY, "circle-open"),
    "ours_draft": ("#0072b2", "circle"),
    "ours_skip": ("#cc79a7", "triangle-up"),
    "ours_eagle": ("#e69f00", "square"),
    "ours_medusa": ("#009e73", "diamond"),
    "ours_lookup": ("#d55e00", "cross"),
}
ROW = 44  # pixels of a bar


def speed(rows: Sequence[Mapping], lang: str) -> go.Figure:
    """Tokens per second of all contenders, with the middle half of their runs."""
    rows = rows[::-1]  # the first is on top
    bars = go.Bar(
        x=[row["tok_s"] for row in rows],
        y=[f"{_label(row)} ({row['precision']})" for row in rows],
        orientation="h",
        marker={"color": [BLUE if row["key"].startswith("ours") else GREY for row in rows]},
        text=[f"{row['tok_s']:.1f}" for row in rows],
        textposition="inside",
        textangle=0,
        insidetextanchor="start",
        textfont={"color": "#ffffff"},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [max(0.0, row["tok_s_q3"] - row["tok_s"]) for row in rows],
            "arrayminus": [max(0.0, row["tok_s"] - row["tok_s_q1"]) for row in rows],
            "color": AMBER,
        },
        hoverinfo="skip",
    )
    return _figure([bars], len(rows), t(lang, "bench.axis_tok_s"))


def speedup(rows: Sequence[Mapping], lang: str) -> go.Figure:
    """Measured and predicted, beside each other; the line at 1 is plain decoding."""
    rows = rows[::-1]
    names = [_label(row) for row in rows]
    measured = go.Bar(
        x=[row["speedup"] for row in rows],
        y=names,
        orientation="h",
        name=t(lang, "bench.page_measured"),
        marker={"color": BLUE},
        text=[None if row["speedup"] is None else f"{row['speedup']:.2f}" for row in rows],
        insidetextanchor="start",
    )
    predicted = go.Scatter(
        x=[row["predicted_speedup"] for row in rows],
        y=names,
        mode="markers",
        name=t(lang, "bench.page_predicted"),
        marker={"symbol": "diamond", "size": 14, "color": AMBER, "line": {"color": "#ffffff", "width": 1.5}},
        hovertext=[f"{row['predicted_speedup']:.2f}" for row in rows],
        hoverinfo="text",
    )
    figure = _figure([measured, predicted], len(rows), "×")
    figure.add_vline(1, line={"color": GREY, "width": 1.5, "dash": "dot"})
    return figure


def split(rows: Sequence[Mapping], lang: str) -> go.Figure:
    """Milliseconds of a round by stage."""
    rows = rows[::-1]
    bars = [
        go.Bar(
            x=[row["split_ms"][stage] for row in rows],
            y=[_label(row) for row in rows],
            orientation="h",
            name=t(lang, f"bench.stage_{stage}"),
            marker=spent(stage),
            hovertext=[f"{t(lang, f'bench.stage_{stage}')}: {row['split_ms'][stage] or 0:.2f} ms" for row in rows],
            hoverinfo="text",
        )
        for stage in SPENT
    ]
    return _figure(bars, len(rows), "ms")


def memory(rows: Sequence[Mapping], lang: str) -> go.Figure:
    """What came on top of the loaded models."""
    rows = rows[::-1]
    bars = go.Bar(
        x=[row["extra_mb"] for row in rows],
        y=[_label(row) for row in rows],
        orientation="h",
        marker={"color": VIOLET},
        text=[f"{row['extra_mb']:.0f}" for row in rows],
        hoverinfo="skip",
    )
    return _figure([bars], len(rows), "MB")


def swept(one: Mapping, lang: str) -> go.Figure:
    """Tokens per second against what was changed, a line a drafter; beside k and nodes plain decoding is level."""
    lines = []
    for lane in one["lanes"]:
        color, symbol = LANES.get(lane["key"], (GREY, "circle"))
        points = [point for point in lane["points"] if point["tok_s"] is not None]
        if not points:
            continue
        xs = [point["x"] for point in points]
        if xs == [None]:
            known = [p["x"] for other in one["lanes"] for p in other["points"] if p["x"] is not None]
            points, xs = points * 2, [min(known, default=0), max(known, default=1)]
        lines.append(
            go.Scatter(
                x=xs,
                y=[point["tok_s"] for point in points],
                name=lane["name"],
                mode="lines+markers",
                line={"color": color, "width": 2.5, "dash": "dot" if lane["key"] == "ours_plain" else "solid"},
                marker={"color": color, "symbol": symbol, "size": 9},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [max(0.0, point["tok_s_q3"] - point["tok_s"]) for point in points],
                    "arrayminus": [max(0.0, point["tok_s"] - point["tok_s_q1"]) for point in points],
                    "thickness": 1,
                },
            )
        )
    figure = _figure(lines, 8, t(lang, f"bench.axis_{one['over']}"))
    figure.update_yaxes(title=t(lang, "bench.axis_tok_s"))
    if one["over"] != "k":
        ticks = sorted({point["x"] for lane in one["lanes"] for point in lane["points"] if point["x"]})
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=[str(tick) for tick in ticks])
    else:
        figure.update_xaxes(dtick=1, rangemode="normal")
    return figure


def _label(row: Mapping) -> str:
    """A row's name in two lines: on a phone it stands beside a bar."""
    return str(row["name"]).replace(", ", ",<br>").replace("，", "，<br>")


def _figure(data: Sequence[go.Bar | go.Scatter], rows: int, unit: str) -> go.Figure:
    """As high as its rows need."""
    return figure(
        data,
        {"automargin": True, "title": unit, "rangemode": "tozero", "nticks": 6, "tickangle": 0},
        {"automargin": True, "rangemode": "tozero"},
        size=13,
        legend={"y": 1.02, "traceorder": "normal"},
        barmode="stack",
        bargap=0.3,
        margin={"l": 8, "r": 16, "t": 48, "b": 8},
        showlegend=len(data) > 1,
        height=130 + ROW * rows,
    )

"""The charts of a race: where a token's time goes, what is left of the possible speed-up, and a sweep as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from specviz.i18n import t
from specviz.race import LOSSES, PARTS, Result
from specviz.race_sweep import Sweep
from specviz.views.look import AMBER, BLUE, GREY, RED, figure, spent

RUNGS = ("possible", "accepted", "textbook", "predicted", "measured")
# slower than plain decoding, as fast, faster; each half has its own scale, so that 1 is always the pale middle
SLOW_TO_FAST = [[0.0, "#b8213f"], [0.5, "#f4f1ea"], [1.0, "#0a6e53"]]


def split(result: Result, lang: str) -> go.Figure:
    """Milliseconds a token, by what they were spent on: below the drafter's, above plain decoding's."""
    lanes = [("lane_fast", result.fast), ("lane_plain", result.plain)]
    bars = [
        go.Bar(
            x=[lane.per_token[part] for _, lane in lanes],
            y=[t(lang, f"race.{key}") for key, _ in lanes],
            orientation="h",
            name=t(lang, f"race.part_{part}"),
            marker=spent(part),
            hovertext=[f"{t(lang, f'race.part_{part}')}: {lane.per_token[part]:.2f} ms" for _, lane in lanes],
            hoverinfo="text",
        )
        for part in PARTS
    ]
    figure = _figure(bars, 190)
    figure.update_layout(barmode="stack", showlegend=True)
    figure.update_xaxes(title=t(lang, "race.axis_ms"))
    return figure


def ladder(result: Result, lang: str) -> go.Figure:
    """From the speed-up that would be possible to the measured one, and what took it away on each rung."""
    o = result.outlook
    values = [getattr(o, rung) for rung in RUNGS]
    lost = ["", *(f"÷ {o.losses[name]:.2f}" for name in LOSSES)]
    names = [t(lang, f"race.rung_{rung}") for rung in RUNGS]
    bars = go.Bar(
        x=values,
        y=names,
        orientation="h",
        marker={"color": [GREY, GREY, GREY, AMBER, BLUE], "opacity": [0.35, 0.5, 0.65, 1, 1]},
        hoverinfo="skip",
    )
    figure = _figure([bars], 240)
    figure.add_vline(1, line={"color": RED, "width": 1.5, "dash": "dot"}, layer="below")
    column = {"xref": "paper", "x": 1, "xanchor": "right", "showarrow": False, "align": "right"}
    for name, value, less in zip(names, values, lost, strict=True):
        figure.add_annotation(y=name, text=f"{less}&nbsp;&nbsp; <b>{value:.2f}×</b>", **column)
    figure.update_xaxes(range=[0, 1.4 * max(values)])
    figure.update_yaxes(autorange="reversed", showgrid=False)  # a line through a number would strike it out
    return figure


def heat(sweep: Sweep, lang: str) -> go.Figure:
    """Measured speed-up by k and temperature; what was not run stays empty, the best point is ringed."""
    rows = [[sweep.speedup(k, temperature) for k in sweep.ks] for temperature in sweep.temperatures]
    names = [f"T {temperature:g}" for temperature in sweep.temperatures]
    ks = [str(k) for k in sweep.ks]
    reach = max((abs(x - 1) for row in rows for x in row if x is not None), default=0.0)
    cells = go.Heatmap(
        x=ks,
        y=names,
        z=rows,
        zmin=1 - max(reach, 0.05),
        zmax=1 + max(reach, 0.05),
        colorscale=SLOW_TO_FAST,
        text=[["" if x is None else f"{x:.2f}" for x in row] for row in rows],
        texttemplate="%{text}",
        textfont={"size": 13},
        hovertext=[[_told(sweep, k, temperature, lang) for k in sweep.ks] for temperature in sweep.temperatures],
        hoverinfo="text",
        xgap=2,
        ygap=2,
        colorbar={"title": {"text": "×"}, "thickness": 12, "outlinewidth": 0},
    )
    figure = _figure([cells], 120 + 52 * len(names))
    best = sweep.best
    if best is not None:
        x, y = sweep.ks.index(best.k), sweep.temperatures.index(best.temperature)
        ring = {"x0": x - 0.47, "x1": x + 0.47, "y0": y - 0.46, "y1": y + 0.46}
        figure.add_shape(type="rect", **ring, line={"color": AMBER, "width": 4})
        figure.add_annotation(
            x=x, y=y, yshift=15, text="★", showarrow=False, font={"color": AMBER, "size": 16}, name="best"
        )
    figure.update_xaxes(title=t(lang, "race.axis_k"), type="category", dtick=1, showgrid=False)
    figure.update_yaxes(type="category", showgrid=False)
    return figure


def _told(sweep: Sweep, k: int, temperature: float, lang: str) -> str:
    found, speedup = sweep.at(k, temperature), sweep.speedup(k, temperature)
    if found is None or speedup is None:
        return t(lang, "race.cell_missing", k=k, temperature=f"{temperature:g}")
    return t(
        lang,
        "race.cell",
        k=k,
        temperature=f"{temperature:g}",
        speedup=f"{speedup:.2f}",
        speed=f"{found.tokens_per_second:.1f}",
        tokens=f"{found.tokens_per_round:.2f}",
    )


def _figure(data: Sequence[go.Bar | go.Heatmap], height: int) -> go.Figure:
    axis = {"automargin": True, "fixedrange": True}
    return figure(
        data,
        axis | {"nticks": 6, "tickangle": 0},
        axis,
        size=13,
        legend={"y": 1.02, "traceorder": "normal"},
        bargap=0.3,
        margin={"l": 8, "r": 8, "t": 36, "b": 8},
        showlegend=False,
        height=height,
    )

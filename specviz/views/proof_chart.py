"""The first token's distribution as a check found it: what it ought to be, what came out, what the fault does to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from specviz.chisquare import joint_z, wilson
from specviz.i18n import t
from specviz.proof import Report
from specviz.trace import Token
from specviz.views.look import BLUE, GREEN, GREY, MODEBAR, RED, figure
from specviz.views.numbers import prob
from specviz.views.tokens import unique_labels


def words_of(report: Report, lang: str) -> Mapping[int, Token]:
    """The tokens of a report by id; the toy's are words of the language."""
    if report.where == "toy":
        return {i: Token(i, word) for i, word in enumerate(t(lang, "proof.words").split(" "))}
    return {token.id: token for token in report.vocab}


def first_token(report: Report, lang: str) -> go.Figure | None:
    """Bars: the exact p; dots with intervals: what came out; hollow diamonds: the exact law of the fault, if known.

    The intervals hold together at 95 % (Wilson, Bonferroni).
    """
    trial = report.trial
    if trial is None or not trial.n:
        return None
    cells = trial.cells if report.where == "pair" else sorted(trial.cells, key=lambda cell: cell.token)
    names = unique_labels(words_of(report, lang), [cell.token for cell in cells])
    z = joint_z(len(cells))
    bands = [wilson(cell.seen, trial.n, z) for cell in cells]
    shares = [cell.seen / trial.n for cell in cells]
    expected = [cell.expected for cell in cells]
    wrong = trial.verdict == "caught"
    color = RED if wrong else GREEN
    hover = [
        t(lang, "proof.hover", token=name, p=prob(cell.expected), seen=cell.seen, n=trial.n, share=f"{share:.3f}")
        for name, cell, share in zip(names, cells, shares, strict=True)
    ]
    data: list = [
        go.Bar(
            x=names,
            y=expected,
            name=t(lang, "proof.chart_p"),
            marker={"color": BLUE, "opacity": 0.55},
            hovertext=hover,
            hoverinfo="text",
        ),
        go.Scatter(
            x=names,
            y=shares,
            name=t(lang, "proof.chart_seen", n=trial.n),
            mode="markers",
            marker={"symbol": "x" if wrong else "circle", "size": 10, "color": color},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [high - x for (_, high), x in zip(bands, shares, strict=True)],
                "arrayminus": [x - low for (low, _), x in zip(bands, shares, strict=True)],
                "color": color,
                "thickness": 2,
                "width": 6,
            },
            hoverinfo="skip",
        ),
    ]
    if report.fault is not None and all(cell.bent is not None for cell in cells):
        data.append(
            go.Scatter(
                x=names,
                y=[cell.bent for cell in cells],
                name=t(lang, "proof.chart_bent"),
                mode="markers",
                marker={"symbol": "diamond-open", "size": 13, "color": GREY, "line": {"width": 2}},
                hoverinfo="skip",
            )
        )
    return _figure(data, [*expected, *(high for _, high in bands)])


def _figure(data: list, heights: Sequence[float]) -> go.Figure:
    return figure(
        data,
        {"type": "category", "tickangle": -30, "automargin": True},
        {"range": [0, min(1.05, 1.1 * max(heights))], "nticks": 5},
        size=12,
        legend={"y": 1.04},
        bargap=0.4,
        modebar=MODEBAR,
        margin={"l": 40, "r": 10, "t": 60, "b": 10},
        height=340,
    )

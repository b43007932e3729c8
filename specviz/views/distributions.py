"""One position of a round as Plotly figures: p against q, and the residual that a rejected token is replaced from.

Positions are drafted nodes; the number after the last one stands for the token that ends the round.
"""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.i18n import t
from specviz.trace import Kind, Position, Round, Trace
from specviz.views.look import AMBER, BLUE, GREEN, GREY, MODEBAR, RED, VIOLET, figure
from specviz.views.numbers import prob, ratio
from specviz.views.tokens import unique_labels, vocabulary
from specviz.views.tree_shape import context_of
from specviz.views.words import takes_choice

SHOWN = 14  # tokens on the axis
LEAST_LEFT = 1e-3  # below this mass the residual is mostly rounding


def comparison(trace: Trace, round: int, position: int, lang: str) -> go.Figure:
    """p and q over the likeliest tokens of the context that a position was judged in.

    Where the gate is p / q of these two, what they share and what either has more of; else p with q beside it, the
    tokens that were drafted there outlined, and the limit of typical acceptance as a line.
    """
    r = trace.rounds[round]
    d = _detail(r, position)
    rows = _top(d, [max(p, q) for p, q in zip(d.p, d.q or d.p, strict=True)], _involved(r, position))
    names = unique_labels(vocabulary(trace), [d.ids[i] for i in rows])
    p, q = [d.p[i] for i in rows], [d.q[i] for i in rows] if d.q else []
    if not q or not plain_gate(r):
        hover = [f"{n}<br>p = {prob(x)}" for n, x in zip(names, p, strict=True)]
        if q:
            hover = [f"{text}<br>q = {prob(x)}" for text, x in zip(hover, q, strict=True)]
        bars = _bars(names, p, BLUE, t(lang, "views.p"), hover)
        bars.marker.line = {"color": _edges(d, rows, _involved(r, position)), "width": 3}
        figure = _figure([bars, _ticks(names, q, AMBER, t(lang, "views.q"))] if q else [bars])
        limit = _limit(r, position)
        if limit is not None:
            figure.add_hline(limit, line={"color": RED, "width": 1.5, "dash": "dot"})
        return figure
    hover = [
        f"{n}<br>p = {prob(a)}<br>q = {prob(b)}<br>p/q = {ratio(a, b)}" for n, a, b in zip(names, p, q, strict=True)
    ]
    common = [min(a, b) for a, b in zip(p, q, strict=True)]
    more = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
    less = [max(0.0, b - a) for a, b in zip(p, q, strict=True)]
    bars = [
        _bars(names, common, GREEN, t(lang, "views.common"), hover),
        _bars(names, more, VIOLET, t(lang, "views.more"), hover),
        _bars(names, less, RED, t(lang, "views.less"), hover, "/"),
        _ticks(names, p, BLUE, t(lang, "views.p")),
        _ticks(names, q, AMBER, t(lang, "views.q")),
    ]
    return _figure(bars)


def comparison_title(trace: Trace, round: int, position: int, lang: str) -> str:
    """What `comparison` shows, in words. Apart from the figure: a phone is narrower than the words."""
    r = trace.rounds[round]
    d = _detail(r, position)
    if not d.q:
        return t(lang, "views.title_p")
    if plain_gate(r):
        return t(lang, "views.title_pq", alpha=prob(d.alpha))
    limit = _limit(r, position)
    chosen = "_chosen" if takes_choice(trace) else ""
    return t(lang, f"views.title_both{chosen}") if limit is None else t(lang, "views.title_limit", limit=prob(limit))


def residual(trace: Trace, round: int, position: int, lang: str) -> go.Figure | None:
    """norm(max(0, p - q)), with the token that was drawn from it; None where p and q leave next to nothing.

    In a tree, what all refused siblings have left; it was recorded where a token was drawn from it, and only there.
    """
    r = trace.rounds[round]
    d = _detail(r, position)
    if not d.q or d.alpha is None:
        return None
    recovered = _recovered(r, position)
    mass = 1 - d.alpha
    if not d.r and (mass < LEAST_LEFT or not plain_gate(r)):
        return None
    rest = d.r or tuple(max(0.0, p - q) / mass for p, q in zip(d.p, d.q, strict=True))
    drawn = r.final.token if recovered and r.final else None
    rows = _top(d, rest, {drawn})
    names = unique_labels(vocabulary(trace), [d.ids[i] for i in rows])
    values = [rest[i] for i in rows]
    hover = [f"{n}<br>{prob(x)}" for n, x in zip(names, values, strict=True)]
    bars = _bars(names, values, VIOLET, t(lang, "views.residual"), hover)
    bars.marker.line = {"color": _edges(d, rows, {drawn}), "width": 3}
    if drawn is not None and drawn in [d.ids[i] for i in rows]:
        at = [d.ids[i] for i in rows].index(drawn)
        bars.text = ["↻ " + prob(x) if i == at else "" for i, x in enumerate(values)]
        bars.textposition = "outside"
        bars.cliponaxis = False
    return _figure([bars])


def residual_title(trace: Trace, round: int, position: int, lang: str) -> str:
    """What `residual` shows, in words."""
    r = trace.rounds[round]
    if not plain_gate(r):
        return t(lang, "views.title_left")
    mass = 1 - (_detail(r, position).alpha or 0.0)
    if not _recovered(r, position):
        return t(lang, "views.title_residual", mass=prob(mass))
    return t(lang, "views.title_taken" if takes_choice(trace) else "views.title_drawn", mass=prob(mass))


def plain_gate(r: Round) -> bool:
    """Whether a token was accepted when u < p / q with p and q of its whole context: in a chain, by the usual rule."""
    return r.draft.shape.is_chain and all(v.limit is None for v in r.verdicts)


def _recovered(r: Round, position: int) -> bool:
    """Whether the round's last token was drawn from the leftover of the context of this position."""
    return r.final is not None and r.final.kind is Kind.RECOVERED and _ends(r, position)


def _ends(r: Round, position: int) -> bool:
    """Whether the accepted path ends in the context of this position."""
    return context_of(r, position) == (r.path[-1] + 1 if r.path else 0)


def _limit(r: Round, position: int) -> float | None:
    """What p had to pass here by typical acceptance, which draws no u; None for other rules."""
    verdicts = [r.verdicts[node] for node in r.draft.shape.children[context_of(r, position)]]
    return next((v.limit for v in verdicts if v.u is None), None)


def _detail(r: Round, position: int) -> Position:
    if r.detail is None:
        raise LookupError("the round was recorded without detail")
    return r.detail[context_of(r, position)]


def _involved(r: Round, position: int) -> set[int | None]:
    """Tokens that must be on the axis: the drafted ones of this context and the one that was drawn in it."""
    drafted = {r.draft.tokens[node] for node in r.draft.shape.children[context_of(r, position)]}
    return {*drafted, r.final.token if r.final and _ends(r, position) else None}


def _top(d: Position, weights: list[float] | tuple[float, ...], must: set[int | None]) -> list[int]:
    """Rows of the heaviest tokens, heaviest first, and those that must be there."""
    order = sorted(range(len(d.ids)), key=lambda i: -weights[i])
    kept = [i for i in order if d.ids[i] in must]
    rest = [i for i in order if d.ids[i] not in must and weights[i] > 0]
    chosen = {*kept, *rest[: max(0, SHOWN - len(kept))]}
    return [i for i in order if i in chosen]


def _edges(d: Position, rows: list[int], outlined: set[int | None]) -> list[str]:
    return [GREY if d.ids[i] in outlined else "rgba(0,0,0,0)" for i in rows]


def _bars(names: list[str], values: list[float], color: str, title: str, hover: list[str], hatch: str = "") -> go.Bar:
    pattern = {"shape": hatch, "fgcolor": color, "bgcolor": "rgba(0,0,0,0)", "size": 5, "solidity": 0.45}
    marker = {"color": color} | ({"pattern": pattern} if hatch else {})
    return go.Bar(x=names, y=values, name=title, marker=marker, hovertext=hover, hoverinfo="text")


def _ticks(names: list[str], values: list[float], color: str, title: str) -> go.Scatter:
    marker = {"symbol": "line-ew", "size": 16, "line": {"color": color, "width": 3}, "color": color}
    return go.Scatter(x=names, y=values, name=title, mode="markers", marker=marker, hoverinfo="skip")


def _figure(bars: list) -> go.Figure:
    return figure(
        bars,
        {"fixedrange": False, "type": "category", "tickangle": -40, "automargin": True},
        {"fixedrange": False, "rangemode": "tozero", "nticks": 5},
        size=12,
        legend={"y": 1.04, "traceorder": "normal"},
        barmode="stack",
        bargap=0.35,
        modebar=MODEBAR,
        margin={"l": 40, "r": 10, "t": 64, "b": 10},
        showlegend=len(bars) > 1,
        height=370,
    )

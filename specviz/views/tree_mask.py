"""The tree attention mask as a heat map: who sees whom in the target's one pass over the text's last token and a draft.

Rows look at columns. Every node sees the text, its ancestors and itself; that is what makes one pass over all branches
give the same numbers as a pass over each branch alone (Miao et al., "SpecInfer", arXiv 2305.09781, section 4.1).
"""

from __future__ import annotations

import plotly.graph_objects as go

from specviz.i18n import t
from specviz.trace import Round, Trace
from specviz.views.look import BLUE, GREEN, GREY, MODEBAR, figure
from specviz.views.tokens import label, name, vocabulary
from specviz.views.tree_shape import last_token

DEEP = "#2b50c4"  # a token itself; of one family with its ancestors
BEFORE = "rgba(91,128,238,.3)"  # the text before; these are the colours of the mask on the stage, too
FAINT = "rgba(128,134,146,.10)"
NAMED = 20  # up to so many nodes their names fit beside the rows
COUNTED = 8  # in a larger tree every so many is numbered
TEXT = -1  # column of the text before


def mask(trace: Trace, round: int, node: int | None, lang: str) -> go.Figure:
    """Columns: the text before, its last token (0), then node i as i + 1. `node`: the selected one, framed."""
    r = trace.rounds[round]
    n = len(r.draft.parents)
    vocab = vocabulary(trace)
    tokens = (last_token(trace, r), *r.draft.tokens)
    names = [f"{i} · {label(vocab, token)}" for i, token in enumerate(tokens)]
    sees = [[0, *(ancestor + 1 for ancestor in r.draft.shape.path(i - 1))] for i in range(n + 1)]

    def picture(key: str, color: str, cells: list[list[int | None]], first: int = 0) -> go.Heatmap:
        return go.Heatmap(
            z=cells,
            x0=first,
            dx=1,
            y0=0,
            dy=1,
            zmin=0,
            zmax=1,
            colorscale=[[0, color], [1, color]],
            showscale=False,
            xgap=0 if n > NAMED else 1,
            ygap=0 if n > NAMED else 1,
            hoverongaps=False,
            hovertemplate=t(lang, key, row="%{y}", column="%{x}") + "<extra></extra>",
        )

    kept = {i + 1 for i in r.path}
    hidden = [[None if j in above else 1 for j in range(n + 1)] for above in map(set, sees)]
    # nobody sees what comes after, so these rows end at the diagonal
    ancestors = [
        [1 if j in above[:-1] and i not in kept else None for j in range(i + 1)] for i, above in enumerate(sees)
    ]
    selves = [[None] * i + [None if i in kept else 1] for i in range(n + 1)]
    accepted = [[1 if j in above and i in kept else None for j in range(i + 1)] for i, above in enumerate(sees)]
    pictures = [
        picture("views.mask_unseen", FAINT, hidden),
        picture("views.mask_ancestor", BLUE, ancestors),
        picture("views.mask_itself", DEEP, selves),
        picture("views.mask_kept", GREEN, accepted),
        picture("views.mask_text", BEFORE, [[1]] * (n + 1), TEXT),
    ]
    ticks = [TEXT, *range(n + 1)]
    axis = {
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [t(lang, "views.mask_before"), *names],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "ticks": "",
        "constrain": "domain",
    }
    drawn = figure(
        pictures,
        # the names of columns are told when a square is pointed at; what is written there are the rows' numbers
        axis | {"side": "top", "range": [TEXT - 0.5, n + 0.5], "showticklabels": False},
        axis | {"range": [n + 0.5, -0.5], "scaleanchor": "x", "showticklabels": n <= NAMED},
        size=11,
        legend={},
        font={"color": GREY, "size": 11, "family": "ui-monospace, Menlo, Consolas, monospace"},
        annotations=_numbers(n),
        modebar=MODEBAR,
        margin={"l": 8 if n <= NAMED else 28, "r": 8, "t": 22, "b": 8},
        height=420 if n <= NAMED else 560,
        showlegend=False,
    )
    if node is not None and 0 <= node < n:
        _frame(drawn, node + 1, n)
    return drawn


def _numbers(n: int) -> list[dict]:
    """Of columns, and of rows that have no names."""
    plain = {"showarrow": False, "font": {"size": 10}}
    every = range(0, n + 1, 1 if n <= NAMED else COUNTED)
    above = [plain | {"text": str(i), "x": i, "y": -0.5, "yanchor": "bottom"} for i in every]
    beside = [plain | {"text": str(i), "x": TEXT - 0.5, "y": i, "xanchor": "right"} for i in every if n > NAMED]
    return above + beside


def _frame(figure: go.Figure, i: int, n: int) -> None:
    """Two bands around what a node sees and who sees it."""
    line = {"color": GREY, "width": 1.5}
    figure.add_shape(type="rect", x0=TEXT - 0.5, x1=n + 0.5, y0=i - 0.5, y1=i + 0.5, line=line)
    figure.add_shape(type="rect", x0=i - 0.5, x1=i + 0.5, y0=-0.5, y1=n + 0.5, line=line)


def seen_by(trace: Trace, r: Round, node: int, lang: str) -> str:
    """In words, plain text: where the selected node stands and what it sees."""
    vocab = vocabulary(trace)
    above = r.draft.shape.path(node)[:-1]
    named = (t(lang, "views.node_named", n=i + 1, token=name(vocab, r.draft.tokens[i])) for i in above)
    names = t(lang, "views.list_gap").join(named)
    key = "views.sees" if above else "views.sees_text_only"
    return t(lang, key, n=node + 1, ancestors=names, count=len(above), text=r.start, position=r.start + len(above))

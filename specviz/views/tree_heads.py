"""What the drafter thought on each level: its likeliest tokens with q, and which of them the tree took up. HTML.

Of Medusa heads there is one list a level, for a head does not know what the heads before it chose. Of other drafters
each node has a list of its own; shown are those along the selected path, then along the first children.
"""

from __future__ import annotations

from specviz.i18n import t
from specviz.trace import Position, Round, Trace
from specviz.views.numbers import prob
from specviz.views.tokens import markup, name, vocabulary
from specviz.views.tree_shape import last_token

SHOWN = 8  # likeliest tokens a level; as many as a large tree's record holds. The tree's own come on top


def levels(trace: Trace, round: int, node: int | None, lang: str) -> str:
    """One list a level. "" where the round was recorded without distributions, or nothing was drafted."""
    r = trace.rounds[round]
    if r.detail is None or not r.draft.tokens:
        return ""
    lists = []
    for depth, context in enumerate(_of_heads(r) if trace.config.method == "medusa" else _line(r, node), 1):
        lists.append(f"<section><h4>{_title(trace, r, depth, context, lang)}</h4>{_list(trace, r, context)}</section>")
    return f'<div class="sv-p-heads">{"".join(lists)}</div>'


def _line(r: Round, node: int | None) -> list[int]:
    """Contexts from the root down to where nothing was drafted any more, through the selected node."""
    shape = r.draft.shape
    below = shape.children
    path = shape.path(node) if node is not None and node < len(shape) else r.path
    contexts = [0, *(i + 1 for i in path)]
    while below[contexts[-1]]:
        contexts.append(below[contexts[-1]][0] + 1)
    return [c for c in contexts if below[c]]


def _of_heads(r: Round) -> list[int]:
    """A context for each depth: all of a depth have the same list."""
    depth = r.draft.shape.depths
    return [r.draft.parents[depth.index(level)] + 1 for level in range(1, max(depth) + 1)]


def _title(trace: Trace, r: Round, depth: int, context: int, lang: str) -> str:
    vocab = vocabulary(trace)
    if trace.config.method == "medusa":
        return markup(t(lang, "views.head", n=depth))
    before = [r.draft.tokens[i] for i in r.draft.shape.path(context - 1)] or [last_token(trace, r)]
    return markup(t(lang, "views.level", n=depth, token=name(vocab, before[-1])))


def _list(trace: Trace, r: Round, context: int) -> str:
    assert r.detail is not None
    vocab, d = vocabulary(trace), r.detail[context]
    drafted = sorted(_drafted_from(trace, r, context), key=lambda i: (i in r.path, -i))  # of two alike the kept one
    nodes = {r.draft.tokens[i]: i for i in drafted}
    listed = [(str(rank), d.ids[i], d.q[i]) for rank, i in enumerate(_likeliest(d)[:SHOWN], 1)]
    known = {token for _, token, _ in listed}
    # the record does not tell which place these have
    listed += [("…", token, r.draft.q[i]) for token, i in sorted(nodes.items(), key=_by_node) if token not in known]
    most = max((q for *_, q in listed), default=1.0) or 1.0
    items = []
    for rank, token, q in listed:
        taken = nodes.get(token)
        kinds = "" if taken is None else "sv-p-won" if taken in r.path else "sv-p-taken"
        mark = "" if taken is None else "✓" if taken in r.path else "●"
        at = "" if taken is None else f' data-node="{taken}"'  # the browser marks the selected one, and selects it
        items.append(
            f'<li class="{kinds}"{at}><small>{rank}</small><i>{mark}</i><bdi>{markup(name(vocab, token, 16))}</bdi>'
            f'<b style="--v:{q / most:.3f}"></b><span>{markup(prob(q))}</span></li>'
        )
    return f"<ol>{''.join(items)}</ol>"


def _by_node(item: tuple[int, int]) -> int:
    return item[1]


def _drafted_from(trace: Trace, r: Round, context: int) -> list[int]:
    """The nodes that were taken from the list of this context: its children; of a head's list, its whole level."""
    below = r.draft.shape.children[context]
    if trace.config.method != "medusa":
        return below
    depth = r.draft.shape.depths
    return [i for i, at in enumerate(depth) if at == depth[below[0]]]


def _likeliest(d: Position) -> list[int]:
    """Places in the record by falling q, without those that were never possible."""
    return sorted((i for i, q in enumerate(d.q) if q > 0), key=lambda i: -d.q[i])

"""A candidate tree as lists, in HTML: its paths, and where each node stands in the text and in the cache.

Everything that a model or a visitor wrote is escaped; every number is the trace's own. What stands for a node has its
index as `data-node`: the browser marks the selected one there, and selects it where it is clicked.
"""

from __future__ import annotations

from collections.abc import Iterable

from specviz.i18n import joined, t
from specviz.trace import Round, Status, Trace
from specviz.views.tokens import markup, name, vocabulary
from specviz.views.tree_shape import last_token, leaves

LINES = 15  # more make a list long
PATHS_CUT, ROWS_CUT = 424, 412  # heights of long lists, in pixels: those of some lines and about a half
ICONS = {Status.ACCEPTED: "✓", Status.REJECTED: "✕", Status.UNREACHED: "·"}  # as on the stage


def paths(trace: Trace, round: int, lang: str) -> str:
    """All paths from the root to a leaf, each with how many of its tokens were accepted."""
    r = trace.rounds[round]
    vocab, kept = vocabulary(trace), set(r.path)
    listed = []
    shape = r.draft.shape
    for leaf in leaves(shape):
        path = shape.path(leaf)
        good = sum(i in kept for i in path)
        tokens = "".join(_token(r, i, name(vocab, r.draft.tokens[i])) for i in path)
        length = markup(t(lang, "views.path_length", n=good, of=len(path)))
        won = ' class="sv-p-won"' if kept and path[: len(r.path)] == r.path else ""
        line = f'<span class="sv-p-path">{tokens}</span><small>{length}</small>'
        listed.append(f'<li{won} data-node="{leaf}">{line}</li>')
    lead = markup(t(lang, "views.paths_lead", paths=len(listed), n=len(r.path), emitted=len(r.emitted)))
    box = _box(len(listed), PATHS_CUT, t(lang, "views.paths_list"))
    return f'<p class="sv-figure-title">{lead}</p><ol class="sv-p-paths"{box}>{"".join(listed)}</ol>'


def rows(trace: Trace, round: int, lang: str) -> str:
    """Position ids and cache rows of the target's pass, and which rows are gathered where when the path is kept."""
    r = trace.rounds[round]
    vocab, depth = vocabulary(trace), r.draft.shape.depths
    moved = {i: r.start + at for at, i in enumerate(r.path)}
    root = [
        "",
        _name(name(vocab, last_token(trace, r))),
        r.start - 1,
        r.start - 1,
        markup(t(lang, "views.row_stays")),
    ]
    body = [_row(root, ' class="sv-p-won"')]
    for i, token in enumerate(r.draft.tokens):
        after = _afterwards(r, i, moved, lang)
        cells = [i + 1, _token(r, i, name(vocab, token)), r.start - 1 + depth[i], r.start + i, after]
        won = ' class="sv-p-won"' if i in moved else ""
        body.append(_row(cells, f'{won} data-node="{i}"'))
    heads = [t(lang, f"views.rows_{column}") for column in ("node", "token", "position", "row", "after")]
    table = f"<thead>{_row(map(markup, heads), tag='th')}</thead><tbody>{''.join(body)}</tbody>"
    lead = f'<p class="sv-figure-title">{markup(_compaction(r, lang))}</p>'
    box = _box(len(r.draft.tokens) + 2, ROWS_CUT, t(lang, "views.rows_list"))
    return f'{lead}<div class="sv-p-scroll" role="group"{box}><table class="sv-p-table">{table}</table></div>'


def _box(lines: int, cut: int, label: str) -> str:
    """Attributes of a list that scrolls: reached with the keyboard, and not to be taken for a row of buttons.

    A long one ends in the middle of a line, so that it is seen to go on.
    """
    height = f"; max-height: {cut}px" if lines > LINES else ""
    return f' tabindex="0" aria-label="{markup(label)}" style="cursor: default{height}"'


def _compaction(r: Round, lang: str) -> str:
    """What happens to the rows, in one sentence."""
    n, kept = len(r.draft.tokens), len(r.path)
    moves = sum(i != at for at, i in enumerate(r.path))
    key = "views.rows_gathered" if moves else "views.rows_cut"
    more = "" if r.draft_rows is None else t(lang, "views.rows_draft", full=r.draft_rows.full, kept=r.draft_rows.kept)
    values = {"full": r.target_rows.full, "left": r.target_rows.kept, "kept": kept, "moves": moves, "gone": n - kept}
    return joined(lang, t(lang, key, **values), more)


def _afterwards(r: Round, node: int, moved: dict[int, int], lang: str) -> str:
    if node not in moved:
        return markup(t(lang, "views.row_gone"))
    if moved[node] == r.start + node:
        return markup(t(lang, "views.row_stays"))
    return markup(t(lang, "views.row_moves", row=moved[node]))


def _token(r: Round, node: int, text: str) -> str:
    status = r.verdicts[node].status
    return f'<span class="sv-p-node sv-{status}" data-node="{node}"><i>{ICONS[status]}</i>{_name(text)}</span>'


def _name(text: str) -> str:
    """A token's name: in a `bdi`, so that right-to-left text does not turn what stands around it."""
    return f"<bdi>{markup(text)}</bdi>"


def _row(cells: Iterable[object], attributes: str = "", tag: str = "td") -> str:
    return f"<tr{attributes}>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

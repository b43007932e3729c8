"""Where the nodes of a candidate tree are drawn: depth to the right, siblings in their order, no edge over another.

Small trees are tidy in the sense of Reingold and Tilford (1981): every parent in the middle of its children. A tidy
tree of 63 nodes is higher than a screen, so large ones are pressed together: to the height of their widest level, each
level as near to its tidy places as its order and the distance of one row allow (isotonic regression).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

import networkx as nx

from specviz.trace import Round

ROOMY = 24  # rows that fit on any screen: up to here a tree stays tidy
APART = 0.5  # rows that are left free above and below the round's last token, beside the usual distance of 1
DIGITS = 3


def layout_of(r: Round) -> dict | None:
    """The layout of a round's draft; None for a chain, which needs none."""
    if r.draft.shape.is_chain:
        return None
    end = None if r.final is None else r.path[-1] if r.path else -1
    return layout(r.draft.parents, end)


@lru_cache(maxsize=256)  # all rounds of a run have much the same tree
def layout(parents: tuple[int, ...], end: int | None = None) -> dict:
    """Columns and rows of the n nodes; not to be changed by the caller.

    parents  parents[i] < i, -1 is the root
    end      the node after which the round's last token was drawn (-1: the root): it gets a place as one more child,
             somewhat apart from its neighbours

    x [n]    column: the depth, from 1 on
    y [n]    row from 0 to rows - 1; nodes of a column are at least 1 apart
    root     row of the root, whose column is 0
    final    [column, row] of the round's last token, or null
    rows, levels  what the tree spans, without the final token in `levels`
    """
    n = len(parents)
    whole = parents if end is None else (*parents, end)
    tree = nx.DiGraph()
    tree.add_nodes_from(range(-1, len(whole)))
    tree.add_edges_from((parent, node) for node, parent in enumerate(whole))
    levels = [sorted(level, key=_order(tree)) for level in nx.bfs_layers(tree, -1)]
    final = None if end is None else n
    y = _tidy(tree, final)
    rows = max(ROOMY, *(_least(level, final)[-1] + 1 for level in levels))
    if max(y.values()) - min(y.values()) + 1 > rows:
        y = _pressed(tree, levels, y, rows, final)
    top = min(y.values())
    column = {node: depth for depth, level in enumerate(levels) for node in level}
    place = {node: round(row - top, DIGITS) for node, row in y.items()}
    return {
        "x": [column[node] for node in range(n)],
        "y": [place[node] for node in range(n)],
        "root": place[-1],
        "final": None if end is None else [column[n], place[n]],
        "rows": round(max(place.values()) + 1, DIGITS),
        "levels": max((column[node] for node in range(n)), default=0),
    }


def _order(tree: nx.DiGraph) -> Callable[[int], int]:
    """Sorts a level so that children come in the order of their parents: by when a walk from the root comes to them."""
    return {node: i for i, node in enumerate(nx.dfs_preorder_nodes(tree, -1))}.__getitem__


def _least(level: list[int], final: int | None) -> list[float]:
    """Rows of a level that is pressed together as far as it can be."""
    rows = [0.0]
    for pair in pairwise(level):
        rows.append(rows[-1] + 1 + (APART if final in pair else 0))
    return rows


def _tidy(tree: nx.DiGraph, final: int | None) -> dict[int, float]:
    """Subtrees are drawn on their own and pushed against each other, as near as their outlines allow."""
    shift = {-1: 0.0}  # row relative to the parent
    outlines: dict[int, list[list[float]]] = {}  # per level below a node: [first row, last row], relative to it
    for node in nx.dfs_postorder_nodes(tree, -1):
        outline: list[list[float]] = []
        kids = list(tree.successors(node))
        for kid in kids:
            below = outlines.pop(kid)
            at = max((mine[1] + 1 - its[0] for mine, its in zip(outline, below, strict=False)), default=0.0)
            shift[kid] = at
            for level, (first, last) in enumerate(below):
                if level < len(outline):
                    outline[level][1] = last + at
                else:
                    outline.append([first + at, last + at])
        middle = (shift[kids[0]] + shift[kids[-1]]) / 2 if kids else 0.0
        for kid in kids:
            shift[kid] -= middle
        own = [-APART, APART] if node == final else [0.0, 0.0]
        outlines[node] = [own, *([first - middle, last - middle] for first, last in outline)]
    y = {-1: 0.0}
    for parent, kid in nx.dfs_edges(tree, -1):
        y[kid] = y[parent] + shift[kid]
    return y


def _pressed(
    tree: nx.DiGraph, levels: list[list[int]], tidy: dict[int, float], rows: float, final: int | None
) -> dict[int, float]:
    """The tree in `rows` rows: the widest level first, then parents near their children, then children below it."""
    low, high = min(tidy.values()), max(tidy.values())
    y = {node: (row - low) * (rows - 1) / (high - low) for node, row in tidy.items()}
    widest = max(range(len(levels)), key=lambda i: _least(levels[i], final)[-1])

    def settle(level: list[int], wanted: list[float]) -> None:
        y.update(zip(level, _apart(wanted, _least(level, final), rows - 1), strict=True))

    settle(levels[widest], [y[node] for node in levels[widest]])
    for level in reversed(levels[:widest]):
        settle(level, [_middle([y[kid] for kid in tree.successors(node)], y[node]) for node in level])
    for above, level in zip(levels[widest:], levels[widest + 1 :], strict=False):
        wanted = []
        for parent in above:
            kids = list(tree.successors(parent))
            wanted += [y[parent] + i - (len(kids) - 1) / 2 for i in range(len(kids))]
        settle(level, wanted)
    return y


def _middle(rows: list[float], otherwise: float) -> float:
    return (min(rows) + max(rows)) / 2 if rows else otherwise


def _apart(wanted: Sequence[float], least: Sequence[float], last: float) -> list[float]:
    """Rows from 0 to `last`, as far apart as `least` at least, with the least sum of squared distances from `wanted`.

    Without the distances the rows must only not fall: pool adjacent violators (Barlow et al., 1972), then the limits.
    """
    pools: list[list[float]] = []  # [sum, count]
    for row, at in zip(wanted, least, strict=True):
        pools.append([row - at, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    flat = [total / count for total, count in pools for _ in range(int(count))]
    return [min(max(row, 0.0), last - least[-1]) + at for row, at in zip(flat, least, strict=True)]

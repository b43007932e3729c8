"""Where the nodes of a candidate tree are drawn: depth to the right, siblings in their order, no edge over another.

Small trees are tidy in the sense of Reingold and Tilford (1981): every parent in the middle of its children. A tidy
tree of 63 nodes is higher than a screen, so large ones are pressed together: to the height of their widest level, each
level as near to its tidy places as its order and the distance of one row allow (isotonic regression).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import networkx as nx

from specviz.trace import Round

ROOMY = 24  # rows that fit on any screen: up to here a tree stays tidy
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
    end      the node after which the round's last token was drawn (-1: the root): it gets a place as one more child

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
    y = _tidy(tree)
    widest = max(map(len, levels))
    if max(y.values()) - min(y.values()) + 1 > max(ROOMY, widest):
        y = _pressed(tree, levels, y, max(ROOMY, widest))
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


def _tidy(tree: nx.DiGraph) -> dict[int, float]:
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
        outlines[node] = [[0.0, 0.0], *([first - middle, last - middle] for first, last in outline)]
    y = {-1: 0.0}
    for parent, kid in nx.dfs_edges(tree, -1):
        y[kid] = y[parent] + shift[kid]
    return y


def _pressed(tree: nx.DiGraph, levels: list[list[int]], tidy: dict[int, float], rows: int) -> dict[int, float]:
    """The tree in `rows` rows: the widest level first, then parents near their children, then children below it."""
    low, high = min(tidy.values()), max(tidy.values())
    y = {node: (row - low) * (rows - 1) / (high - low) for node, row in tidy.items()}
    widest = max(range(len(levels)), key=lambda i: len(levels[i]))

    def settle(level: list[int], wanted: list[float]) -> None:
        y.update(zip(level, _apart(wanted, rows - 1), strict=True))

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


def _apart(wanted: Sequence[float], last: float) -> list[float]:
    """Rows from 0 to `last`, rising by at least 1, with the least sum of squared distances from `wanted`.

    Without the distances the rows must only not fall: pool adjacent violators (Barlow et al., 1972), then the limits.
    """
    pools: list[list[float]] = []  # [sum, count]
    for i, row in enumerate(wanted):
        pools.append([row - i, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    flat = [total / count for total, count in pools for _ in range(int(count))]
    room = last - (len(wanted) - 1)
    return [min(max(row, 0.0), room) + i for i, row in enumerate(flat)]

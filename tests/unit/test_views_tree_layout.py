"""Where a tree is drawn: columns by depth, nothing on top of anything, no edge across another, not too high."""

import random
from collections import defaultdict
from itertools import pairwise

import pytest

from specviz.choices import of_profile
from specviz.views import tree_layout
from specviz.views.tree_layout import layout


def parents_of(choices):
    at = {choice: node for node, choice in enumerate(choices)}
    return tuple(at.get(choice[:-1], -1) for choice in choices)


def random_tree(seed, n):
    rng = random.Random(seed)
    parents = []
    for node in range(n):
        parents.append(rng.choice([-1, -1, *range(max(0, node - 8), node)]))
    return tuple(parents)


def columns(parents, drawn):
    """Per column its nodes (and the final token as n) from top to bottom."""
    found = defaultdict(list)
    for node in range(len(parents)):
        found[drawn["x"][node]].append((drawn["y"][node], node))
    if drawn["final"]:
        found[drawn["final"][0]].append((drawn["final"][1], len(parents)))
    return {x: sorted(column) for x, column in found.items()}


TREES = [
    (), (-1,), (-1, -1, -1), (-1, 0, 1, 2), (-1, -1, 0, 0, 1, 4), parents_of(of_profile((3, 3, 2))),
    parents_of(of_profile()), parents_of(of_profile((10, 28, 24, 2))), *(random_tree(seed, 64) for seed in range(8)),
]  # fmt: skip


@pytest.mark.parametrize("parents", TREES)
@pytest.mark.parametrize("ends", [False, True])
def test_a_layout(parents, ends):
    end = len(parents) // 2 - 1 if ends else None
    drawn = layout(parents, end)
    n = len(parents)
    assert len(drawn["x"]) == len(drawn["y"]) == n
    depth = {-1: 0}
    for node, parent in enumerate(parents):
        depth[node] = depth[parent] + 1
    assert drawn["x"] == [depth[node] for node in range(n)]
    assert drawn["levels"] == max(depth.values())
    whole = (*parents, end) if ends else parents
    for column in columns(parents, drawn).values():
        rows = [y for y, _ in column]
        assert all(b - a >= 0.999 for a, b in pairwise(rows))
        assert 0 <= rows[0] <= rows[-1] <= drawn["rows"] - 1 + 1e-9
        above = [drawn["root"] if whole[node] < 0 else drawn["y"][whole[node]] for _, node in column]
        assert above == sorted(above)  # edges between two columns keep their order, so none crosses another
    assert (drawn["final"] is None) == (not ends)
    if ends:
        assert drawn["final"][0] == depth[end] + 1
        beside = [y for y, node in columns(parents, drawn)[drawn["final"][0]] if node < n]
        assert all(abs(y - drawn["final"][1]) >= 1.499 for y in beside)


@pytest.mark.parametrize("parents", [(-1, -1, 0, 0, 1, 4), parents_of(of_profile((3, 3, 2)))])
def test_small_trees_are_tidy(parents):
    drawn = layout(parents)
    for parent in range(-1, len(parents)):
        rows = [drawn["y"][node] for node in range(len(parents)) if parents[node] == parent]
        if rows:
            here = drawn["root"] if parent < 0 else drawn["y"][parent]
            assert here == pytest.approx((min(rows) + max(rows)) / 2, abs=1e-3)


def test_a_large_tree_is_as_high_as_its_widest_level():
    assert layout(parents_of(of_profile()))["rows"] == 28


def test_rows_are_moved_as_little_as_possible():
    assert tree_layout._apart([3, 3, 3], [0, 1, 2], 10) == [2, 3, 4]
    assert tree_layout._apart([0, 0, 0], [0, 1, 2], 10) == [0, 1, 2]
    assert tree_layout._apart([9, 10, 10], [0, 1, 2], 10) == [8, 9, 10]
    assert tree_layout._apart([1, 5, 7], [0, 1, 2], 10) == [1, 5, 7]
    assert tree_layout._apart([3, 3], [0, 1.5], 10) == [2.25, 3.75]

"""Candidate trees as data: what is refused, the published profile, the best tree of an accuracy table."""

import math
from itertools import combinations, pairwise, product

import pytest

from specviz.choices import MAX_DEPTH, MAX_NODES, MAX_RANK, best_tree, check_choices, expected_length, of_profile
from specviz.config import RunConfig
from specviz.errors import SpecvizError


@pytest.mark.parametrize(
    ("choices", "key", "named"),
    [
        ("[[0]]", "form", "[[0]]"),
        ({0: 1}, "form", "{0: 1}"),
        (None, "form", "None"),
        ([[0], 3], "form", "3"),
        ([[0], "01"], "form", "01"),
        ([[0], [1.0]], "form", "[1.0]"),
        ([[0], [True]], "form", "[True]"),
        ([[0], [None]], "form", "[None]"),
        ([[0], [[1]]], "form", "[[1]]"),
        ([[0], []], "depth", "[]"),
        ([[0], [0] * (MAX_DEPTH + 1)], "depth", str([0] * (MAX_DEPTH + 1))),
        ([[0], [-1]], "rank", "[-1]"),
        ([[0], [0, MAX_RANK + 1]], "rank", f"[0, {MAX_RANK + 1}]"),
        ([[0], [10**400]], "rank", str([10**400])[:60]),
        ([[0], [1], [0]], "twice", "[0]"),
        ([[0], [0, 1], (0, 1)], "twice", "[0, 1]"),
        ([[0], [1, 2]], "prefix", "[1, 2]"),
        ([[0], [0, 0, 3]], "prefix", "[0, 0, 3]"),
        ([[0, 0]], "prefix", "[0, 0]"),
    ],
)
def test_each_refusal_names_the_entry(choices, key, named):
    with pytest.raises(SpecvizError) as error:
        check_choices(choices)
    assert error.value.key == f"errors.tree_{key}"
    assert error.value.values["entry"] == named
    assert named in str(error.value)
    with pytest.raises(SpecvizError) as again:
        RunConfig(method="medusa", tree=choices)
    assert again.value.key == error.value.key


def test_a_missing_parent_is_named_too():
    with pytest.raises(SpecvizError, match=r"\[2, 0, 1\].*\[2, 0\]") as error:
        check_choices([[2], [2, 1], [2, 0, 1]])
    assert error.value.values["parent"] == "[2, 0]"


def test_a_tree_of_too_many_nodes_is_refused_by_its_size():
    full = [[a] for a in range(64)] + [[a, b] for a in range(3) for b in range(64)]
    assert len(check_choices(full)) == MAX_NODES
    with pytest.raises(SpecvizError) as error:
        check_choices([*full, [3, 0]])
    assert (error.value.key, error.value.values["nodes"]) == ("errors.tree_size", MAX_NODES + 1)


def test_order_and_form_do_not_matter():
    assert check_choices([[0, 1], (1,), [0], [0, 0]]) == ((0,), (1,), (0, 0), (0, 1))
    assert check_choices(()) == ()
    assert check_choices([[63], [63, 5]]) == ((63,), (63, 5))  # ranks may leave others out


def test_the_published_profile():
    choices = of_profile()
    by_depth = [sum(len(path) == depth for path in choices) for depth in (1, 2, 3, 4, 5)]
    assert by_depth == [10, 28, 23, 2, 0]
    assert choices == check_choices(choices)
    assert choices[:10] == tuple((rank,) for rank in range(10))
    assert {(0,), (0, 0), (0, 0, 0), (0, 0, 0, 0)} <= set(choices)


def test_other_profiles():
    assert of_profile([1, 1, 1]) == ((0,), (0, 0), (0, 0, 0))
    assert of_profile([2, 3]) == ((0,), (1,), (0, 0), (0, 1), (1, 0))
    assert of_profile([]) == ()


TABLES = [
    [[0.6, 0.2], [0.5, 0.3], [0.4, 0.1]],
    [[0.3, 0.25, 0.2], [0.9, 0.05, 0.02]],
    [[0.1, 0.5], [0.4, 0.2], [0.1, 0.3]],  # measured: a higher rank may be right more often
    [[0.2, 0.0, 0.3], [0.0, 0.7]],
    [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]],
    [[0.5, 0.5], [0.5, 0.5]],  # ties
]


def all_paths(table):
    return [path for depth in range(1, len(table) + 1) for path in product(*(range(len(row)) for row in table[:depth]))]


def gain(table, path):
    return math.prod(table[depth][rank] for depth, rank in enumerate(path))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("nodes", range(1, 7))
def test_no_tree_of_as_many_nodes_gains_more(table, nodes):
    best = 0.0
    for tree in combinations(all_paths(table), nodes):
        if all(len(path) == 1 or path[:-1] in tree for path in tree):
            best = max(best, sum(gain(table, path) for path in tree))
    found = best_tree(table, nodes)
    assert len(found) == nodes
    assert found == check_choices(found)
    assert expected_length(table, found) == pytest.approx(1 + best)


def test_best_trees_grow_one_out_of_the_other():
    trees = [set(best_tree(TABLES[0], nodes)) for nodes in range(15)]
    assert trees[0] == set()
    assert all(small < large for small, large in pairwise(trees))
    assert len(trees[14]) == 2 + 4 + 8
    assert best_tree(TABLES[0], 100) == best_tree(TABLES[0], 14)  # there are no more


@pytest.mark.parametrize("share", [float("nan"), float("inf"), -0.1, 1.1])
def test_a_table_of_what_is_no_share_is_refused(share):
    with pytest.raises(SpecvizError) as error:
        best_tree([[0.5, 0.1], [share]], 3)
    assert (error.value.key, error.value.values["name"]) == ("errors.range", "accuracy")


def test_a_table_ends_where_a_head_knows_nothing():
    assert best_tree([[0.5], [], [0.4]], 3) == ((0,),)
    assert best_tree([[]], 3) == best_tree([], 3) == ()


def test_a_table_larger_than_any_tree_still_gives_one():
    table = [[1 / (rank + 2) for rank in range(100)]] * 20
    found = best_tree(table, 10**6)
    assert len(found) == MAX_NODES
    assert max(map(len, found)) <= MAX_DEPTH
    assert max(rank for path in found for rank in path) <= MAX_RANK


@pytest.mark.parametrize("choices", [(), ((0,),), ((1,), (1, 1)), ((0,), (1,), (0, 0), (0, 1), (1, 1), (0, 1, 0))])
def test_expected_length_is_what_all_outcomes_average_to(choices):
    """At each depth one rank is right, or none: every combination, walked, with its probability."""
    table = TABLES[0]
    mean = 0.0
    for right in product(*(range(len(row) + 1) for row in table)):  # the last: none of them
        chance = math.prod([*row, 1 - sum(row)][rank] for row, rank in zip(table, right, strict=True))
        right_ones = [right[:depth] in choices for depth in (1, 2, 3)]
        mean += chance * (1 + [*right_ones, False].index(False))  # 1: the recovered or bonus token
    assert expected_length(table, choices) == pytest.approx(mean)

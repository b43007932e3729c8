"""Shapes of drafts: depths, ranks, who sees whom, paths, positions; on the published example and on any tree."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specviz.engine.tree import Branches, Tree, from_choices, grown

# The choices [[0], [1], [0, 0], [0, 1]]. The published buffers count the root as 0; here it is -1 and nodes go from 0.
EXAMPLE, RANKS = from_choices(((0,), (1,), (0, 0), (0, 1)))
trees = st.lists(st.integers(0, 10**6), max_size=14).map(
    lambda numbers: Tree(tuple(number % (i + 1) - 1 for i, number in enumerate(numbers)))
)


def test_the_published_example():
    assert EXAMPLE.parents == (-1, -1, 0, 0)
    assert RANKS == (0, 1, 0, 1)
    assert EXAMPLE.depths == (1, 1, 2, 2)
    assert EXAMPLE.children == ((0, 1), (2, 3), (), (), ())
    mask = Branches.of(EXAMPLE, 1, 1)  # the root, at position 0, and the nodes: one pass
    assert ["".join(str(int(x)) for x in row) for row in mask.sees] == ["10000", "11000", "10100", "11010", "11001"]
    assert mask.position.tolist() == [0, 1, 1, 2, 2]
    paths = {tuple(node + 1 for node in (-1, *EXAMPLE.path(leaf))) for leaf in (1, 2, 3)}
    assert paths == {(0, 1, 4), (0, 1, 3), (0, 2)}


def test_choices_in_any_order_with_ranks_left_out():
    tree, ranks = from_choices(((3, 1), (3,), (7,), (3, 1, 0), (7, 2)))
    assert tree.parents == (-1, -1, 0, 1, 2)
    assert ranks == (3, 7, 1, 2, 0)  # each node's own rank, not its place among the siblings
    assert tree.ranks == (0, 1, 0, 0, 0)
    assert from_choices(()) == (Tree(()), ())


def test_siblings_that_are_not_next_to_each_other():
    tree = Tree((-1, 0, -1, 0, 2, -1))
    assert tree.ranks == (0, 0, 1, 1, 0, 2)
    assert tree.children == ((0, 2, 5), (1, 3), (), (4,), (), (), ())
    assert [[j for j in range(6) if row[j]] for row in tree.earlier.tolist()] == [[], [], [0], [1], [], [0, 2]]
    assert [nodes.tolist() for nodes in tree.by_rank] == [[0, 1, 4], [2, 3], [5]]


def test_chains():
    assert Tree.chain(3).parents == (-1, 0, 1)
    assert Tree.chain(3).is_chain
    assert Tree(()).is_chain
    assert not EXAMPLE.is_chain
    assert not Tree((-1, -1)).is_chain
    assert Tree.chain(3).sees.equal(torch.ones(3, 3, dtype=torch.bool).tril())
    assert Tree(()).sees.shape == Tree(()).earlier.shape == (0, 0)


def test_trees_that_come_again_are_made_once():
    choices = ((0,), (1,), (0, 0), (0, 1))
    assert from_choices(choices) is from_choices(choices)
    assert from_choices(choices, 1)[0].parents == (-1, -1)
    assert Tree.chain(3) is Tree.chain(3)
    here, there = Tree((-1, -1, 0)), torch.device("meta")
    assert here.on(torch.device("cpu")) is here
    assert here.on(there) is Tree((-1, -1, 0)).on(there)
    assert here.on(there) == here
    moved = here.on(there)
    tensors = (moved.contexts, moved.levels, moved.earlier, moved.sees, *moved.by_rank)
    assert {tensor.device.type for tensor in tensors} == {"meta"}


def test_masks_are_made_where_the_tree_is():
    branches = Branches.of(EXAMPLE.on(torch.device("meta")), 9, 2)
    assert branches.mask(7, torch.float32).device.type == branches.sees.device.type == "meta"
    assert branches.position.tolist() == [7, 8, 9, 9, 10, 10]  # on the host, which has to know where the text ends


@settings(deadline=None)
@given(trees)
def test_the_levels_of_a_tree_see_what_the_tree_says(tree):
    """Level by level, each from the rows of the one before."""
    sees, level, read = torch.zeros(1, 0, dtype=torch.bool), [-1], []
    for depth in range(1, max(tree.depths, default=0) + 1):
        below = [node for node, at in enumerate(tree.depths) if at == depth]
        read += below
        sees = grown(sees, torch.tensor([level.index(tree.parents[node]) for node in below]))
        assert sees.equal(tree.sees[below][:, read])
        level = below


@settings(deadline=None)
@given(trees)
def test_any_tree(tree):
    n = len(tree)
    sees, earlier = tree.sees.tolist(), tree.earlier.tolist()
    for node, parent in enumerate(tree.parents):
        path = tree.path(node)
        assert path == (*tree.path(parent), node)
        assert tree.depths[node] == len(path)
        assert [j for j in range(n) if sees[node][j]] == list(path)
        siblings = [j for j in range(n) if tree.parents[j] == parent]
        assert tree.children[parent + 1] == tuple(siblings)
        assert tree.ranks[node] == siblings.index(node)
        assert [j for j in range(n) if earlier[node][j]] == siblings[: tree.ranks[node]]
        assert node in tree.by_rank[tree.ranks[node]].tolist()
        assert tree.contexts[node] == parent + 1
        assert tree.levels[node] == len(path)
    for nodes in tree.by_rank:  # each in a context of its own, or two writes to one row would clash
        assert len(set(tree.contexts[nodes].tolist())) == len(nodes)
    assert tree.is_chain == all(len(tree.children[c]) == (c < n) for c in range(n + 1))


@settings(deadline=None)
@given(trees, st.integers(1, 4), st.integers(0, 5))
def test_branches_of_any_tree(tree, chain, before):
    """A pass over the text's last `chain` tokens and the nodes, behind `before` rows of the text."""
    n, start = len(tree), before + chain
    branches = Branches.of(tree, start, chain)
    assert branches.position.tolist() == [*range(before, start), *(start - 1 + depth for depth in tree.depths)]
    whole = branches.whole(before)
    mask = branches.mask(before, torch.float32)
    assert whole.shape == (chain + n, start + n)
    assert mask.shape == (1, 1, chain + n, start + n)
    for row in range(chain + n):
        if row < chain:
            seen = range(before + row + 1)
        else:
            seen = [*range(start), *(start + node for node in tree.path(row - chain))]
        assert whole[row].nonzero()[:, 0].tolist() == list(seen)
        assert (mask[0, 0, row] == 0).nonzero()[:, 0].tolist() == list(seen)
        # a token's position is the number of tokens that it sees before it
        assert branches.position[row] == len(seen) - 1
    assert set(mask.unique().tolist()) <= {0.0, torch.finfo(torch.float32).min}


@settings(deadline=None)
@given(trees, st.sampled_from([torch.bfloat16, torch.float16, torch.float32]))
def test_masks_are_finite_numbers_of_the_models_dtype(tree, dtype):
    mask = Branches.of(tree, 3, 1).mask(2, dtype)
    assert mask.dtype == dtype  # bools would be ignored by eager attention
    assert torch.isfinite(mask).all()


def test_what_nodes_see_of_rows_cached_by_an_earlier_pass():
    """A level of a tree behind the rows of the level before: the older rows are seen by all."""
    branches = Branches(EXAMPLE.sees[[2, 3]][:, [0, 1, 2, 3]], torch.tensor([6, 6]))
    whole = branches.whole(7)  # 5 rows of text, then those of nodes 0 and 1
    assert [row.nonzero()[:, 0].tolist() for row in whole] == [[0, 1, 2, 3, 4, 5, 7], [0, 1, 2, 3, 4, 5, 8]]

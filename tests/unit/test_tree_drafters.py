"""Drafters of trees by themselves: what they put where, and the q that they say it came from."""

import math

import pytest
import torch

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.sampling import Draws, probabilities
from specviz.engine.tree import Tree, from_choices
from specviz.engine.tree_drafter import children
from specviz.engine.verify_tree import Siblings
from specviz.errors import SpecvizError
from tests.tiny import V

from .tiny_drafters import (
    CHOICES,
    TOKENS,
    TREES,
    KnowingHeads,
    decoder,
    finished,
    greedy,
    make_drafter,
    noisy,
    path_tokens,
    propose,
    tiny_target,
)

TREE, RANKS = from_choices(CHOICES)


@pytest.fixture(scope="module")
def model():
    return tiny_target()


def q_after(model, tokens, temperature=1.0):
    with torch.inference_mode():
        return probabilities(model(torch.tensor([tokens]), use_cache=False).logits[0, -1], temperature)


# ---- a draft model ----


@pytest.mark.parametrize("siblings", Siblings)
def test_each_nodes_q_is_the_models_own_after_its_path(siblings, model):
    made = propose("draft", model, tree=CHOICES, siblings=str(siblings), temperature=0.7)
    draft = noisy(model)
    assert made.siblings is siblings
    assert made.tree == TREE
    assert len(made.times) == TREE.depths[-1]  # one pass a level
    for node in range(len(TREE)):
        q = q_after(draft, TOKENS + path_tokens(made, node)[:-1], 0.7)
        torch.testing.assert_close(made.q[made.source[node]], q, atol=1e-4, rtol=1e-4)
        if siblings is Siblings.FIXED:
            assert made.tokens[node] == q.argsort(descending=True)[RANKS[node]]


def test_a_forced_token_is_read_by_the_levels_below_it(model):
    made = propose("draft", model, {1: 17}, tree=CHOICES, siblings="iid", temperature=1.0)
    assert made.tokens[1] == 17
    below = TREE.children[2][0]
    q = q_after(noisy(model), [*TOKENS, 17])
    torch.testing.assert_close(made.q[made.source[below]], q, atol=1e-4, rtol=1e-4)


def of_one(q, ranks, u, siblings):
    """Children of the only node of a level."""
    q = torch.tensor([q])
    return children(q.log(), q, [range(len(ranks))], ranks, u, siblings)[0]


def test_children_are_drawn_by_their_own_numbers():
    q = [0.5, 0.25, 0.25]
    assert of_one(q, [0, 1, 2], [0.1, 0.1, 0.6], Siblings.IID) == [0, 0, 1]  # duplicates stay
    assert of_one(q, [0, 1, 2], [0.1, 0.1, 0.6], Siblings.DISTINCT) == [0, 1, 2]
    assert of_one(q, [0, 1], [0.9, 0.9], Siblings.DISTINCT) == [2, 1]  # 0.9 of what is left, (2/3, 1/3, 0)
    assert of_one(q, [1, 2], [0.0, 0.0], Siblings.FIXED) == [1, 2]  # ranks, not places


def test_the_children_of_a_level_are_those_of_its_nodes_alone():
    """Some have more children than others, some run out of tokens to draw."""
    q = torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.1, 0.1, 0.8]])
    below, ranks, u = [(0, 3, 4), (1, 5), (2,)], [0, 0, 0, 2, 1, 1], [0.1, 0.2, 0.3, 0.9, 0.5, 0.7]
    for siblings in Siblings:
        alone = [children(q[[i]].log(), q[[i]], [nodes], ranks, u, siblings)[0] for i, nodes in enumerate(below)]
        assert children(q.log(), q, below, ranks, u, siblings) == alone
    assert children(q.log(), q, below, ranks, u, Siblings.DISTINCT) == [[0, 2, 1], [1], [2]]


def test_what_cannot_be_drawn_without_replacement_is_left_out(model):
    """At temperature 0 there is one token to draw, so no second sibling; the rest hangs together all the same."""
    made = propose("draft", model, tree=CHOICES, siblings="distinct", temperature=0.0)
    assert made.tree.parents == (-1, 0, 1)  # of the choices (0,), (0, 0), (0, 0, 0)
    few = propose(
        "draft", model, tree=((0,), (1,), (2,), (1, 0), (2, 0)), siblings="distinct", temperature=1.0, top_k=2
    )
    assert few.tree.parents == (-1, -1, 1)
    assert propose("draft", model, tree=CHOICES, siblings="fixed", temperature=0.0).tree == TREE


@pytest.mark.parametrize("filters", [{"top_k": 1}, {"top_p": 0.01}, {"min_p": 1.0}, {"temperature": 0.0}], ids=str)
@pytest.mark.parametrize("kind", ["draft", "medusa"])
def test_what_is_named_is_the_likeliest_whatever_is_filtered_out(kind, filters, model):
    """Filters leave one token; the others keep their order among the candidates, and q says what is left of them."""
    plain = propose(kind, model, tree=CHOICES, temperature=1.0)
    made = propose(kind, model, tree=CHOICES, **{"temperature": 1.0} | filters)
    assert made.tokens.equal(plain.tokens)
    q = made.q[made.source, made.tokens]
    if "temperature" not in filters:
        assert q.tolist() == [float(rank == 0) for rank in RANKS]
    draft = noisy(model)
    for node in range(len(TREE) if kind == "draft" else 0):
        with torch.inference_mode():
            logits = draft(torch.tensor([TOKENS + path_tokens(made, node)[:-1]]), use_cache=False).logits[0, -1]
        assert made.tokens[node] == logits.argsort(descending=True)[RANKS[node]]


def test_a_tree_is_cut_to_the_room_there_is(model):
    for k in (1, 2, 3):
        made = propose("draft", model, k=k, tree=CHOICES, siblings="iid", temperature=1.0)
        assert made.tree == from_choices(CHOICES, k)[0]
        assert len(made.times) == k


# ---- Medusa heads ----


def test_medusa_nodes_are_the_ranks_of_their_depths_head(model):
    made = propose("medusa", model, tree=CHOICES, temperature=0.5)
    logits = KnowingHeads(model, TOKENS, ranks=(0, 1, 0, 2))(hidden(model), 4)
    for node, depth in enumerate(TREE.depths):
        assert made.tokens[node] == logits[depth - 1].argsort(descending=True)[RANKS[node]]
        torch.testing.assert_close(made.q[made.source[node]], probabilities(logits[depth - 1], 0.5))


def hidden(model):
    with torch.inference_mode():
        return model(torch.tensor([TOKENS[:-1]]), output_hidden_states=True).hidden_states[-1][0, -1]


@pytest.mark.parametrize(("shift", "full"), [(0, True), (1, False), (-1, False)])
def test_heads_that_know_the_later_tokens_are_always_right_and_beside_them_hardly(shift, full, model):
    """What a head of each depth guesses is the token that stands at its depth; off by one and nothing fits."""
    expected = greedy(model, TOKENS, 40)
    tree = ((0,), (1,), (0, 0), (0, 1), (0, 0, 0), (0, 0, 0, 0))
    run = decoder("medusa", model, TOKENS, TOKENS + expected, max_new_tokens=40, tree=tree)
    run.drafter.heads = KnowingHeads(model, TOKENS + expected, shift=shift)
    rounds, written = finished(run)
    assert written == expected
    right = [len(r.path) == max(Tree(r.draft.parents).depths, default=0) for r in rounds]
    assert all(right) if full else sum(right) <= 2


def test_a_tree_deeper_than_the_heads_is_refused_by_name(model):
    run = decoder("medusa", model, TOKENS, TOKENS, tree=((0,), (0, 0), (0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0, 0)))
    with pytest.raises(SpecvizError) as error:
        run.step()
    assert (error.value.key, error.value.values) == ("errors.medusa_depth", {"depth": 5, "heads": 4})


def test_a_rank_beyond_the_vocabulary_is_refused_by_name(model):
    """Of a model of letters, which has fewer tokens than a tree may have ranks."""
    assert len(propose("medusa", model, tree=((V - 1,),)).tokens) == 1
    with pytest.raises(SpecvizError) as error:
        propose("medusa", model, tree=((0,), (0, V)))
    assert (error.value.key, error.value.values) == ("errors.tree_rank", {"entry": [0, V], "limit": V - 1})


def test_draws_are_not_used_where_nothing_is_drawn(model):
    """Fixed children are the same whatever the numbers."""
    config = RunConfig(tree=CHOICES, siblings="fixed", temperature=1.0)
    found = set()
    for u in (0.1, 0.9):
        drafter = make_drafter("draft", model)
        draws = Draws((u,) * 12, (u,) * 12, u)
        made = drafter.propose(TOKENS, 4, draws, {}, config, Clock(torch.device("cpu"), False))
        found.add(tuple(made.tokens.tolist()))
    assert len(found) == 1


@pytest.mark.parametrize("name", TREES)
def test_weights_that_are_not_finite_are_refused_in_a_sentence(name, model):
    run = decoder(name, model, TOKENS, TOKENS, temperature=1.0)
    if name == "medusa":
        run.drafter.heads = NanHeads([0] * 4)
    else:
        broken = run.drafter.layer.down if name == "eagle" else run.drafter.lm.model.lm_head
        broken.weight.data.fill_(math.nan)
    with pytest.raises(SpecvizError) as error:
        run.step()
    assert error.value.key == "errors.nan"


class NanHeads(list):
    def __call__(self, hidden, count):
        return torch.full((count, V), math.nan)

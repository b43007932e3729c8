"""Trees that an EAGLE-style layer grows: which nodes, read how, at what cost, and what a what-if does to them."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from specviz.engine.eagle_tree import EagleTreeDrafter
from specviz.engine.verify_tree import Siblings
from tests.tiny import V

from .tiny_drafters import TOKENS, make_drafter, path_tokens, prompt, propose, tiny_target


@pytest.fixture(scope="module")
def model():
    return tiny_target()


@pytest.mark.parametrize(("nodes", "branch", "depth"), [(24, 5, 3), (4, 1, 4)], ids=["tree", "chain"])
def test_an_eagle_tree_reads_each_path_as_a_chain_of_it(nodes, branch, depth, model):
    """The tree's nodes stand at the positions of a chain, and see their own ancestors only."""
    made = propose("eagle", model, temperature=1.0, nodes=nodes, branch=branch)
    assert max(made.tree.depths) >= depth
    for node in range(len(made.tree)):
        path = path_tokens(made, node)
        chain = propose("eagle", model, dict(enumerate(path)), temperature=1.0)
        torch.testing.assert_close(made.q[made.source[node]], chain.q[len(path) - 1], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("branch", "nodes", "k"), [(3, 8, 3), (2, 30, 4), (6, 3, 3), (20, 4, 2), (64, 1, 2)])
def test_it_holds_the_most_confident_nodes(branch, nodes, k, model):
    """Level by level by hand, forgetting nothing: the best `branch` are expanded; of all seen the best `nodes` stay."""
    made = propose("eagle", model, k=k, temperature=1.0, nodes=nodes, branch=branch)

    def q(path):
        return propose("eagle", model, dict(enumerate(path)), k=len(path) + 1, temperature=1.0).q[len(path)].tolist()

    seen, level = {}, {(): 1.0}
    for _ in range(k):
        grown = {}
        for path, sure in level.items():
            after = q(path)
            for token in sorted(range(V), key=lambda t: -after[t])[:branch]:
                grown[(*path, token)] = sure * after[token]
        seen |= grown
        level = likeliest(grown, branch)
    expected = likeliest(seen, nodes)
    assert [tuple(path_tokens(made, node)) for node in range(len(made.tokens))] == list(expected)
    assert made.siblings is Siblings.FIXED


def likeliest(found, n):
    """In the order in which they were found."""
    best = sorted(found, key=lambda path: -found[path])[:n]
    return {path: sure for path, sure in found.items() if path in best}


@pytest.mark.parametrize(("nodes", "branch"), [(64, 64), (5, 64), (64, 3), (1, 1)])
def test_its_cost_is_bounded_by_the_nodes(nodes, branch, model, monkeypatch):
    """Rows that the layer reads, rows of q that are kept, and the waits for the device: one a level."""
    read, waits, step, to_list = [], [], EagleTreeDrafter._step, torch.Tensor.tolist
    monkeypatch.setattr(EagleTreeDrafter, "_step", lambda self, *args: read.append(len(args[1])) or step(self, *args))
    monkeypatch.setattr(torch.Tensor, "tolist", lambda self: waits.append(1) or to_list(self))
    made = propose("eagle", model, k=16, temperature=1.0, nodes=nodes, branch=branch)
    assert read[0] == len(TOKENS) - 1
    assert max(read[1:], default=0) <= min(nodes, branch)
    assert len(made.q) <= nodes
    assert set(made.source.numpy()) == set(range(len(made.q)))
    assert len(waits) == len(made.times) == len(read) <= 16


@pytest.mark.parametrize("branch", [1, 2, 64])
@pytest.mark.parametrize("nodes", [1, 7, 64])
def test_eagle_trees_of_any_size(nodes, branch, model):
    made = propose("eagle", model, temperature=0.0, nodes=nodes, branch=branch)
    assert 1 <= len(made.tokens) <= nodes
    assert all(parent < node for node, parent in enumerate(made.tree.parents))
    for context in made.tree.children:  # the likeliest of a context, each once
        assert len({int(made.tokens[i]) for i in context}) == len(context) <= branch


@pytest.mark.parametrize(("top_k", "nodes"), [(2, 30), (1, 1), (1, 2), (1, 3), (1, 50)])
def test_an_eagle_tree_survives_tokens_that_it_rules_out(top_k, nodes, model):
    """q = 0 for most; with q = 1 a child is as likely as its parent, which must stay all the same."""
    made = propose("eagle", model, temperature=1.0, top_k=top_k, nodes=nodes, branch=6)
    assert torch.isfinite(made.q).all()
    assert len(made.tokens) == nodes
    assert all(parent < node for node, parent in enumerate(made.tree.parents))


@pytest.mark.parametrize(
    "filters", [{"top_k": 1}, {"top_p": 0.01}, {"temperature": 0.3}, {"temperature": 0.0}], ids=str
)
def test_its_nodes_do_not_depend_on_what_is_filtered_out(filters, model):
    """Filters and temperature shape q, of which the recorded rows tell."""
    plain = propose("eagle", model, temperature=1.0, nodes=20, branch=5)
    made = propose("eagle", model, **{"temperature": 1.0} | filters, nodes=20, branch=5)
    assert (made.tokens.tolist(), made.tree) == (plain.tokens.tolist(), plain.tree)
    if "top_k" in filters or "top_p" in filters:
        assert set(made.q[made.source, made.tokens].tolist()) == {0.0, 1.0}


# ---- what if ----


@pytest.mark.parametrize("node", [0, 1, 3, 19])
def test_another_token_cuts_off_what_was_grown_from_the_old_one(node, model):
    plain = propose("eagle", model, temperature=1.0, nodes=20, branch=5)
    made = propose("eagle", model, {node: 60}, temperature=1.0, nodes=20, branch=5)
    stays = [i for i in range(20) if node not in plain.tree.path(i)[:-1]]
    assert node != 0 or len(stays) < 20
    assert made.tokens.tolist() == [60 if i == node else int(plain.tokens[i]) for i in stays]
    assert made.tree.parents == tuple(stays.index(p) if p >= 0 else -1 for p in (plain.tree.parents[i] for i in stays))
    assert not made.tree.children[node + 1]
    torch.testing.assert_close(made.q[made.source], plain.q[plain.source[stays]])
    assert set(made.source.tolist()) == set(range(len(made.q)))


def test_a_second_token_counts_in_the_tree_that_the_first_one_left(model):
    once = propose("eagle", model, {0: 60}, temperature=1.0, nodes=20, branch=5)
    inner = next(i for i in range(1, len(once.tokens)) if once.tree.children[i + 1])
    twice = propose("eagle", model, {0: 60, inner: 59}, temperature=1.0, nodes=20, branch=5)
    assert (int(twice.tokens[0]), int(twice.tokens[inner])) == (60, 59)
    assert len(twice.tokens) < len(once.tokens)
    assert twice.tree.children[1] == twice.tree.children[inner + 1] == ()
    assert (
        propose("eagle", model, {99: 60}, temperature=1.0, nodes=20, branch=5).tokens.tolist()
        == propose("eagle", model, temperature=1.0, nodes=20, branch=5).tokens.tolist()
    )


# ---- reading the text ----


class Ops(TorchDispatchMode):
    """How many operations ran, and the most numbers that any of them gave."""

    count = largest = 0

    def __torch_dispatch__(self, call, types, args=(), kwargs=None):
        out = call(*args, **(kwargs or {}))
        self.count += 1
        for one in out if isinstance(out, tuple | list) else [out]:
            self.largest = max(self.largest, one.numel() if isinstance(one, torch.Tensor) else 0)
        return out


def test_a_long_text_is_read_without_a_mask_of_all_pairs(model):
    found = []
    for n in (20, 1000):
        drafter, tokens = make_drafter("eagle", model), prompt(n + 1)
        drafter.prefill(tokens, torch.randn(n, 32))
        with Ops() as ops, torch.inference_mode():
            drafter._read_text(tokens)
        found.append(ops)
    assert found[0].count == found[1].count
    assert found[1].largest < 1000**2 / 4


def test_a_text_read_in_pieces_is_the_same_text(model):
    tokens, states = prompt(12), torch.randn(11, 32, generator=torch.Generator().manual_seed(1))
    whole, pieces = make_drafter("eagle", model), make_drafter("eagle", model)
    whole.prefill(tokens, states)
    with torch.inference_mode():
        expected = whole._read_text(tokens)
        for begin, end in ((0, 4), (4, 5), (5, 11)):
            pieces.commit(end + 1, states[begin:end])
            guess = pieces._read_text(tokens[: end + 1])
    torch.testing.assert_close(guess, expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(pieces.keys, whole.keys, atol=1e-5, rtol=1e-4)

"""Trees of every drafter through the whole decoder, by exact enumeration: drafting, one pass, judging, records."""

import pytest
import torch
from torch import nn

from specviz.config import RunConfig
from specviz.engine import decode
from specviz.engine.decode import Decoder
from specviz.engine.eagle_tree import EagleTreeDrafter
from specviz.engine.judgement import judge_draft
from specviz.engine.medusa_drafter import MedusaDrafter
from specviz.engine.sampling import Draws
from specviz.engine.tree import Tree, from_choices
from specviz.engine.tree_drafter import TreeDrafter
from specviz.engine.verify_tree import Siblings

from .round_law import distance, distinct, fixed, iid, outcomes, random_rule
from .table_lm import TableLM

CHOOSE = {Siblings.IID: iid, Siblings.DISTINCT: distinct, Siblings.FIXED: fixed}
CHOICES = ((0,), (1,), (0, 0), (0, 1), (1, 0))


def one_round(monkeypatch, p_rule, drafter, config, prompt, draws):
    """A round of the decoder with these draws, and the walk that it was read from."""
    seen = []
    with monkeypatch.context() as patch:
        patch.setattr(decode, "judge_draft", lambda *args: seen.append(judge_draft(*args)) or seen[-1])
        patch.setattr(decode, "round_draws", lambda *_: draws)
        target = TableLM(lambda text: p_rule(text[len(prompt) :]), 3)
        done = Decoder(target, drafter, list(prompt), config).step()
    (walk,) = seen
    assert done.emitted == (*(done.draft.tokens[i] for i in done.path), int(walk.token))
    return done, walk


def through_decoder(monkeypatch, p_rule, q_rule, make, config, prompt):
    """Outcomes of a round whose draws give the drafted tokens asked for; judged by whatever the decoder uses."""
    tree = from_choices(config.tree)[0]

    def judge(drafted, u):
        draws = [aim(tree, drafted, node, q_rule, config.siblings) for node in range(len(tree))]
        done, walk = one_round(monkeypatch, p_rule, make(), config, prompt, Draws(tuple(draws), tuple(u), 0.5))
        assert all(want in (None, got) for want, got in zip(drafted, done.draft.tokens, strict=True))
        return done.draft.tokens, walk

    return list(outcomes(tree, lambda prefix, m: CHOOSE[Siblings(config.siblings)](q_rule(prefix), m), judge))


def aim(tree, drafted, node, q_rule, siblings):
    """A uniform number that draws the token which is wanted at this node."""
    path, earlier = tree.path(node), tree.children[tree.parents[node] + 1][: tree.ranks[node]]
    if any(drafted[i] is None for i in path):
        return 0.37
    q = list(q_rule(tuple(drafted[i] for i in path[:-1])))
    if siblings == "distinct":
        q = [0.0 if token in [drafted[i] for i in earlier] else x for token, x in enumerate(q)]
    return (sum(q[: drafted[node]]) + q[drafted[node]] / 2) / sum(q)


@pytest.mark.parametrize("siblings", Siblings)
def test_a_tree_of_a_draft_model_through_the_decoder(siblings, monkeypatch):
    config = RunConfig(tree=CHOICES, siblings=str(siblings), temperature=1.0, max_new_tokens=3)
    p_rule, q_rule = random_rule(20, 3), random_rule(21, 3)

    def make():
        return TreeDrafter(TableLM(lambda text: q_rule(text[1:]), 3))

    found = through_decoder(monkeypatch, p_rule, q_rule, make, config, [0])
    assert {len(accepted) for _, accepted, _ in found} == {0, 1, 2}
    assert distance(found, p_rule, 3) < 1e-6


class Heads(list):
    """Medusa heads as a list of distributions: they know nothing of each other's choice."""

    def __call__(self, hidden, count):
        return torch.tensor(self[:count]).log()


def test_a_tree_of_medusa_heads_through_the_decoder(monkeypatch):
    config = RunConfig(method="medusa", tree=CHOICES, temperature=1.0, max_new_tokens=3)
    p_rule, heads = random_rule(26, 3, zeros=0.2), Heads([(0.2, 0.5, 0.3), (0.6, 0.1, 0.3)])
    q_rule = lambda prefix: heads[len(prefix)]  # noqa: E731
    found = through_decoder(monkeypatch, p_rule, q_rule, lambda: MedusaDrafter(heads, 3), config, [0, 0])
    assert {len(accepted) for _, accepted, _ in found} == {0, 1, 2}
    assert distance(found, p_rule, 3) < 1e-6


class TableLayer(EagleTreeDrafter):
    """The EAGLE drafter with a table for its layer: the state after a prefix is a number that stands for it."""

    layers = (-1,)

    def __init__(self, rule, vocab_size):
        head = nn.Linear(1, vocab_size)
        super().__init__(None, None, head, vocab_size)
        self.lm_head = lambda states: torch.tensor([rule(self.prefixes[int(state)]) for state in states]).log()
        self.prefixes = [()]

    def _read_text(self, tokens):
        self.length = len(tokens) - 1
        return torch.zeros(1, 1)

    def _step(self, states, tokens, branches):
        assert branches.sees.sum(1).unique().numel() == 1  # all of a level see as many: their ancestors and themselves
        after = [(*self.prefixes[int(s)], int(t)) for s, t in zip(states, tokens, strict=True)]
        self.prefixes += after
        return torch.arange(len(self.prefixes) - len(after), len(self.prefixes))[:, None]


@pytest.mark.parametrize(("k", "nodes", "branch"), [(1, 2, 2), (3, 5, 2), (3, 8, 3), (4, 4, 1)])
@pytest.mark.parametrize("filters", [{}, {"top_k": 2}], ids=str)
def test_a_tree_that_grew_through_the_decoder(k, nodes, branch, filters, monkeypatch):
    """Its shape is the draft's own choice; what is judged and written has the target's law all the same."""
    config = RunConfig(
        method="eagle", k=k, nodes=nodes, branch=branch, temperature=1.0, max_new_tokens=k + 1, **filters
    )
    q_rule, p_rule = random_rule(31, 3), random_rule(30, 3, zeros=0.2)
    p_rule = filtered(p_rule) if filters else p_rule

    def step(u):
        draws = Draws((0.5,) * nodes, tuple(u), 0.5)
        return one_round(monkeypatch, p_rule, TableLayer(q_rule, 3), config, [0, 0], draws)

    drafted = step([0.0] * nodes)[0].draft
    tree = Tree(drafted.parents)
    assert len(tree) == min(nodes, 3**k)
    assert tree.is_chain == (branch == 1)
    of_path = {tuple(drafted.tokens[i] for i in tree.path(node)): node for node in range(-1, len(tree))}

    def choose(prefix, m):
        children = tree.children[of_path[prefix] + 1]
        assert len(children) == m
        yield 1.0, tuple(drafted.tokens[i] for i in children)

    def judge(_, u):
        done, walk = step(u)
        assert done.draft == drafted  # whatever is drawn
        return done.draft.tokens, walk

    found = list(outcomes(tree, choose, judge))
    assert sum(weight for weight, *_ in found) == pytest.approx(1)
    assert len({accepted for _, accepted, _ in found}) > 1
    assert distance(found, p_rule, k + 1) < 1e-6


def filtered(rule):
    """The two likeliest tokens of three, as top_k = 2 leaves them."""

    def two(prefix):
        weights = [0.0 if p == min(rule(prefix)) else p for p in rule(prefix)]
        return tuple(p / sum(weights) for p in weights)

    return two

"""The exact law of a round of any shape: every way to draft it, and both sides of every gate, with their weights.

Enough to prove a rule lossless: a gate is open below a share of the unit interval, so two values of u stand for all.
"""

import random
from collections import defaultdict
from functools import cache
from itertools import permutations, product

import torch

from specviz.engine.verify_tree import Walk

LAST = 1 - 2**-53  # the last u below 1


def iid(q, m):
    """m children drawn independently from q: (weight, tokens) of every possibility."""
    for tokens in product(range(len(q)), repeat=m):
        yield torch.tensor([q[t] for t in tokens], dtype=torch.float64).prod().item(), tokens


def distinct(q, m):
    """Without replacement: each drawn from what the ones before have left of q."""
    for tokens in permutations(range(len(q)), m):
        weight, left = 1.0, 1.0
        for token in tokens:
            weight, left = weight * q[token] / left, left - q[token]
        yield weight, tokens


def fixed(q, m):
    """The m likeliest."""
    yield 1.0, tuple(sorted(range(len(q)), key=lambda t: -q[t])[:m])


def outcomes(tree, choose, judge, edges=False):
    """Every outcome of a round: (weight, accepted tokens, distribution of the final token).

    choose(prefix, m)  how the m children after the drafted tokens `prefix` may turn out: (weight, tokens)
    judge(drafted, u)  judges the tokens [n], where None stands for any; u [n]. Returns the tokens and the Walk
    edges              check also that a gate closes where its share says
    """

    def explore(weight, drafted, gates):
        u = [gates.get(node, 0.0) for node in range(len(tree))]  # gates not looked at yet are open if they can be
        tokens, walk = judge([drafted.get(node) for node in range(len(tree))], u)
        tried, kept = walk.tried.tolist(), walk.kept.tolist()
        path = tree.path(int(walk.end) - 1)
        assert [node for node in range(len(tree)) if kept[node]] == list(path)
        node = next((node for node in range(len(tree)) if tried[node] and node not in gates), None)
        if node is None:
            yield weight, tuple(tokens[i] for i in path), (walk.rest / walk.rest.sum()).tolist()
        elif node not in drafted:  # the walk has come to a context whose children are not drawn yet
            children = tree.children[tree.parents[node] + 1]
            prefix = tuple(drafted[i] for i in tree.path(tree.parents[node]))
            for chance, found in choose(prefix, len(children)):
                if chance:
                    yield from explore(weight * chance, drafted | dict(zip(children, found, strict=True)), gates)
        else:
            share = min(1.0, share_of(walk, node))
            if edges and 0 < share < 1:
                assert [opens(judge, drafted, u, node, share * factor) for factor in (1 - 1e-9, 1 + 1e-9)] == [1, 0]
            if share > 0:
                yield from explore(weight * share, drafted, gates | {node: 0.0})
            if share < 1:
                yield from explore(weight * (1 - share), drafted, gates | {node: LAST})

    yield from explore(1.0, {}, {})


def share_of(walk: Walk, node: int) -> float:
    """The u below which a gate is open."""
    return float(walk.p[node] / walk.q[node] if walk.limit is None else walk.limit[node])


def opens(judge, drafted, u, node, at):
    _, walk = judge([drafted.get(i) for i in range(len(u))], [*u[:node], at, *u[node + 1 :]])
    return int(walk.kept[node])


def law(found, rule, length):
    """The distribution of the first `length` tokens: those of the round, continued by the target itself."""
    mass = defaultdict(float)
    for weight, accepted, rest in found:
        for token, chance in enumerate(rest):
            spread(mass, (*accepted, token), weight * chance, length, rule)
    return mass


def spread(mass, text, weight, length, rule):
    if weight == 0:
        return
    if len(text) >= length:
        mass[text[:length]] += weight
        return
    for token, p in enumerate(rule(text)):
        spread(mass, (*text, token), weight * p, length, rule)


def distance(found, rule, length):
    """The largest error of that distribution."""
    mass, truth = law(found, rule, length), defaultdict(float)
    spread(truth, (), 1.0, length, rule)
    return max(abs(mass[text] - truth[text]) for text in mass.keys() | truth.keys())


def random_rule(seed, vocab_size, zeros=0.0):
    """A random distribution after each prefix; some probabilities are 0."""

    @cache
    def rule(prefix):
        rng = random.Random(f"{seed}{prefix}")
        weights = [(0.02 + rng.random()) * (rng.random() >= zeros) for _ in range(vocab_size)]
        weights[prefix[-1] if prefix else 0] += 0.05  # so that some are left
        return tuple(weight / sum(weights) for weight in weights)

    return rule


def rows(tree, tokens, rule):
    """[n + 1, V]: the rule's distribution in every context."""
    prefixes = [(), *(tuple(tokens[i] for i in tree.path(node)) for node in range(len(tree)))]
    return torch.tensor([rule(prefix) for prefix in prefixes], dtype=torch.float64)

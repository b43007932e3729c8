"""Who continues whom in a draft, for what is drawn and listed of it. A chain is a tree, too.

Nodes are counted from 0; -1 is the root, the last token of the text. See `specviz.trace.Draft` and `Round.detail`.
"""

from __future__ import annotations

from collections.abc import Sequence

from specviz.trace import Draft, Round, Trace


def is_chain(draft: Draft) -> bool:
    """Whether each token continues the one before it."""
    return draft.parents == tuple(range(-1, len(draft.parents) - 1))


def depths(parents: Sequence[int]) -> list[int]:
    """Of each node; the root's children have depth 1."""
    found: list[int] = []
    for parent in parents:
        found.append(1 if parent < 0 else found[parent] + 1)
    return found


def children(parents: Sequence[int]) -> list[list[int]]:
    """For each context, the root's first, the nodes that continue it, in their order."""
    found: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for node, parent in enumerate(parents):
        found[parent + 1].append(node)
    return found


def path_to(parents: Sequence[int], node: int) -> list[int]:
    """The nodes from the root's child down to `node`; none for the root."""
    found = []
    while node >= 0:
        found.append(node)
        node = parents[node]
    return found[::-1]


def leaves(parents: Sequence[int]) -> list[int]:
    """The nodes that nothing continues, as they are drawn from top to bottom: the first child's before the second's."""
    below, found, waiting = children(parents), [], [0]
    while waiting:
        context = waiting.pop()
        waiting += [node + 1 for node in reversed(below[context])]
        if context and not below[context]:
            found.append(context - 1)
    return found


def context_of(r: Round, position: int) -> int:
    """The index into `Round.detail` for a drafted node, or for the position after the last one: the final token's.

    In a chain that is the bonus's context, also when the round ended before it.
    """
    if position < len(r.draft.parents):
        return r.draft.parents[position] + 1
    if is_chain(r.draft):
        return position
    return r.path[-1] + 1 if r.path else 0


def last_token(trace: Trace, r: Round) -> int:
    """The token at the root: the last one of the text before the round."""
    return (*trace.prompt.tokens, *trace.generated)[r.start - 1]

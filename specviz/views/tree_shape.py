"""Places in a draft, for what is drawn and listed of it. Who continues whom is in `specviz.shape`.

Nodes are counted from 0; -1 is the root, the last token of the text. See `specviz.trace.Draft` and `Round.detail`.
"""

from __future__ import annotations

from specviz.shape import Shape
from specviz.trace import Round, Trace


def leaves(shape: Shape) -> list[int]:
    """The nodes that nothing continues, as they are drawn from top to bottom: the first child's before the second's."""
    found, waiting = [], [0]
    while waiting:
        context = waiting.pop()
        waiting += [node + 1 for node in reversed(shape.children[context])]
        if context and not shape.children[context]:
            found.append(context - 1)
    return found


def context_of(r: Round, position: int) -> int:
    """The index into `Round.detail` for a drafted node, or for the position after the last one: the final token's.

    In a chain that is the bonus's context, also when the round ended before it.
    """
    if position < len(r.draft.parents):
        return r.draft.parents[position] + 1
    if r.draft.shape.is_chain:
        return position
    return r.path[-1] + 1 if r.path else 0


def last_token(trace: Trace, r: Round) -> int:
    """The token at the root: the last one of the text before the round."""
    return (*trace.prompt.tokens, *trace.generated)[r.start - 1]

"""Candidate trees as data. Choices are paths of ranks: (0,) is the likeliest first token, (0, 2) the third likeliest
after it. The published form of Medusa's trees, Cai et al., arXiv 2401.10774.

No probabilities here but those of an accuracy table: how often the rank-r candidate for a depth was right.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from itertools import takewhile

from specviz.errors import SpecvizError

Choices = tuple[tuple[int, ...], ...]

MAX_NODES, MAX_DEPTH, MAX_RANK = 256, 16, 63
PROFILE_63 = (10, 28, 23, 2)  # nodes per depth of the tree that Medusa published for Vicuna-7B


def check_choices(choices: object) -> Choices:
    """The choices, ordered by depth and rank. Raises SpecvizError that names the entry which is wrong."""
    if not isinstance(choices, list | tuple):
        raise SpecvizError("errors.tree_form", entry=_show(choices))
    if len(choices) > MAX_NODES:
        raise SpecvizError("errors.tree_size", nodes=len(choices), limit=MAX_NODES)
    seen: set[tuple[int, ...]] = set()
    for entry in choices:
        if not isinstance(entry, list | tuple) or not all(type(rank) is int for rank in entry):
            raise SpecvizError("errors.tree_form", entry=_show(entry))
        path = tuple(entry)
        if not 1 <= len(path) <= MAX_DEPTH:
            raise SpecvizError("errors.tree_depth", entry=_show(entry), limit=MAX_DEPTH)
        if not all(0 <= rank <= MAX_RANK for rank in path):
            raise SpecvizError("errors.tree_rank", entry=_show(entry), limit=MAX_RANK)
        if path in seen:
            raise SpecvizError("errors.tree_twice", entry=_show(entry))
        seen.add(path)
    for path in sorted(seen, key=lambda path: (len(path), path)):
        if len(path) > 1 and path[:-1] not in seen:
            raise SpecvizError("errors.tree_prefix", entry=_show(path), parent=_show(path[:-1]))
    return tuple(sorted(seen, key=lambda path: (len(path), path)))


def best_tree(accuracy: Sequence[Sequence[float]], nodes: int) -> Choices:
    """The `nodes` choices of highest expected gain. accuracy[d][r]: how often the rank-r candidate at depth d is right.

    A node is reached when all on its path are right; taken to be independent, its gain is the product of their
    accuracies (Medusa, section 2.3.3). Children gain less than their parent, so the best ones grow from the root.
    """
    wrong = next((share for row in accuracy for share in row if not 0 <= share <= 1), None)  # NaN, too
    if wrong is not None:
        raise SpecvizError("errors.range", name="accuracy", value=wrong, low=0, high=1)
    table = [row[: MAX_RANK + 1] for row in takewhile(len, accuracy[:MAX_DEPTH])]
    best = [sorted(range(len(row)), key=lambda rank: -row[rank]) for row in table]  # a measured row need not fall

    def entry(places: tuple[int, ...]) -> tuple[float, tuple[int, ...], tuple[int, ...]]:
        path = tuple(best[d][place] for d, place in enumerate(places))
        return -math.prod(table[d][rank] for d, rank in enumerate(path)), path, places

    heap = [entry((0,))] if table else []
    found: list[tuple[int, ...]] = []
    while heap and len(found) < min(nodes, MAX_NODES):
        _, path, places = heapq.heappop(heap)
        found.append(path)
        depth = len(places)
        if places[-1] + 1 < len(best[depth - 1]):  # its next sibling
            heapq.heappush(heap, entry((*places[:-1], places[-1] + 1)))
        if depth < len(best):  # its first child
            heapq.heappush(heap, entry((*places, 0)))
    return check_choices(found)


def expected_length(accuracy: Sequence[Sequence[float]], choices: Choices) -> float:
    """Forecast tokens per round with a tree: 1 + the sum of all nodes' gains, from the accuracy table."""
    return 1 + sum(math.prod(accuracy[d][rank] for d, rank in enumerate(path)) for path in choices)


def of_profile(profile: Sequence[int] = PROFILE_63) -> Choices:
    """A tree with so many nodes at each depth, those of the smallest ranks (by the product of rank + 1) first."""
    found: list[tuple[int, ...]] = []
    level: list[tuple[int, ...]] = [()]
    for wanted in profile:
        candidates = [(*path, rank) for path in level for rank in range(min(wanted, MAX_RANK + 1))]
        candidates.sort(key=lambda path: (math.prod(rank + 1 for rank in path), path))
        level = candidates[:wanted]
        found += level
    return check_choices(found)


def _show(value: object) -> str:
    text = str(list(value)) if isinstance(value, tuple) else str(value)
    return text[:60]

"""Candidate trees by name, by size, or from JSON. No torch here.

The best tree of a size follows from how often the bundled Medusa heads are right, which was measured when they were
trained (`assets/weights/medusa/trees.json`); it is a good shape for other drafters, too.
"""

from __future__ import annotations

import json
from functools import cache

from specviz.choices import MAX_NODES, Choices, best_tree, check_choices, expected_length, of_profile
from specviz.config import check_number, short
from specviz.errors import SpecvizError
from specviz.i18n import ASSETS
from specviz.models.local import local_file

TREES = ASSETS / "weights" / "medusa" / "trees.json"
SMALL = (3, 3, 2)  # nodes per depth
DEFAULT = "small"
BUDGET = "budget:"
MAX_TEXT = 20_000  # characters of a tree written out; 256 nodes take up to 8,000


@cache
def accuracy(greedy: bool = True) -> tuple[tuple[float, ...], ...] | None:
    """[depth][rank]: how often that candidate of the bundled heads is right, None where it was not measured.

    greedy  at temperature 0, otherwise at 0.7
    """
    measured = json.loads(TREES.read_text(encoding="utf-8")) if TREES.is_file() else {}
    table = measured.get("accuracy" if greedy else "accuracy_0.7")
    return None if table is None else tuple(map(tuple, table))


@cache
def presets() -> dict[str, Choices]:
    """Name -> tree: "chain" (none), a small one, the best ones of the bundled heads, the published 63 nodes."""
    best = json.loads(TREES.read_text(encoding="utf-8"))["trees"] if TREES.is_file() else {}
    named = {f"best-{n}": check_choices(best[n]) for n in sorted(best, key=int)}
    return {"chain": (), "small": of_profile(SMALL), **named, "published-63": of_profile()}


def best_of(nodes: object) -> Choices:
    """The best tree of so many nodes. Raises SpecvizError where no accuracies are known."""
    n = int(check_number("nodes", nodes, int, 1, MAX_NODES))
    table = accuracy()
    if table is None:
        raise SpecvizError("errors.tree_budget", path="assets/weights/medusa")
    return best_tree(table, n)


def forecast(tree: Choices, greedy: bool = True) -> float | None:
    """Tokens a round that the bundled heads' accuracies promise for a tree; None where it goes beyond the table."""
    table = accuracy(greedy)
    if table is None or any(len(path) > len(table) or path[-1] >= len(table[len(path) - 1]) for path in tree):
        return None
    return expected_length(table, tree)


def read_tree(text: str) -> Choices:
    """Choices as JSON: a list of them, or an object that has it as "choices" or "tree". "" is a chain."""
    if not text.strip():
        return ()
    if len(text) > MAX_TEXT:
        raise SpecvizError("errors.tree_text", size=len(text), limit=MAX_TEXT)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecvizError("errors.tree_json", reason=short(str(error), 80)) from error
    if isinstance(data, dict):
        data = data.get("choices", data.get("tree"))
    return check_choices(data)


def write_tree(tree: Choices) -> str:
    """Choices as JSON in one line; a chain is ""."""
    return json.dumps(tree, separators=(",", ":")) if tree else ""


def tree_of_option(option: str) -> Choices:
    """What `--tree` means: the name of a preset, "budget:N", or a file of JSON. Raises SpecvizError."""
    if option in presets():
        return presets()[option]
    if option.startswith(BUDGET):
        nodes = option.removeprefix(BUDGET)
        return best_of(int(nodes) if nodes.isascii() and nodes.isdigit() and len(nodes) < 9 else nodes)
    file = local_file(option)
    if file is None:
        raise SpecvizError("errors.tree_unknown", name=short(option, 80), names=", ".join(presets()))
    try:
        size = file.stat().st_size
        text = "" if size > MAX_TEXT else file.read_text(encoding="utf-8-sig")  # some editors begin with a mark
    except (OSError, UnicodeDecodeError) as error:
        raise SpecvizError("errors.tree_file", path=short(option, 200), reason=short(str(error), 80)) from error
    if size > MAX_TEXT:
        raise SpecvizError("errors.tree_text", size=size, limit=MAX_TEXT)
    return read_tree(text)

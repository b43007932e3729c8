"""Editing a candidate tree: branches added to and taken from its text, its name, its size, itself in words.

No Gradio here.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from specviz.choices import MAX_DEPTH, Choices, check_choices
from specviz.config import RunConfig, short
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.models import tree_presets
from specviz.models.tree_presets import read_tree, write_tree
from specviz.trace import Round, Trace
from specviz.ui.settings import TREE_METHODS
from specviz.views.tokens import markup
from specviz.views.tree_shape import children, path_to

OWN = "own"  # the name of a tree that is none of the presets
START = ((0,), (1,), (0, 0))  # where somebody begins who wants a tree of their own


def name_of(text: Any) -> str:
    """Which preset a tree is, OWN when it is none of them or no tree."""
    try:
        tree = _read(text)
    except SpecvizError:
        return OWN
    return next((name for name, preset in tree_presets.presets().items() if preset == tree), OWN)


def size_of(text: Any) -> int | None:
    """How many nodes a tree has; None for a chain and for what is no tree."""
    try:
        return len(_read(text)) or None
    except SpecvizError:
        return None


def of_name(name: Any, text: Any) -> str:
    """The text of a preset; for OWN the text as it is, or a beginning. Raises SpecvizError for an unknown name."""
    presets = tree_presets.presets()
    if name == OWN:
        return text if isinstance(text, str) and text.strip() else write_tree(START)
    if not isinstance(name, str) or name not in presets:
        raise SpecvizError("errors.choice", name="tree", value=short(name), choices=", ".join((*presets, OWN)))
    return write_tree(presets[name])


def of_size(nodes: Any, text: Any) -> Any:
    """The text of the best tree of so many nodes; the old one while the field is empty."""
    return text if nodes is None else write_tree(tree_presets.best_of(nodes))


def add_branch(text: Any, k: Any, trace: Trace | None, r: Round | None, position: int | None) -> str:
    """The tree with one more branch: the next candidate after the selected node, or after the text itself."""
    tree = _tree_of(text, k)
    at = _ranks(trace, r, position)
    if at and at not in tree:
        raise SpecvizError("ui.branch_missing", entry=list(at))
    taken = {path[-1] for path in tree if path[:-1] == at}
    rank = next(rank for rank in range(len(taken) + 1) if rank not in taken)
    return write_tree(check_choices([*tree, (*at, rank)]))


def remove_branch(text: Any, k: Any, trace: Trace | None, r: Round | None, position: int | None) -> str:
    """The tree without the selected node and all that follows it."""
    tree = _tree_of(text, k)
    at = _ranks(trace, r, position)
    if not at:
        raise SpecvizError("ui.branch_none")
    if at not in tree:
        raise SpecvizError("ui.branch_missing", entry=list(at))
    left = [path for path in tree if path[: len(at)] != at]
    if not left:
        raise SpecvizError("ui.branch_last")
    return write_tree(check_choices(left))


def in_words(text: Any, method: Any, k: Any, nodes: Any, branch: Any, lang: str) -> str:
    """One line of HTML: what will be drafted with these settings."""
    if method == "eagle":
        if nodes == 0:
            return _line(t(lang, "ui.tree_chain", k=short(k)))
        return _line(t(lang, "ui.tree_eagle", nodes=short(nodes), branch=short(branch), k=short(k)))
    if method not in TREE_METHODS:
        return _line(t(lang, "ui.tree_none"))
    try:
        tree = _read(text)
    except SpecvizError as error:
        return problem(error, lang)
    if not tree:
        return _line(t(lang, "ui.tree_chain", k=short(k)))
    wide = Counter(map(len, tree))
    told = t(
        lang,
        "ui.tree_told",
        nodes=len(tree),
        levels=len(wide),
        profile=" · ".join(str(wide[depth]) for depth in sorted(wide)),
    )
    promised = tree_presets.forecast(tree) if method == "medusa" else None
    if promised is not None:
        told += ("" if lang.startswith("zh") else " ") + t(lang, "ui.tree_forecast", tokens=f"{promised:.2f}")
    return _line(told)


def problem(error: SpecvizError, lang: str) -> str:
    """An error as a line of HTML."""
    return f'<p class="sv-wrong" role="alert">{markup(t(lang, error.key, **error.values))}</p>'


def _line(text: str) -> str:
    return f'<p role="status">{markup(text)}</p>'


def _read(text: Any) -> Choices:
    if not isinstance(text, str):
        raise SpecvizError("ui.not_text", name="tree", value=short(text))
    return read_tree(text)


def _tree_of(text: Any, k: Any) -> Choices:
    """The tree of the field; where there is none the chain that would be drafted."""
    tree = _read(text)
    if tree:
        return tree
    depth = RunConfig(k=k).k  # raises for what is no k
    return tuple((0,) * n for n in range(1, min(depth, MAX_DEPTH) + 1))


def _ranks(trace: Trace | None, r: Round | None, position: int | None) -> tuple[int, ...]:
    """The ranks of a selected node in the tree that its run was made with; () for none, the root.

    The position after the last node is that of the round's final token: where the accepted path ends.
    """
    if trace is None or r is None or position is None:
        return ()
    n = len(r.draft.parents)
    node = position if position < n else r.path[-1] if r.path else -1
    drafted, at = children(r.draft.parents), ()
    for one in path_to(r.draft.parents, node):
        place = drafted[r.draft.parents[one] + 1].index(one)
        wanted = [path[-1] for path in trace.config.tree if path[:-1] == at]  # some of them may not have been drawn
        at = (*at, wanted[place] if place < len(wanted) else place)
    return at

"""Editing a candidate tree: branches added to and taken from its text, its name, its size, itself in words.

No Gradio here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from specviz.choices import MAX_DEPTH, Choices, check_choices
from specviz.config import TREE_METHODS, RunConfig, short
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.models import tree_presets
from specviz.models.tree_presets import write_tree
from specviz.trace import Round, Trace
from specviz.ui.settings import tree_in
from specviz.views.tokens import markup, name, vocabulary

OWN = "own"  # the name of a tree that is none of the presets
START = ((0,), (1,), (0, 0))  # where somebody begins who wants a tree of their own


def name_of(text: Any) -> str:
    """Which preset a tree is, OWN when it is none of them or no tree."""
    try:
        tree = tree_in(text)
    except SpecvizError:
        return OWN
    return next((name for name, preset in tree_presets.presets().items() if preset == tree), OWN)


def size_of(text: Any) -> int | None:
    """How many nodes a tree has; None for a chain and for what is no tree."""
    try:
        return len(tree_in(text)) or None
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
    at, token = _ranks(trace, r, position), _token(trace, r, position)
    if at and at not in tree:
        raise SpecvizError("ui.branch_missing", token=token)
    taken = {path[-1] for path in tree if path[:-1] == at}
    rank = next(rank for rank in range(len(taken) + 1) if rank not in taken)
    return write_tree(check_choices([*tree, (*at, rank)]))


def remove_branch(text: Any, k: Any, trace: Trace | None, r: Round | None, position: int | None) -> str:
    """The tree without the selected node and all that follows it."""
    tree = _tree_of(text, k)
    at, token = _ranks(trace, r, position), _token(trace, r, position)
    if not at:
        raise SpecvizError("ui.branch_none")
    if at not in tree:
        raise SpecvizError("ui.branch_missing", token=token)
    left = [path for path in tree if path[: len(at)] != at]
    if not left:
        raise SpecvizError("ui.branch_last")
    return write_tree(check_choices(left))


def in_words(values: Mapping[str, Any], trace: Trace | None, r: Round | None, position: int | None, lang: str) -> str:
    """One line of HTML: what will be drafted with these settings, and where a branch would be added.

    values  of the fields method, tree, k, nodes, branch, siblings, temperature
    trace   the one on show, with the round on the board and the selected position, if any
    """
    method, k = values["method"], values["k"]
    if method in TREE_METHODS["nodes"]:
        if values["nodes"] == 0:
            return _line(t(lang, "ui.tree_chain", k=short(k)))
        sizes = {field: short(values[field]) for field in ("nodes", "branch", "k")}
        return _line(t(lang, "ui.tree_eagle", **sizes))
    if method not in TREE_METHODS["tree"]:
        return _line(t(lang, "ui.tree_none"))
    try:
        tree = tree_in(values["tree"])
        where = _branch(_tree_of(values["tree"], k), trace, r, position, lang)
    except SpecvizError as error:
        return problem(error, lang)
    if not tree:
        return _line(_joined([t(lang, "ui.tree_chain", k=short(k)), *where], lang))
    wide = Counter(map(len, tree))
    profile = " · ".join(str(wide[depth]) for depth in sorted(wide))
    told = [t(lang, "ui.tree_told", nodes=len(tree), levels=len(wide), profile=profile)]
    if trace is None or (trace.config.method, trace.config.tree) != (method, tree):
        told.append(t(lang, "ui.tree_press_run"))
    promised = tree_presets.forecast(tree) if method == "medusa" else None
    if promised is not None:
        told.append(t(lang, "ui.tree_forecast", tokens=f"{promised:.2f}"))
    siblings = values["siblings"]
    if values["temperature"] == 0 and method != "medusa" and siblings in ("iid", "distinct"):
        told.append(t(lang, f"ui.tree_greedy_{siblings}"))  # q is all on one token
    return _line(_joined([*told, *where], lang))


def _branch(tree: Choices, trace: Trace | None, r: Round | None, position: int | None, lang: str) -> list[str]:
    """Where the button adds a branch, in words; nothing for a node that the tree has not got."""
    at, token = _ranks(trace, r, position), _token(trace, r, position)
    if not at:
        return [t(lang, "ui.branch_at_root" if position is None else "ui.branch_at_start")]
    return [t(lang, "ui.branch_at_node", token=token)] if at in tree else []


def _joined(sentences: list[str], lang: str) -> str:
    return ("" if lang.startswith("zh") else " ").join(sentences)


def problem(error: SpecvizError, lang: str) -> str:
    """An error as a line of HTML."""
    return f'<p class="sv-wrong" role="alert">{markup(t(lang, error.key, **error.values))}</p>'


def _line(text: str) -> str:
    return f'<p role="status">{markup(text)}</p>'


def _tree_of(text: Any, k: Any) -> Choices:
    """The tree of the field; where there is none the chain that would be drafted."""
    tree = tree_in(text)
    if tree:
        return tree
    depth = RunConfig(k=k).k  # raises for what is no k
    return tuple((0,) * n for n in range(1, min(depth, MAX_DEPTH) + 1))


def _node(r: Round, position: int) -> int:
    """The node that a branch at this position continues; -1 for the root.

    The position after the last node is that of the round's final token: where the accepted path ends.
    """
    return position if position < len(r.draft.parents) else r.path[-1] if r.path else -1


def _token(trace: Trace | None, r: Round | None, position: int | None) -> str:
    """The name of a selected node's token; "" for the root."""
    if trace is None or r is None or position is None or _node(r, position) < 0:
        return ""
    return name(vocabulary(trace), r.draft.tokens[_node(r, position)])


def _ranks(trace: Trace | None, r: Round | None, position: int | None) -> tuple[int, ...]:
    """The ranks of a selected node in the tree that its run was made with; () for none, the root."""
    if trace is None or r is None or position is None:
        return ()
    node = _node(r, position)
    shape, at = r.draft.shape, ()
    for one in shape.path(node):
        place = shape.ranks[one]
        wanted = [path[-1] for path in trace.config.tree if path[:-1] == at]  # some of them may not have been drawn
        at = (*at, wanted[place] if place < len(wanted) else place)
    return at

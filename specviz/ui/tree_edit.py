"""Editing a candidate tree: branches added to and taken from its text, its name, its size, itself in words, and its
shape as a preview. No Gradio here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specviz.choices import MAX_DEPTH, Choices, check_choices
from specviz.config import TREE_METHODS, RunConfig, check_choice, short
from specviz.errors import SpecvizError
from specviz.i18n import joined, t
from specviz.models import tree_presets
from specviz.models.tree_presets import write_tree
from specviz.trace import Round, Trace
from specviz.ui.message import problem, run_id
from specviz.ui.place import read_branch, read_place
from specviz.ui.settings import tree_in
from specviz.views.tokens import markup, name, vocabulary
from specviz.views.tree_layout import layout

OWN = "own"  # the name of a tree that is none of the presets
START = ((0,), (1,), (0, 0))  # where somebody begins who wants a tree of their own


@dataclass(frozen=True, slots=True)
class Selected:
    """What is selected on the board, as a place in the tree: its ranks, () for the root or nothing.

    token  its name; "" for the root, and for a node that was not run yet
    any    whether anything is selected
    """

    at: tuple[int, ...] = ()
    token: str = ""
    any: bool = False


def selected(trace: Trace | None, place: Any) -> Selected:
    """The selected node. The position after the last one is the round's final token: where the accepted path ends."""
    branch = read_branch(place)
    if branch:
        return Selected(branch, any=True)
    r, position = read_place(trace, place) or (None, None)
    if trace is None or r is None or position is None:
        return Selected()
    node = position if position < len(r.draft.parents) else r.path[-1] if r.path else -1
    if node < 0:
        return Selected(any=True)
    return Selected(ranks_of(trace, r, node), name(vocabulary(trace), r.draft.tokens[node]), True)


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
    return write_tree(presets[check_choice("tree", name, (*presets, OWN))])


def of_size(nodes: Any, text: Any) -> Any:
    """The text of the best tree of so many nodes; the old one while the field is empty."""
    return text if nodes is None else write_tree(tree_presets.best_of(nodes))


def add_branch(text: Any, k: Any, chosen: Selected) -> str:
    """The tree with one more branch: the next candidate after the selected node, or after the text itself."""
    tree = _tree_of(text, k)
    if chosen.at and chosen.at not in tree:
        raise SpecvizError("ui.branch_missing", token=chosen.token)
    taken = {path[-1] for path in tree if path[:-1] == chosen.at}
    rank = next(rank for rank in range(len(taken) + 1) if rank not in taken)
    return write_tree(check_choices([*tree, (*chosen.at, rank)]))


def remove_branch(text: Any, k: Any, chosen: Selected) -> str:
    """The tree without the selected node and all that follows it."""
    tree = _tree_of(text, k)
    if not chosen.at:
        raise SpecvizError("ui.branch_none")
    if chosen.at not in tree:
        raise SpecvizError("ui.branch_missing", token=chosen.token)
    left = [path for path in tree if path[: len(chosen.at)] != chosen.at]
    if not left:
        raise SpecvizError("ui.branch_last")
    return write_tree(check_choices(left))


def preview(values: Mapping[str, Any], trace: Trace | None, place: Any) -> dict | None:
    """The shape of the tree in the field, for the stage; None where the run on show has it, or it cannot be drafted.

    run      id of the run on show
    round    the round on the board, or None
    choices, parents, layout   of the n nodes
    same [n] the node of that round in the same place, or None: there is none, or no round, or another drafter is
             chosen, whose tokens are not known
    """
    if trace is None or values["method"] not in TREE_METHODS["tree"]:
        return None
    try:
        if tree_in(values["tree"]) == trace.config.tree:
            return None
        tree = _tree_of(values["tree"], values["k"])
    except SpecvizError:
        return None
    mine = values["method"] == trace.config.method and values.get("pair", trace.models.pair) == trace.models.pair
    r = (read_place(trace, place) or (None,))[0] if mine else None
    known = {ranks_of(trace, r, node): node for node in range(len(r.draft.parents))} if r else {}
    at = {path: node for node, path in enumerate(tree)}
    parents = tuple(at.get(path[:-1], -1) for path in tree)
    return {
        "run": run_id(trace),
        "round": r.index if r else None,
        "choices": tree,
        "parents": parents,
        "layout": layout(parents),
        "same": [known.get(path) for path in tree],
    }


def in_words(values: Mapping[str, Any], trace: Trace | None, chosen: Selected, lang: str) -> str:
    """One line of HTML: what will be drafted with these settings, and where a branch would be added.

    values  of the fields method, tree, k, nodes, branch, siblings, temperature
    trace   the one on show; `chosen`: what is selected on its board
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
        where = _branch(_tree_of(values["tree"], k), chosen, lang)
    except SpecvizError as error:
        return problem(error, lang)
    if not tree:
        return _line(joined(lang, t(lang, "ui.tree_chain", k=short(k)), where))
    wide = Counter(map(len, tree))
    profile = " · ".join(str(wide[depth]) for depth in sorted(wide))
    told = [t(lang, "ui.tree_told", size=_size(len(tree), len(wide), lang), profile=profile)]
    if trace is None or (trace.config.method, trace.config.tree) != (method, tree):
        told.append(t(lang, "ui.tree_press_run"))
    greedy = values["temperature"] == 0
    promised = tree_presets.forecast(tree, greedy) if method == "medusa" else None
    if promised is not None:
        told.append(t(lang, "ui.tree_forecast" if greedy else "ui.tree_forecast_drawn", tokens=f"{promised:.2f}"))
    siblings = values["siblings"]
    if greedy and method != "medusa" and siblings in ("iid", "distinct"):
        told.append(t(lang, f"ui.tree_greedy_{siblings}"))  # q is all on one token
    return _line(joined(lang, *told, where))


def _size(nodes: int, levels: int, lang: str) -> str:
    """ "12 nodes on 4 levels", in the singular where it is due."""
    parts = (("nodes", nodes), ("levels", levels))
    counted = {name: t(lang, f"ui.count_{name}{'_one' if n == 1 else ''}", n=n) for name, n in parts}
    return t(lang, "ui.tree_size", **counted)


def _branch(tree: Choices, chosen: Selected, lang: str) -> str:
    """Where the button adds a branch, in words; "" for a node that the tree has not got."""
    if not chosen.at:
        return t(lang, "ui.branch_at_start" if chosen.any else "ui.branch_at_root")
    if chosen.at not in tree:
        return ""
    if chosen.token:
        return t(lang, "ui.branch_at_node", token=chosen.token)
    return t(lang, "ui.branch_at_new", level=len(chosen.at), n=chosen.at[-1] + 1)


def _line(text: str) -> str:
    return f'<p role="status">{markup(text)}</p>'


def _tree_of(text: Any, k: Any) -> Choices:
    """The tree of the field; where there is none the chain that would be drafted."""
    tree = tree_in(text)
    if tree:
        return tree
    depth = RunConfig(k=k).k  # raises for what is no k
    return tuple((0,) * n for n in range(1, min(depth, MAX_DEPTH) + 1))


def ranks_of(trace: Trace, r: Round, node: int) -> tuple[int, ...]:
    """The ranks of a node in the tree that its run was made with."""
    shape, at = r.draft.shape, ()
    for one in shape.path(node):
        place = shape.ranks[one]
        wanted = [path[-1] for path in trace.config.tree if path[:-1] == at]  # some of them may not have been drawn
        at = (*at, wanted[place] if place < len(wanted) else place)
    return at

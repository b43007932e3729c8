"""From the options of a command to the settings of a run and to the models."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from specviz.config import AUTO, MOST, VERIFIERS, RunConfig
from specviz.console import Bar
from specviz.models import tree_presets

if TYPE_CHECKING:
    from specviz.models.pair import Pair

# rules that keep the target's distribution at any temperature
EXACT = tuple(rule for rule in VERIFIERS if RunConfig(verify=rule, temperature=1.0).lossless)
# methods that draft a tree: the method behind the name, and its tree where none is given
TREES: dict[str, tuple[str, dict]] = {
    "draft-tree": ("draft", {"tree": tree_presets.DEFAULT}),
    "skip-tree": ("skip", {"tree": tree_presets.DEFAULT}),
    "eagle-tree": ("eagle", {"nodes": 16}),
}


def run_config(args: argparse.Namespace) -> RunConfig:
    """The run's settings; checked before any model is loaded."""
    names = ("temperature", "top_k", "top_p", "min_p", "seed", "max_new_tokens", "ignore_eos")
    shapes = ("siblings", "branch", "verify", "eps", "delta")
    method, default = TREES.get(args.method, (args.method, {}))
    tree = default.get("tree") if args.tree is None else args.tree
    return RunConfig(
        method=method,
        tree=() if tree is None else tree_presets.tree_of_option(tree),
        nodes=default.get("nodes", 0) if args.nodes is None else args.nodes,
        k=MOST if args.k == AUTO else args.k,
        adapt=args.k == AUTO,
        **{name: getattr(args, name) for name in (*names, *shapes)},
        stop=tuple(args.stop),
        chat=not args.raw,
    )


def load(args: argparse.Namespace) -> Pair:
    """The pair that the options name, with a progress bar on stderr."""
    from specviz.models.load import load_pair

    with Bar(args) as bar:
        return load_pair(
            args.pair,
            target=args.target,
            draft=args.draft,
            method=TREES.get(args.method, (args.method,))[0],
            device=args.device,
            dtype=args.dtype,
            skip=args.skip_layers,
            heads=args.heads,
            progress=bar,
        )

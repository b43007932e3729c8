"""`python -m specviz lessons`: every lesson with its question and the answer, computed when it is asked for."""

from __future__ import annotations

import argparse

from specviz.console import LANG, out, say
from specviz.i18n import t


def add(verbs: argparse._SubParsersAction) -> None:
    """The command."""
    sub = verbs.add_parser("lessons", help=t(LANG, "learn.cli_help"), description=t(LANG, "learn.cli_help"))
    sub.add_argument("--json", action="store_true", help=say("json_help"))
    sub.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """With --json all languages, else the language of the command line."""
    from specviz.lessons.book import listed

    rows = listed()
    lines = []
    for n, row in enumerate(rows, 1):
        lines.append(f"{n:2}  {row['id']:20} {row['title'][LANG]}")
        lines.append(f"    ? {row['question'][LANG]}")
        lines.append(f"    = {row['answer'][LANG]}")
    out(args, {"lessons": rows}, "\n".join(lines))
    return 0

"""`python -m specviz export`: a run or a lesson as one HTML file that plays without a server."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from specviz.console import LANG, out, say, whole_file, write
from specviz.errors import SpecvizError
from specviz.export import LESSON, Page, lesson_page, trace_page
from specviz.i18n import LANGUAGES, counted, t
from specviz.trace_json import load_trace


def add(verbs: argparse._SubParsersAction) -> None:
    """The command."""
    sub = verbs.add_parser("export", help=t(LANG, "handout.cli_help"), description=t(LANG, "handout.cli_help"))
    sub.add_argument("source", help=t(LANG, "handout.source_help"))
    sub.add_argument("-o", "--output", type=Path, help=say("output_help"))
    sub.add_argument("--lang", choices=tuple(LANGUAGES), default=LANG, help=t(LANG, "handout.lang_help"))
    sub.add_argument("--json", action="store_true", help=say("json_help"))
    sub.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Writes the page to a file, or without one to stdout; there with --json as "html" among its figures."""
    page = exported(args.source, args.lang)
    if page.note:
        print(page.note, file=sys.stderr)
    figures = {"bytes": page.size, "rounds": page.rounds, "left_out": page.left_out}
    if args.output is None:
        if args.json:
            out(args, {"html": page.html, **figures}, "")
        else:
            whole_file(page.html)
        return 0
    write(args.output, page.html)
    figures = {"path": str(args.output), **figures}
    rounds = counted(LANG, "handout.rounds", page.rounds)
    out(args, figures, t(LANG, "handout.written", size=f"{page.size / 1e6:.2f}", rounds=rounds, path=args.output))
    return 0


def exported(source: str, lang: str) -> Page:
    """The page of a trace file, or of `lesson:ID`."""
    if source.startswith(LESSON):
        return lesson_page(source.removeprefix(LESSON), lang)
    try:
        data = Path(source).read_bytes()
    except OSError as error:
        raise SpecvizError("handout.unread", path=source, reason=error.strerror or error) from error
    return trace_page(load_trace(data), lang)

"""What `python -m specviz vllm ...` does. Options are declared in `cli_vllm.py`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from specviz.chosen import load, run_config
from specviz.config import check_choice
from specviz.console import LANG, figure, out
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.models.served import served_of
from specviz.serving.carry_over import Served, export
from specviz.serving.compare import Counted, measure_server, own
from specviz.serving.known import SERVED
from specviz.serving.note import texts
from specviz.serving.translate import translate as translated
from specviz.serving.versions import read_version


def config(args: argparse.Namespace) -> int:
    """The settings for vLLM, in three forms."""
    done = export(run_config(args), _served(args), read_version(args.vllm_version))
    notes = texts(done.notes, LANG)
    figures = {
        "version": str(done.version),
        "config": done.speculative,
        "args": done.args,
        "sampling": done.sampling,
        "python": done.python(args.prompt),
        "command": done.command,
        "notes": notes,
    }
    parts = [figures["python"], done.command, f"speculative_config = {done.json}", _listed(notes)]
    out(args, figures, "\n\n".join(str(part).strip() for part in parts))
    return 0


def translate(args: argparse.Namespace) -> int:
    """An old call, brought up to date."""
    text = sys.stdin.read() if args.text == "-" else args.text
    version = read_version(args.vllm_version)
    done = translated(text, version)
    changes = [{"old": c.old, "new": c.new, "why": c.why.text(LANG)} for c in done.changes]
    notes = texts(done.notes, LANG)
    figures = {
        "version": str(version),
        "config": done.config,
        "args": done.args,
        "code": done.code,
        "changes": changes,
        "notes": notes,
    }
    gone, added = t(LANG, "serve.change_gone"), t(LANG, "serve.change_added")
    rows = [f"{c['old'] or added}  ->  {c['new'] or gone}\n    {c['why']}" for c in changes]
    out(args, figures, "\n\n".join(part for part in (done.code, "\n".join(rows), _listed(notes)) if part))
    return 0


def compare(args: argparse.Namespace) -> int:
    """A prompt on a running server and here."""
    from specviz.serving.client import Server

    settings = run_config(args)
    if not args.vllm_url:
        raise SpecvizError("serve.url_missing")
    server = Server(args.vllm_url)
    server.models()  # whether it is there, before a model is loaded here
    trace = None
    if not args.server_only:
        from specviz.models.run import run

        trace = run(load(args), args.prompt, settings, detail=False)
    target = trace.models.target if trace else None
    theirs = measure_server(server, args.prompt, settings, trace, args.model)
    ours = own(trace) if trace else None
    figures = {
        "label": t(LANG, "serve.label_counts"),
        "prompt": args.prompt,
        "vllm": theirs.to_json(LANG),
        "specviz": {"model": target, **asdict(ours)} if ours else None,
    }
    if args.json:
        out(args, figures, "")
        return 0
    sides = [(t(LANG, "serve.side_vllm", version=theirs.version or ""), theirs.counted)]
    sides += [(t(LANG, "serve.side_ours"), ours)] if ours else []
    print("\n".join(f"{name.strip():12} {_line(counted)}" for name, counted in sides))
    print(figures["label"], *texts(theirs.notes, LANG), sep="\n", file=sys.stderr)
    return 0


def _served(args: argparse.Namespace) -> Served:
    if args.preset is None:
        return served_of(args.pair, args.target, args.draft, args.heads, args.tensor_parallel or 1)
    if args.pair or args.target or args.draft:
        raise SpecvizError("serve.preset_or_models")
    p = SERVED[check_choice("preset", args.preset, SERVED)]
    return Served(p.target, p.draft, heads=args.heads, tensor_parallel=args.tensor_parallel or p.tensor_parallel)


def _line(c: Counted) -> str:
    """Both sides' figures in one line each."""
    rows = {
        "row_tokens": c.tokens,
        "row_speed": c.tokens_per_second,
        "row_drafts": c.drafts,
        "row_accepted": None if c.drafts is None else f"{c.accepted} / {c.draft_tokens}",
        "row_length": c.mean_acceptance_length,
        "row_position": " ".join(f"{x:.2f}" for x in c.per_position) or None,
    }
    return " · ".join(f"{t(LANG, f'serve.{name}')} {figure(value)}" for name, value in rows.items())


def _listed(notes: list[str]) -> str:
    return "\n".join(f"- {text}" for text in notes)

"""The command line: `python -m specviz fetch|generate|trace|check|pairs|tune|bench|train|vllm|lessons|export`.

People read stderr, programs read stdout: with --json, stdout holds one JSON object and nothing else.
Exit status: 0 done, 1 a check failed, 2 it could not be done (a wrong value, a missing model), 3 a check had nothing to
test, 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from specviz import cli_export, cli_lessons, cli_vllm, commands
from specviz.bench.names import KEYS, KINDS, VLLM
from specviz.chosen import TREES
from specviz.config import AUTO, METHODS, MOST, SIBLINGS, VERIFIERS, RunConfig
from specviz.console import LANG, say
from specviz.coupling import FAULTS
from specviz.errors import SpecvizError
from specviz.i18n import t


class Parser(argparse.ArgumentParser):
    """Wrong arguments are one sentence on stderr and exit status 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, say("wrong", message=message) + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):  # a console without our characters shows them escaped, and no traceback
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    args = parser().parse_args(argv)
    try:
        return args.run(args)
    except SpecvizError as error:
        print(t(LANG, error.key, **error.values), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> Parser:
    """All commands and their options."""
    top = Parser(prog="python -m specviz", description=say("about"))
    verbs = top.add_subparsers(required=True, metavar="command", parser_class=Parser)

    def command(name: str, run: Callable[[argparse.Namespace], int], *groups: Callable) -> Parser:
        sub = verbs.add_parser(name, help=say(f"{name}_help"), description=say(f"{name}_help"))
        sub.add_argument("--json", action="store_true", help=say("json_help"))
        sub.set_defaults(run=run)
        for group in groups:
            group(sub)
        return sub

    command("fetch", commands.fetch).add_argument("--verify", action="store_true", help=say("verify_help"))
    generated = command("generate", commands.generate, prompt_option, model_options, run_options)
    generated.add_argument("--stats", action="store_true", help=say("stats_help"))
    traced = command("trace", commands.trace, prompt_option, model_options, run_options)
    traced.add_argument("-o", "--output", type=Path, help=say("output_help"))
    traced.add_argument("--no-detail", action="store_true", help=say("no_detail_help"))
    checked = command("check", commands.check, model_options, run_options)
    checked.add_argument("--samples", "--seeds", type=int, default=2000, help=say("samples_help"))
    checked.add_argument("--fault", choices=FAULTS, help=t(LANG, "proof.cli_fault_help"))
    command("pairs", commands.pairs)
    tuning = command("tune", commands.tune)
    tuning.add_argument("--forget", action="store_true", help=say("forget_help"))
    bench_command(verbs)
    train_command(verbs)
    cli_vllm.add(verbs, model_options, run_options)
    cli_lessons.add(verbs)
    cli_export.add(verbs)
    return top


def bench_command(verbs: argparse._SubParsersAction) -> None:
    def told(name: str, **values: object) -> str:
        return t(LANG, f"bench.{name}_help", **values)

    sub = verbs.add_parser("bench", help=t(LANG, "bench.help"), description=t(LANG, "bench.help"))
    sub.set_defaults(run=commands.bench)
    sub.add_argument("--json", action="store_true", help=say("json_help"))
    model_options(sub)
    for name, value in (("prompts", 8), ("max_new_tokens", 128), ("repeats", 1), ("k", 4)):
        sub.add_argument(f"--{name.replace('_', '-')}", type=int, default=value, help=told(name, value=value))
    sub.add_argument("--threads", type=int, help=told("threads"))
    for name in ("prompt", "set", "only"):
        sub.add_argument(f"--{name}", action="append", default=[], help=told(name, value=", ".join((*KEYS, VLLM))))
    sub.add_argument("--sweep", action="append", default=[], choices=KINDS, help=told("sweep"))
    sub.add_argument("--ignore-eos", action="store_true", help=say("ignore_eos_help"))
    sub.add_argument("--gguf", type=Path, help=told("gguf"))
    sub.add_argument("--vllm-url", help=told("vllm_url"))
    sub.add_argument("--page", type=Path, help=told("page"))


def train_command(verbs: argparse._SubParsersAction) -> None:
    def told(name: str, **values: object) -> str:
        return t(LANG, f"train.{name}_help", **values)

    sub = verbs.add_parser("train", help=t(LANG, "train.help"), description=t(LANG, "train.help"))
    sub.set_defaults(run=commands.train)
    sub.add_argument("what", choices=("corpus", "draft", "eagle", "medusa", "evaluate"), help=told("what"))
    sub.add_argument("--json", action="store_true", help=say("json_help"))
    for name in ("target", "layers", "weights"):
        sub.add_argument(f"--{name}", help=told(name))
    sub.add_argument("--method", choices=METHODS[:-1], default="draft", help=told("method"))
    for name in ("out", "corpus"):
        sub.add_argument(f"--{name}", type=Path, help=told(name))
    for name, value in (
        ("tokens", 4_000_000),
        ("rows", 192),
        ("width", 192),
        ("seed", 0),
        ("steps", 3000),
        ("batch", 16),
        ("k", 4),
    ):
        sub.add_argument(f"--{name}", type=int, default=value, help=told(name, value=value))
    for name in ("vocabulary", "prompts"):
        sub.add_argument(f"--{name}", type=int, help=told(name))
    for name, value in (("rate", 0.001), ("tv", 0.0)):
        sub.add_argument(f"--{name}", type=float, default=value, help=told(name, value=value))
    sub.add_argument("--device", default="auto", help=say("device_help"))
    sub.add_argument("--dtype", default="auto", help=say("dtype_help"))


def drafted(value: str) -> int | str:
    """ "auto" as it is, anything else a number."""
    return value if value == AUTO else int(value)


def prompt_option(sub: Parser) -> None:
    sub.add_argument("prompt", help=say("prompt_help"))


def model_options(sub: Parser) -> None:
    sub.add_argument("--pair", help=say("pair_help"))
    sub.add_argument("--target", help=say("target_help"))
    sub.add_argument("--draft", help=say("draft_help"))
    sub.add_argument("--skip-layers", help=say("skip_layers_help"))
    sub.add_argument("--heads", help=say("heads_help"))
    sub.add_argument("--device", default="auto", help=say("device_help"))
    sub.add_argument("--dtype", default="auto", help=say("dtype_help"))


def run_options(sub: Parser) -> None:
    default = RunConfig()
    sub.add_argument("--method", choices=(*METHODS, *TREES), default=default.method, help=say("method_help"))
    sub.add_argument("--tree", help=say("tree_help"))
    sub.add_argument("--siblings", choices=SIBLINGS, default=default.siblings, help=say("siblings_help"))
    sub.add_argument("--nodes", type=int, help=say("nodes_help", value=TREES["eagle-tree"][1]["nodes"]))
    sub.add_argument("--verify", choices=VERIFIERS, default=default.verify, help=say("rule_help"))
    sub.add_argument("--k", type=drafted, default=default.k, help=say("k_help", value=default.k, most=MOST))
    for name, kind in (
        ("temperature", float),
        ("top_k", int),
        ("top_p", float),
        ("min_p", float),
        ("seed", int),
        ("max_new_tokens", int),
        ("branch", int),
        ("eps", float),
        ("delta", float),
    ):
        value = getattr(default, name)
        sub.add_argument(f"--{name.replace('_', '-')}", type=kind, default=value, help=say(f"{name}_help", value=value))
    sub.add_argument("--stop", action="append", default=[], help=say("stop_help"))
    sub.add_argument("--raw", action="store_true", help=say("raw_help"))
    sub.add_argument("--ignore-eos", action="store_true", help=say("ignore_eos_help"))

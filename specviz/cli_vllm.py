"""Options of `python -m specviz vllm config|translate|compare`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from specviz import commands_vllm
from specviz.console import LANG, say
from specviz.i18n import t
from specviz.serving.known import SERVED
from specviz.serving.versions import NEWEST


def add(verbs: argparse._SubParsersAction, *groups: Callable[[argparse.ArgumentParser], None]) -> None:
    """The command and its three verbs. `groups` add the options of a run and of its models."""

    def told(name: str, **values: object) -> str:
        return t(LANG, f"serve.{name}", **values)

    top = verbs.add_parser("vllm", help=told("help"), description=told("help"))
    inner = top.add_subparsers(required=True, metavar="command", parser_class=type(top))

    def command(name: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        sub = inner.add_parser(name, help=told(f"{name}_help"), description=told(f"{name}_help"))
        sub.add_argument("--json", action="store_true", help=say("json_help"))
        sub.set_defaults(run=run)
        return sub

    config = command("config", commands_vllm.config)
    config.add_argument("--preset", help=told("preset_help", value=", ".join(SERVED)))
    config.add_argument("--tensor-parallel", type=int, help=told("gpus_help"))
    config.add_argument("--prompt", default="Explain why the sky is blue.", help=told("prompt_help"))
    translate = command("translate", commands_vllm.translate)
    translate.add_argument("text", help=told("text_help"))
    for sub in (config, translate):
        sub.add_argument("--vllm-version", default=str(NEWEST), help=told("version_help", value=NEWEST))
    compare = command("compare", commands_vllm.compare)
    compare.add_argument("prompt", help=say("prompt_help"))
    compare.add_argument("--vllm-url", help=told("url_help"))
    compare.add_argument("--model", help=told("model_help"))
    compare.add_argument("--server-only", action="store_true", help=told("server_only_help"))
    for sub in (config, compare):
        for group in groups:
            group(sub)

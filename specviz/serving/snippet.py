"""Programs and commands as text. What a visitor wrote is quoted by `repr` or for the shell, never pasted in."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence

WIDTH = 100


def python(args: Mapping[str, object], sampling: Mapping[str, object], prompt: str, chat: bool) -> str:
    """A program that loads the models, runs the prompt and prints what vLLM counted."""
    ask = f'llm.chat([{{"role": "user", "content": {quoted(prompt)}}}], params)'
    if not chat:
        ask = f"llm.generate([{quoted(prompt)}], params)"
    return f"""from vllm import LLM, SamplingParams

if __name__ == "__main__":  # vLLM starts further processes
    llm = {call("LLM", {**args, "disable_log_stats": False}, 4)}
    params = {call("SamplingParams", sampling, 4)}
    (answer,) = {ask}
    print(answer.outputs[0].text)
    for metric in llm.get_metrics():
        if metric.name.startswith("vllm:spec_decode"):
            print(metric.name, metric.values if hasattr(metric, "values") else metric.value)
"""


def command(args: Mapping[str, object], more: Sequence[str] = ()) -> str:
    """`vllm serve`, one option a line."""
    lines = [f"vllm serve {shlex.quote(str(args['model']))}"]
    if args.get("tensor_parallel_size", 1) != 1:
        lines.append(f"--tensor-parallel-size {args['tensor_parallel_size']}")
    if args.get("speculative_config") is not None:
        lines.append(f"--speculative-config {shlex.quote(compact(args['speculative_config']))}")
    if more:
        lines.append(shlex.join(more))
    return " \\\n  ".join(lines)


def call(name: str, args: Mapping[str, object], indent: int = 0) -> str:
    """A call with keyword arguments: on one line where it fits, else one argument a line."""
    written = [f"{key}={quoted(value)}" for key, value in args.items()]
    line = f"{name}({', '.join(written)})"
    if len(line) + indent <= WIDTH and len(written) <= 3:
        return line
    space = " " * indent
    rows = [f"{key}={_spread(value, indent + 4)}" for key, value in args.items()]
    return f"{name}(\n" + "".join(f"{space}    {row},\n" for row in rows) + f"{space})"


def _spread(value: object, indent: int) -> str:
    if not isinstance(value, dict) or len(quoted(value)) < 60:
        return quoted(value)
    space = " " * indent
    return "{\n" + "".join(f"{space}    {quoted(k)}: {quoted(v)},\n" for k, v in value.items()) + f"{space}}}"


def quoted(value: object) -> str:
    """A Python literal, texts in double quotes where they hold none."""
    if isinstance(value, str):
        text = repr(value)
        return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(k)}: {quoted(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(quoted, value)) + "]"
    return repr(value)


def pretty(value: object) -> str:
    """JSON to read."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def compact(value: object) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False)

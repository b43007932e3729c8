"""The same for a shell command: `vllm serve ... --speculative-model ...`, and the older `python -m vllm...` form."""

from __future__ import annotations

import json
import re
import shlex

from specviz.errors import SpecvizError
from specviz.serving import snippet
from specviz.serving.literal import Value, is_plain, known
from specviz.serving.modern import Modern, modernise
from specviz.serving.old_names import FLAGS, GONE_ELSEWHERE, OLD
from specviz.serving.versions import Version

START = re.compile(r"^\s*(\$ )?([A-Z_][A-Z0-9_]*=\S* +)*(vllm +serve\b|(\S*/)?python[\d.]* +-m +vllm\.)")
CONFIG = "speculative_config"
OPERATORS = set("();<>|&")
VARIABLE = re.compile(r"(\w+=)?[\w./:-]*\$(\w++|\{\w+\})[\w./:-]*", re.ASCII)
INTEGER = re.compile(r"-?\d{1,9}", re.ASCII)


def is_command(text: str) -> bool:
    """Whether a text is a command that starts a server."""
    return START.match(text) is not None


def read(text: str, version: Version) -> tuple[Modern, str]:
    """(what became of the options, the new command). Raises SpecvizError for what no shell could read."""
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError as error:  # a quotation that does not end
        raise SpecvizError("serve.shell", reason=error) from error
    operator = next((word for word in words if word and set(word) <= OPERATORS), None)
    if operator is not None:  # what comes after it is no option of the server's
        raise SpecvizError("serve.shell_operator", operator=operator)
    if words and words[0] == "$":
        words.pop(0)
    start, options = _options(words)
    given: dict[str, Value] = {}
    kept: list[str] = []
    config = None
    for flag, value in options:
        name = flag.lstrip("-").replace("-", "_")
        if name in OLD or name in GONE_ELSEWHERE:
            given[name] = _value(value)
        elif name == CONFIG or flag == "-sc":
            config = _config(value)
        else:
            if name in ("tensor_parallel_size", "tp"):
                given["tensor_parallel_size"] = _value(value)
            kept += [flag] if value is None else [flag, value]
    made = modernise(given, config, version)
    made.args = {}
    lines = [joined(start), *_lines(kept)]
    if made.spec:
        spec = {key: value.value for key, value in made.spec.items()}
        lines.append(f"--speculative-config {shlex.quote(snippet.compact(spec))}")
    return made, " \\\n  ".join(lines)


def joined(words: list[str]) -> str:
    """For a shell. Variables stay variables: $PORT, VLLM_API_KEY=$KEY."""
    return " ".join(word if VARIABLE.fullmatch(word) else shlex.quote(word) for word in words)


def _options(words: list[str]) -> tuple[list[str], list[tuple[str, str | None]]]:
    """What stands before the first option, and the options with their values."""
    first = next((i for i, word in enumerate(words) if word.startswith("--") or word in ("-tp", "-sc")), len(words))
    found: list[tuple[str, str | None]] = []
    i = first
    while i < len(words):
        flag, equals, value = words[i].partition("=")
        i += 1
        name = flag.lstrip("-").replace("-", "_")
        takes = not equals and i < len(words) and not words[i].startswith("-")
        if takes and (name not in FLAGS or words[i].lower() in ("true", "false")):
            value, equals = words[i], "="
            i += 1
        found.append((flag, value if equals else None))
    return words[:first], found


def _value(text: str | None) -> Value:
    if text is None:
        return known(True)
    return known(int(text)) if INTEGER.fullmatch(text) else known(None if text == "None" else text)


def _config(text: str | None) -> dict[str, Value]:
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError) as error:
        raise SpecvizError("serve.config_json") from error
    if not isinstance(found, dict) or not is_plain(found):
        raise SpecvizError("serve.config_json")
    return {key: known(value) for key, value in found.items()}


def _lines(words: list[str]) -> list[str]:
    """An option and its values on one line."""
    lines: list[list[str]] = []
    for word in words:
        if word.startswith("-") or not lines:
            lines.append([word])
        else:
            lines[-1].append(word)
    return [joined(line) for line in lines]

"""An old vLLM call or command, as pasted, to today's. The text is parsed and never run.

Python is read with `ast`: a call alone, an assignment, a whole snippet, also with `**kwargs` whose dict is in sight.
What stands around the calls stays as it is. A text that is a shell command is read by `old_command.py`.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from specviz.config import is_whole, short
from specviz.errors import SpecvizError
from specviz.serving import old_command
from specviz.serving.literal import Value, assigned, fields, parse, read, unparsed
from specviz.serving.modern import Change, Modern, modernise
from specviz.serving.note import Note, note
from specviz.serving.old_names import OLD
from specviz.serving.versions import NEWEST, Version

CALLS = ("LLM", "EngineArgs", "AsyncEngineArgs")
MAX_TEXT = 20_000  # characters
MAX_CALLS = 20
MAX_ARGUMENTS = 200  # of all calls together: far more than there are settings


@dataclass(frozen=True, slots=True)
class Translation:
    """What came of a text.

    config  the speculative_config; names that the text does not explain stand as "{NAME}". None: no speculation
    args    all keyword arguments of the call, `config` among them
    code    the text with today's call in it
    """

    config: dict[str, object] | None
    args: dict[str, object]
    code: str
    changes: tuple[Change, ...]
    notes: tuple[Note, ...]


def translate(text: object, version: Version = NEWEST) -> Translation:
    """Raises SpecvizError, in a sentence, for everything that is no such call."""
    if not isinstance(text, str):
        raise SpecvizError("ui.not_text", name="text", value=short(text))
    if len(text) > MAX_TEXT:
        raise SpecvizError("serve.text_long", size=len(text), limit=MAX_TEXT)
    if not is_whole(text):
        raise SpecvizError("serve.unreadable")
    text = _unwrapped(text)
    if not text:
        raise SpecvizError("serve.text_empty")
    if old_command.is_command(text):
        return _translation(*old_command.read(text, version), [])
    return _python(text, version)


def _unwrapped(text: str) -> str:
    """Without Markdown fences, prompts of a Python shell and common indentation."""
    text = text.replace("\r\n", "\n").strip("\n")
    fence = re.fullmatch(r"\s*```[\w-]*\n(.*?)\n?```\s*", text, re.DOTALL)
    text = fence[1] if fence else text
    if re.match(r"\s*>>> ", text):
        text = re.sub(r"^[ \t]*(>>> ?|\.\.\. ?)", "", text, flags=re.MULTILINE)
    return textwrap.dedent(text).strip()


def _python(text: str, version: Version) -> Translation:
    tree = parse(text)
    names = assigned(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) in CALLS]
    if not calls:
        raise SpecvizError("serve.no_call", calls=", ".join(f"{name}(...)" for name in CALLS))
    if len(calls) > MAX_CALLS or sum(len(call.args) + len(call.keywords) for call in calls) > MAX_ARGUMENTS:
        raise SpecvizError("serve.too_much", calls=MAX_CALLS, arguments=MAX_ARGUMENTS)
    inner = {id(node) for call in calls for node in ast.walk(call) if node is not call}
    calls = [call for call in calls if id(call) not in inner]  # one that is written anew is not also written into
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    found: list[tuple[ast.Call, Modern]] = []
    notes: list[Note] = []
    for call in calls:
        given, rest, hidden = _arguments(call, names)
        config = _config(call, given, names)
        made = modernise(given, config, version)
        found.append((call, made))
        notes += [note("hidden", name=short(name)) for name in hidden]
        notes += [note("unknown_name", name=short(v.source)) for v in (made.spec or {}).values() if not v.known]
        made.changes[:0] = [Change(f"**{name}", "", note("spread")) for name in rest]
    code = text
    for call, made in reversed(found):
        if made.changes:
            code = _replaced(code, call, _written(call, made, names))
    first = next((made for _, made in found if made.spec), found[0][1])
    merged = Modern(first.args, first.spec, [change for _, made in found for change in made.changes])
    return _translation(merged, code, notes)


def _name(function: ast.expr) -> str:
    """`LLM` and `vllm.LLM` alike."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _arguments(call: ast.Call, names: Mapping[str, ast.expr]) -> tuple[dict[str, Value], list[str], list[str]]:
    """Keyword arguments by name; the `**` that could be looked into; and those that could not."""
    given: dict[str, Value] = {}
    seen: list[str] = []
    hidden: list[str] = []
    if call.args and not isinstance(call.args[0], ast.Starred):
        given["model"] = read(call.args[0], names)
    for word in call.keywords:
        if word.arg is not None:
            given[word.arg] = read(word.value, names)
            continue
        inside = fields(word.value, names)
        if inside is not None and inside.keys() & (OLD | {"speculative_config"}):
            given |= inside
            seen.append(unparsed(word.value))
        elif inside is None:
            hidden.append(unparsed(word.value))
    return given, seen, hidden


def _config(call: ast.Call, given: dict[str, Value], names: Mapping[str, ast.expr]) -> dict[str, Value] | None:
    """The entries of the call's `speculative_config`, which leaves `given` where they can be seen."""
    for word in call.keywords:
        inside = fields(word.value, names) if word.arg == "speculative_config" else None
        if inside is not None:
            given.pop("speculative_config")
            return inside
    value = given.get("speculative_config")
    if value is not None and value.known and isinstance(value.value, dict):  # it came in through `**`
        given.pop("speculative_config")
        return {key: Value(repr(item), True, item) for key, item in value.value.items()}
    return None


def _written(call: ast.Call, made: Modern, names: Mapping[str, ast.expr]) -> str:
    """Today's call as code, with what could not be read as it stood."""
    rows = [read(arg, {}).code for arg in call.args]
    rows += [f"{key}={value.code}" for key, value in made.args.items() if not (key == "model" and call.args)]
    if made.spec:
        inner = [f'"{key}": {value.code}' for key, value in made.spec.items()]
        line = "{" + ", ".join(inner) + "}"
        long = len(line) > 60
        line = "{\n" + "".join(f"        {row},\n" for row in inner) + "    }" if long else line
        rows.append(f"speculative_config={line}")
    for word in call.keywords:
        if word.arg is None:
            inside = fields(word.value, names)
            if inside is None or not inside.keys() & (OLD | {"speculative_config"}):
                rows.append(f"**{unparsed(word.value)}")
    name = unparsed(call.func)
    line = f"{name}({', '.join(rows)})"
    if "\n" not in line and len(line) <= 88:
        return line
    return f"{name}(\n" + "".join(f"    {row},\n" for row in rows) + ")"


def _replaced(text: str, call: ast.Call, new: str) -> str:
    """`text` with another call in the place of this one. Columns of `ast` count bytes of UTF-8."""
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: call.lineno - 1])) + call.col_offset
    end = sum(map(len, lines[: (call.end_lineno or 1) - 1])) + (call.end_col_offset or 0)
    line = lines[call.lineno - 1].decode()
    indent = line[: len(line) - len(line.lstrip())]
    whole = text.encode()
    return (whole[:start] + new.replace("\n", "\n" + indent).encode() + whole[end:]).decode()


def _translation(made: Modern, code: str, notes: list[Note]) -> Translation:
    config = {key: _json(value) for key, value in made.spec.items()} if made.spec else None
    args: dict[str, object] = {key: _json(value) for key, value in made.args.items()}
    if config is not None:
        args["speculative_config"] = config
    if not made.changes:
        notes = [note("nothing_old" if config or "speculative_config" in args else "nothing_speculative"), *notes]
    return Translation(config, args, code, tuple(made.changes), tuple(notes))


def _json(value: Value) -> object:
    return value.value if value.known else "{" + value.source + "}"

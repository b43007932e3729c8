"""Reading values out of Python source without running any of it: literals, and names that a literal was given to."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from specviz.config import is_whole
from specviz.errors import SpecvizError
from specviz.serving import snippet

CHANGING = ("update", "pop", "setdefault", "clear", "popitem")  # methods of a dict
LARGEST = 100  # parts of a value that a name is looked up for: no setting has more, and a text may name it everywhere


@dataclass(frozen=True, slots=True)
class Value:
    """An argument. `source` is how it was written; `known` says whether its value can be read from the text alone."""

    source: str
    known: bool = False
    value: object = None

    @property
    def code(self) -> str:
        """It as code: as it was written, but texts in double quotes."""
        text = self.known and isinstance(self.value, str) and self.source.startswith(("'", '"'))
        return snippet.quoted(self.value) if text else self.source


def known(value: object) -> Value:
    """A value that we write ourselves."""
    return Value(repr(value), True, value)


def parse(text: str) -> ast.Module:
    """The syntax of a snippet. Raises SpecvizError for what is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as "invalid escape sequence": not ours to judge
            return ast.parse(text)
    except SyntaxError as error:
        raise SpecvizError("serve.syntax", line=error.lineno or 1, reason=error.msg) from error
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nesting beyond the parser's stack
        raise SpecvizError("serve.unreadable") from error


def assigned(tree: ast.Module) -> dict[str, ast.expr]:
    """What simple names stand for: those given one small value, once, and not changed anywhere in the snippet."""
    values: dict[str, ast.expr] = {}
    bound: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] += 1
        elif isinstance(node, ast.arg):
            bound[node.arg] += 1
        elif _changes(node):
            bound[node.value.id] += 1
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_small(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values |= {target.id: node.value for target in targets if isinstance(target, ast.Name)}
    return {name: value for name, value in values.items() if bound[name] == 1}


def _is_small(node: ast.AST) -> bool:
    return sum(1 for _ in islice(ast.walk(node), LARGEST + 1)) <= LARGEST


def _changes(node: ast.AST) -> bool:
    """`name[...] = x`, or a call of a method that changes a dict."""
    if not isinstance(node, ast.Subscript | ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return not isinstance(node.ctx, ast.Load) or getattr(node, "attr", "") in CHANGING


def read(node: ast.expr, names: Mapping[str, ast.expr]) -> Value:
    """The value of an expression, where it is a literal that JSON can hold, or a name for one."""
    source = unparsed(node)
    try:
        value = ast.literal_eval(names.get(node.id, node) if isinstance(node, ast.Name) else node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return Value(source)
    return Value(source, True, value) if is_plain(value) else Value(source)


def fields(node: ast.expr, names: Mapping[str, ast.expr]) -> dict[str, Value] | None:
    """The entries of a dict, written as `{...}` or `dict(...)`, or of a name for one. None: they cannot be seen."""
    if isinstance(node, ast.Name):
        node = names.get(node.id, node)
    if isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if all(isinstance(key, str) for key in keys):
            return {str(key): read(value, names) for key, value in zip(keys, node.values, strict=True)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        words = {word.arg: word.value for word in node.keywords}
        if not node.args and None not in words:
            return {str(name): read(value, names) for name, value in words.items()}
    return None


def is_plain(value: object, depth: int = 0) -> bool:
    """Whether JSON can hold it, and a browser show it."""
    if isinstance(value, str):
        return is_whole(value)
    if isinstance(value, dict):
        named = all(isinstance(key, str) and is_plain(key) for key in value)
        return depth < 8 and named and all(is_plain(v, depth + 1) for v in value.values())
    if isinstance(value, list | tuple):
        return depth < 8 and all(is_plain(v, depth + 1) for v in value)
    if isinstance(value, bool) or value is None:
        return True
    return isinstance(value, int | float) and abs(value) < 2**63  # NaN and infinity are not


def unparsed(node: ast.AST) -> str:
    """An expression as text. Raises SpecvizError where it nests too deep to be written."""
    try:
        return ast.unparse(node)
    except (RecursionError, MemoryError, ValueError) as error:
        raise SpecvizError("serve.unreadable") from error

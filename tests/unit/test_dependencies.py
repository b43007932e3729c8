"""The dependency rule of the house, read from the imports."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted([ROOT / "app.py", *(ROOT / "specviz").rglob("*.py")])

# part of the house -> the parts it may import
RECORDS = {
    "cache",
    "tuned",
    "errors",
    "i18n",
    "choices",
    "config",
    "shape",
    "trace",
    "trace_read",
    "trace_rules",
    "trace_json",
    "metrics",
    "theory",
    "race",
    "costs",
    "race_sweep",
    "race_theory",
    "chisquare",
    "coupling",
    "parting",
    "proof",
    "bundle",
}
MAY_IMPORT = {
    **dict.fromkeys(RECORDS, RECORDS),
    "engine": RECORDS | {"engine"},
    "serving": RECORDS | {"serving"},
    "models": RECORDS | {"engine", "models", "serving"},
    "views": RECORDS | {"views"},
    "lessons": RECORDS | {"views", "lessons"},
    "ui": RECORDS | {"export", "lessons", "views", "models", "bench", "serving", "ui"},
    "training": RECORDS | {"engine", "models", "training"},
    "bench": RECORDS | {"engine", "models", "serving", "bench"},
    "console": RECORDS,
    "chosen": RECORDS | {"console", "models"},
    "commands": RECORDS | {"chosen", "console", "models", "training", "bench", "views"},
    "commands_vllm": RECORDS | {"chosen", "console", "models", "serving"},
    "cli_vllm": RECORDS | {"console", "commands_vllm", "serving"},
    "cli_lessons": RECORDS | {"console", "lessons"},
    "export": RECORDS | {"views", "lessons"},
    "cli_export": RECORDS | {"console", "export"},
    "cli": RECORDS | {"chosen", "console", "commands", "cli_export", "cli_lessons", "cli_vllm", "bench"},
    "__main__": {"cli"},
    "__init__": RECORDS | {"engine", "models"},
    "app": {"ui", "cli"} | RECORDS,
}
LIBRARIES = {
    "torch": {"engine", "models", "training", "bench"},
    "transformers": {"engine", "models", "training", "bench"},
    "gradio": {"ui", "app"},
    "spaces": {"models"},
    "plotly": {"views"},
    "networkx": {"views"},
    "markdown_it": {"views"},
    "latex2mathml": {"views"},
    "httpx": {"serving"},
}


def part(file: Path) -> str:
    relative = file.relative_to(ROOT).with_suffix("").parts
    return relative[-1] if len(relative) == 1 else relative[1]


def imports(file: Path):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_imports_keep_the_rule(file):
    here = part(file)
    assert here in MAY_IMPORT, f"{here} is not in the plan of the house"
    for name in imports(file):
        top, *rest = name.split(".")
        if top == "specviz" and rest:
            assert rest[0] in MAY_IMPORT[here] | {"__version__"}, f"{here} must not import {name}"
        if top in LIBRARIES:
            assert here in LIBRARIES[top], f"{here} must not import {top}"

"""The settings as they come from the page, a link or the API, and as they go back into the page. No Gradio here.

Everything that arrives is foreign: numbers may be text, lists, NaN or 10^9. `RunConfig` judges the values; this module
only brings them into shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from specviz.choices import Choices
from specviz.config import METHODS, TREE_METHODS, RunConfig, check_choice, short
from specviz.errors import SpecvizError
from specviz.models.tree_presets import read_tree, write_tree
from specviz.trace import Trace

# The controls of the page, in their order; `prompt` first. Links use the same names.
FIELDS = (
    "prompt",
    "method",
    "k",
    "temperature",
    "seed",
    "top_k",
    "top_p",
    "min_p",
    "max_new_tokens",
    "stop",
    "chat",
    "pair",
    "verify",
    "tree",
    "siblings",
    "nodes",
    "branch",
    "eps",
    "delta",
)
NUMBERS = ("k", "temperature", "top_k", "top_p", "min_p", "max_new_tokens", "nodes", "branch", "eps", "delta")
MAX_LINK = 2_000  # characters of a prompt that a link may carry
MAX_PROMPT = 200_000  # characters; refused here, before anything waits for a model


@dataclass(frozen=True, slots=True)
class Settings:
    """One filled-in page."""

    prompt: str
    config: RunConfig
    pair: str

    def values(self) -> tuple:
        """In the order of FIELDS, as the controls hold them. Seeds are text: browsers round integers above 2^53."""
        c = self.config
        stop = "\n".join(text.replace("\n", "\\n").replace("\t", "\\t") for text in c.stop)
        numbers = (c.method, c.k, c.temperature, str(c.seed), c.top_k, c.top_p, c.min_p, c.max_new_tokens)
        tree = (c.verify, write_tree(c.tree), c.siblings, c.nodes, c.branch, c.eps, c.delta)
        return (self.prompt, *numbers, stop, c.chat, self.pair, *tree)


def read(values: Sequence[object]) -> Settings:
    """The settings in `values`, ordered as FIELDS. Raises SpecvizError for the first one that is wrong.

    A tree stays in its field when somebody is chosen to draft who cannot draft it, and does not count then.
    """
    given = dict(zip(FIELDS, values, strict=True))
    prompt, pair = given.pop("prompt"), given.pop("pair")
    for name, value in (("prompt", prompt), ("pair", pair)):
        if not isinstance(value, str):
            raise SpecvizError("ui.not_text", name=name, value=short(value))
    if len(prompt) > MAX_PROMPT:
        raise SpecvizError("errors.prompt_huge", size=len(prompt), limit=MAX_PROMPT)
    check_choice("method", given["method"], METHODS)
    given["seed"] = read_seed(given["seed"])
    given["stop"] = _stop(given["stop"])
    tree = given["tree"]
    if given["method"] in TREE_METHODS["tree"]:
        given["tree"] = tree_in(tree)
    elif isinstance(tree, str):
        given["tree"] = ()
    else:
        raise SpecvizError("ui.not_text", name="tree", value=short(tree))
    if given["method"] not in TREE_METHODS["nodes"]:
        given["nodes"] = 0
    return Settings(prompt, RunConfig(**given), pair)


def tree_in(text: object) -> Choices:
    """The tree in its field. Raises SpecvizError; what is no JSON at all is said without the parser's words."""
    if not isinstance(text, str):
        raise SpecvizError("ui.not_text", name="tree", value=short(text))
    try:
        return read_tree(text)
    except SpecvizError as error:
        if error.key != "errors.tree_json":
            raise
        raise SpecvizError("ui.tree_syntax") from error


def of_trace(trace: Trace, pair: str) -> Settings:
    """The settings that `trace` was made with; its what-ifs belong to the trace, not to the page."""
    return Settings(trace.prompt.text, replace(trace.config, overrides=()), pair)


def from_link(query: Mapping[str, str], base: Settings) -> Settings:
    """`base` with what a link says. Raises SpecvizError for a value that is wrong."""
    values = dict(zip(FIELDS, base.values(), strict=True))
    for name in FIELDS:
        if name not in query:
            continue
        text = query[name]
        if name == "chat":
            if text not in ("0", "1", "true", "false"):
                raise SpecvizError("errors.boolean", name=name, value=short(text))
            values[name] = text in ("1", "true")
        elif name in NUMBERS:
            values[name] = _number(name, text)
        elif name == "prompt" and len(text) > MAX_LINK:
            raise SpecvizError("ui.link_long", size=len(text), limit=MAX_LINK)
        else:
            values[name] = text
    return read([values[name] for name in FIELDS])


def _number(name: str, text: str) -> float:
    if not re.fullmatch(r"-?\d{1,19}(\.\d{0,19})?(e-?\d{1,2})?", text, re.ASCII | re.IGNORECASE):
        raise SpecvizError("errors.number", name=name, value=short(text))
    return int(text) if text.lstrip("-").isdigit() else float(text)


def read_seed(value: object) -> object:
    """A seed written as text; anything else is left to RunConfig."""
    if isinstance(value, str):
        if not re.fullmatch(r"\s*\d{1,30}\s*", value, re.ASCII):
            raise SpecvizError("errors.number", name="seed", value=short(value))
        return int(value)
    return value


def _stop(value: object) -> tuple[str, ...]:
    """Stop strings, one a line; `\\n` and `\\t` stand for a line break and a tab."""
    if value is None:
        return ()
    if not isinstance(value, str) or len(value) > 2_000:
        raise SpecvizError("errors.stop", value=short(value))
    lines = [line for line in value.split("\n") if line]
    return tuple(line.replace("\\n", "\n").replace("\\t", "\t") for line in lines)

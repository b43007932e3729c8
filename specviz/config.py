"""The settings of one run. They validate themselves, travel in the trace, and are all that a rerun needs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from specviz.choices import MAX_NODES, check_choices
from specviz.errors import SpecvizError

METHODS = ("draft", "skip", "eagle", "medusa", "lookup", "none")
LEARNED = ("eagle", "medusa")  # those that read the target's hidden states with weights of their own
TREE_METHODS = {"tree": ("draft", "skip", "medusa"), "nodes": ("eagle",)}  # the setting that makes each's draft a tree
VERIFIERS = ("lossless", "greedy", "block", "typical")
SIBLINGS = ("fixed", "iid", "distinct")
MAX_SEED = 2**63 - 1
AUTO, MOST = "auto", 8  # as k: as many drafts as pay, up to so many

# name -> (type, lowest, highest). The engine's own limits; a public page may set tighter ones.
LIMITS: dict[str, tuple[type, float, float]] = {
    "k": (int, 0, 32),
    "temperature": (float, 0.0, 100.0),
    "top_k": (int, 0, 1_000_000),
    "top_p": (float, 0.0, 1.0),
    "min_p": (float, 0.0, 1.0),
    "seed": (int, 0, MAX_SEED),
    "max_new_tokens": (int, 0, 100_000),
    "nodes": (int, 0, MAX_NODES),
    "branch": (int, 1, 64),
    "eps": (float, 0.0, 1.0),
    "delta": (float, 0.0, 1.0),
}


@dataclass(frozen=True, slots=True)
class Override:
    """A what-if: in round `round`, at draft position `position`, another draw `u` or another drafted `token`.

    The run stays real, but an overridden draw is no longer random, so the trace says so. In a tree `position` is the
    number of a node; what eagle grew below its old token goes, and the nodes behind it get lower numbers.
    """

    round: int
    position: int
    u: float | None = None
    token: int | None = None

    def __post_init__(self) -> None:
        limits = {
            "round": (int, 0, 10**9),
            "position": (int, 0, MAX_NODES),
            "u": (float, 0.0, math.nextafter(1.0, 0.0)),
            "token": (int, 0, 2**31),
        }
        for name, (kind, low, high) in limits.items():
            value = getattr(self, name)
            if value is not None or name in ("round", "position"):
                object.__setattr__(self, name, check_number(name, value, kind, low, high))


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How to decode. Probabilities p and q are both made with the same temperature, top_k, top_p and min_p.

    k               drafted tokens a round (num_speculative_tokens); 0 is plain decoding. With `nodes` the levels of the
                    tree; with `tree` it does not count, for the choices say how deep they go
    adapt           k is the most: each round of a chain drafts as many as have paid so far, by this run's own times
    temperature     0 is greedy: p and q become one-hot at their argmax
    top_k           keep the k likeliest tokens; 0 is off
    top_p           keep the smallest set of tokens whose probability reaches top_p; 1 is off
    min_p           keep tokens at least min_p times as likely as the likeliest; 0 is off
    seed            the draws of round r come from (seed, r) alone
    max_new_tokens  exactly so many, unless an end-of-text token, a stop string or the context's end comes first
    stop            stop strings, left out of the text
    chat            put the prompt into the target's chat template; False: the prompt is raw text
    ignore_eos      go on past end-of-text tokens (for benchmarks)
    tree            choices, paths of ranks: the shape of what medusa, draft and skip draft; () is a chain
    siblings        how draft and skip choose the children in it: fixed (the likeliest), iid or distinct (drawn)
    nodes, branch   eagle: a tree of so many nodes with so many children each, grown anew every round; 0 is a chain
    verify          lossless; greedy (the target's argmax at any temperature); block (lossless, chains only);
                    typical (Medusa's rule with eps and delta: lossy)
    """

    method: str = "draft"
    k: int = 5
    adapt: bool = False
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
    max_new_tokens: int = 64
    stop: tuple[str, ...] = ()
    chat: bool = True
    ignore_eos: bool = False
    tree: tuple[tuple[int, ...], ...] = ()
    siblings: str = "fixed"
    nodes: int = 0
    branch: int = 4
    verify: str = "lossless"
    eps: float = 0.09
    delta: float = 0.3
    overrides: tuple[Override, ...] = field(default=())

    def __post_init__(self) -> None:
        for name, known in (("method", METHODS), ("verify", VERIFIERS), ("siblings", SIBLINGS)):
            check_choice(name, getattr(self, name), known)
        for name, (kind, low, high) in LIMITS.items():
            object.__setattr__(self, name, check_number(name, getattr(self, name), kind, low, high))
        for name in ("adapt", "chat", "ignore_eos"):
            if not isinstance(getattr(self, name), bool):
                raise SpecvizError("errors.boolean", name=name, value=short(getattr(self, name)))
        if isinstance(self.stop, str) or not all(
            isinstance(s, str) and 0 < len(s) <= 200 and is_whole(s) for s in self.stop
        ):
            raise SpecvizError("errors.stop", value=short(self.stop))
        object.__setattr__(self, "stop", tuple(self.stop))
        object.__setattr__(self, "tree", check_choices(self.tree))
        for name, methods in TREE_METHODS.items():
            if getattr(self, name) and self.method not in methods:
                raise SpecvizError("errors.tree_method", name=name, method=self.method, methods=", ".join(methods))
        if self.verify == "block" and self.is_tree:
            raise SpecvizError("errors.block_tree")
        if self.adapt and self.is_tree:
            raise SpecvizError("errors.adapt_tree")
        object.__setattr__(self, "overrides", tuple(self.overrides))

    @property
    def is_tree(self) -> bool:
        """Whether drafts branch."""
        return bool(self.tree or self.nodes)

    @property
    def depth(self) -> int:
        """How far ahead a round drafts at most."""
        return max(map(len, self.tree), default=self.k)

    @property
    def lossless(self) -> bool:
        """Whether the output has the target's distribution at this temperature. Greedy has that of temperature 0.

        A what-if replaces a random draw, so then the output has not; at temperature 0 no draw decides about it.
        """
        if self.temperature == 0:
            return self.verify != "typical"
        return self.verify in ("lossless", "block") and not self.overrides


def check_number(name: str, value: object, kind: type, low: float, high: float) -> int | float:
    """`value` as `kind`, or a SpecvizError that says what is wrong with it. A bool or a string is not a number."""
    bounds = {side: f"{x:g}" if x < 1e6 else str(x) for side, x in (("low", low), ("high", high))}
    if value is None:  # a field that was emptied
        raise SpecvizError("errors.empty_number", name=name, **bounds)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SpecvizError("errors.number", name=name, value=short(value))
    if not low <= value <= high or (kind is int and value != int(value)):  # NaN and infinity fail the first
        key = "errors.range_int" if kind is int else "errors.range"
        raise SpecvizError(key, name=name, value=short(value), **bounds)
    return kind(value)


def check_choice(name: str, value: object, choices: Iterable[str]) -> Any:
    """`value`, or a SpecvizError that lists the choices."""
    known = tuple(choices)  # a value that cannot be hashed is not in it either
    if value not in known:
        raise SpecvizError("errors.choice", name=name, value=short(value), choices=", ".join(known))
    return value


def is_whole(text: str) -> bool:
    """Whether it holds no half of a character (a surrogate), which no tokenizer, page or file could take."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def short(value: object, limit: int = 40) -> str:
    """A value as it may stand in a sentence: never megabytes of it."""
    if isinstance(value, int) and abs(value) > 10**limit:  # Python refuses to write out integers of thousands of digits
        return f"{'-' if value < 0 else ''}10^{int(math.log10(abs(value)))}"
    text = str(value) if not isinstance(value, str) else repr(value[: limit + 1])
    return text if len(text) <= limit else text[:limit] + "…"


RUN_FIELDS = tuple(f.name for f in fields(RunConfig))

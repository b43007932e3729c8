"""A trace from outside: plain dicts and lists in, a checked `Trace` out.

Nothing is trusted. The first fault is named with its place, for example `rounds[3].draft.parents[1]`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from specviz.choices import MAX_NODES
from specviz.config import RUN_FIELDS, Override, RunConfig, is_whole, short
from specviz.errors import SpecvizError
from specviz.trace import (
    SCHEMA,
    Draft,
    Final,
    Finish,
    Kind,
    Models,
    Position,
    Prompt,
    Round,
    Rows,
    Status,
    Times,
    Token,
    Trace,
    Verdict,
    ids_of,
)
from specviz.trace_rules import contradiction

T = TypeVar("T")
Name = TypeVar("Name", bound=StrEnum)
MILLION = 1_000_000
MAX_NUMBER = 2**53


def trace_from_json(data: object) -> Trace:
    """Plain dicts and lists -> Trace, everything checked."""
    top = _dict(data, "trace")
    if top.get("schema") != SCHEMA:
        raise SpecvizError("errors.trace_schema", found=short(top.get("schema")), expected=SCHEMA)
    prompt = _dict(_get(top, "prompt"), "prompt")
    tokens = _ids(_get(prompt, "tokens"), "prompt.tokens")
    _ensure(len(tokens) > 0, "prompt.tokens")
    models = _dict(_get(top, "models"), "models")
    rounds, length = [], len(tokens)
    for i, item in enumerate(_list(_get(top, "rounds"), "rounds")):
        r = _round(_dict(item, f"rounds[{i}]"), f"rounds[{i}]")
        _ensure(r.index == i and r.start == length, f"rounds[{i}].start")
        length += len(r.emitted)
        rounds.append(r)
    finish, forked = top.get("finish"), top.get("forked_at")
    trace = Trace(
        config=_config(_dict(_get(top, "config"), "config")),
        models=Models(**{k: _text(_get(models, k), f"models.{k}") for k in Models.__dataclass_fields__}),
        prompt=Prompt(_text(_get(prompt, "text"), "prompt.text", 1_000_000), tokens),
        rounds=tuple(rounds),
        finish=None if finish is None else _choice(finish, Finish, "finish"),
        baseline_ms=_maybe(_milliseconds, top.get("baseline_ms"), "baseline_ms"),
        vocab=_vocab(_dict(_get(top, "vocab"), "vocab")),
        forked_at=None if forked is None else _integer(forked, "forked_at", 0, len(rounds)),
    )
    missing = ids_of(trace) - {v.id for v in trace.vocab}
    _ensure(not missing, f"vocab[{min(missing, default=0)}]")
    return trace


def _round(data: dict, path: str) -> Round:
    draft = _dict(_get(data, "draft"), f"{path}.draft")
    ids = _ids(_get(draft, "tokens"), f"{path}.draft.tokens")
    k = len(ids)
    _ensure(k <= MAX_NODES, f"{path}.draft.tokens")  # more than any run can make, and the shape costs their square
    parents = tuple(
        _integer(x, f"{path}.draft.parents[{i}]", -1, i - 1)
        for i, x in enumerate(_list(_get(draft, "parents"), f"{path}.draft.parents", k))
    )
    verdicts = tuple(
        _verdict(_dict(v, f"{path}.verdicts[{i}]"), f"{path}.verdicts[{i}]")
        for i, v in enumerate(_list(_get(data, "verdicts"), f"{path}.verdicts", k))
    )
    accepted = tuple(
        _integer(x, f"{path}.path[{i}]", 0, k - 1) for i, x in enumerate(_list(_get(data, "path"), f"{path}.path"))
    )
    with_children = {parent + 1 for parent in parents}  # the contexts where something was drafted
    times = _dict(_get(data, "times"), f"{path}.times")
    detail = data.get("detail")
    read = Round(
        index=_integer(_get(data, "index"), f"{path}.index"),
        start=_integer(_get(data, "start"), f"{path}.start"),
        draft=Draft(ids, parents, _numbers(_get(draft, "q"), f"{path}.draft.q", k)),
        verdicts=verdicts,
        path=accepted,
        final=_final(data.get("final"), f"{path}.final"),
        times=Times(
            _numbers(_get(times, "draft"), f"{path}.times.draft", high=MAX_NUMBER),
            **{n: _number(_get(times, n), f"{path}.times.{n}") for n in ("target", "verify", "commit", "prefill")},
        ),
        target_rows=_read_rows(_get(data, "target_rows"), f"{path}.target_rows"),
        draft_rows=_maybe(_read_rows, data.get("draft_rows"), f"{path}.draft_rows"),
        detail=None
        if detail is None
        else tuple(
            _read_position(_dict(d, f"{path}.detail[{i}]"), f"{path}.detail[{i}]", i in with_children)
            for i, d in enumerate(_list(detail, f"{path}.detail", k + 1))
        ),
    )
    wrong = contradiction(read)
    _ensure(wrong is None, f"{path}.{wrong}")
    return read


def _verdict(data: dict, path: str) -> Verdict:
    return Verdict(
        _choice(_get(data, "status"), Status, f"{path}.status"),
        _number(_get(data, "p"), f"{path}.p", 1.001),
        _number(_get(data, "q"), f"{path}.q", 1.001),
        None if data.get("u") is None else _number(data["u"], f"{path}.u", 1),
        None if data.get("limit") is None else _number(data["limit"], f"{path}.limit", 1.001),
    )


def _final(value: object, path: str) -> Final | None:
    if value is None:
        return None
    data = _dict(value, path)
    return Final(
        _integer(_get(data, "token"), f"{path}.token"),
        _choice(_get(data, "kind"), Kind, f"{path}.kind"),
        _number(_get(data, "prob"), f"{path}.prob", 1.001),
        _number(_get(data, "u"), f"{path}.u", 1),
    )


def _read_position(data: dict, path: str, drafted: bool) -> Position:
    ids = _ids(_get(data, "ids"), f"{path}.ids")
    rows = {}
    for name in ("p", "q", "r"):
        row = _list(_get(data, name), f"{path}.{name}")
        lengths = {"p": (len(ids),), "q": (len(ids) if drafted else 0,), "r": (0, len(ids))}
        _ensure(len(row) in lengths[name], f"{path}.{name}")
        rows[name] = tuple(_integer(x, f"{path}.{name}", 0, MILLION) / MILLION for x in row)
    entropy = _list(_get(data, "entropy"), f"{path}.entropy", 2)
    return Position(
        ids,
        **rows,
        p_entropy=_number(entropy[0], f"{path}.entropy"),
        q_entropy=_number(entropy[1], f"{path}.entropy") if drafted else None,
        alpha=_number(_get(data, "alpha"), f"{path}.alpha", 1) if drafted else None,
    )


def _config(data: dict) -> RunConfig:
    for name in data:
        _ensure(name in RUN_FIELDS, f"config.{short(name)}")
    values = dict(data)
    values["stop"] = tuple(_text(s, "config.stop") for s in _list(data.get("stop", []), "config.stop"))
    listed = enumerate(_list(data.get("overrides", []), "config.overrides"))
    overrides = [(i, _dict(o, f"config.overrides[{i}]")) for i, o in listed]
    for i, o in overrides:
        _ensure({"round", "position"} <= set(o) <= set(Override.__dataclass_fields__), f"config.overrides[{i}]")
    return RunConfig(**values | {"overrides": tuple(Override(**o) for _, o in overrides)})


def _vocab(data: dict) -> tuple[Token, ...]:
    out = []
    for key, value in data.items():
        path = f"vocab[{short(key)}]"
        _ensure(key.isascii() and key.isdigit() and len(key) < 10, path)
        if isinstance(value, str):
            out.append(Token(int(key), _text(value, path)))
        else:
            entry = _dict(value, path)
            if "special" in entry:
                out.append(Token(int(key), _text(entry["special"], path), special=True))
            else:
                try:
                    raw = bytes.fromhex(_text(_get(entry, "bytes", path), path))
                except ValueError as error:
                    raise SpecvizError("errors.trace_value", path=path) from error
                out.append(Token(int(key), "", bytes=raw))
    return tuple(sorted(out, key=lambda token: token.id))


def _read_rows(value: object, path: str) -> Rows:
    rows = Rows(*(_integer(x, path) for x in _list(value, path, 3)))
    _ensure(rows.before <= rows.full and rows.kept <= rows.full, path)
    return rows


def _get(data: dict, name: str, path: str = "") -> object:
    if name not in data:
        raise SpecvizError("errors.trace_missing", path=f"{path}.{name}".lstrip("."))
    return data[name]


def _maybe(read: Callable[[object, str], T], value: object, path: str) -> T | None:
    return None if value is None else read(value, path)


def _ensure(condition: bool, path: str) -> None:
    if not condition:
        raise SpecvizError("errors.trace_value", path=path)


def _dict(value: object, path: str) -> dict:
    _ensure(isinstance(value, dict), path)
    return value


def _list(value: object, path: str, length: int | None = None) -> list:
    _ensure(isinstance(value, list) and (length is None or len(value) == length), path)
    return value


def _text(value: object, path: str, limit: int = 10_000) -> str:
    whole = isinstance(value, str) and len(value) <= limit and is_whole(value)
    _ensure(whole, path)
    return value


def _number(value: object, path: str, high: float = MAX_NUMBER) -> float:
    _ensure(isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= high, path)
    return float(value)


def _milliseconds(value: object, path: str) -> float:
    _ensure(_number(value, path) >= 1e-3, path)  # a microsecond: what is below cannot have been measured
    return float(value)  # type: ignore[arg-type]


def _numbers(value: object, path: str, length: int | None = None, high: float = 1.001) -> tuple[float, ...]:
    return tuple(_number(x, f"{path}[{i}]", high) for i, x in enumerate(_list(value, path, length)))


def _integer(value: object, path: str, low: int = 0, high: int = MAX_NUMBER) -> int:
    _ensure(isinstance(value, int) and not isinstance(value, bool) and low <= value <= high, path)
    return value


def _ids(value: object, path: str) -> tuple[int, ...]:
    return tuple(_integer(x, f"{path}[{i}]") for i, x in enumerate(_list(value, path)))


def _choice(value: object, kind: type[Name], path: str) -> Name:
    _ensure(isinstance(value, str) and value in list(kind), path)
    return kind(value)

"""A report as text for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from specviz.i18n import t

NONE = "–"
COLUMNS = ("who", "settings", "precision", "tok_s", "quarters", "speedup", "predicted", "per_round", "overhead", "same")
SWEPT = ("value", "tok_s", "quarters", "speedup", "predicted", "per_round", "first_token")


def text_of(report: Mapping, lang: str) -> str:
    """The table of the race, what it means, and a table for each sweep."""
    setup = report["setup"]
    parts = []
    if report["contenders"]:
        rows = [_row(row, lang) for row in report["contenders"] if row["runs"]]
        parts.append(_table([t(lang, f"bench.column_{name}") for name in COLUMNS], rows))
        parts.append("\n".join(_sentences(report, lang)))
    for swept in report["sweeps"]:
        parts.append(_sweep(swept, lang))
    if setup["interrupted"]:
        parts.append(t(lang, "bench.interrupted"))
    parts.append(machine_of(setup, lang))
    return "\n\n".join(part for part in parts if part)


def machine_of(setup: Mapping, lang: str) -> str:
    """What it was measured on, in a sentence."""
    return t(
        lang,
        "bench.machine",
        device=setup["gpu"] or setup["processor"],
        cores=setup["cores"],
        threads=setup["threads"],
        torch=setup["torch"],
        transformers=setup["transformers"],
        target=setup["target"],
        dtype=setup["dtype"],
        prompts=len(setup["prompts"]),
        tokens=setup["max_new_tokens"],
        repeats=setup["repeats"],
        load=NONE if setup["load"] is None else setup["load"],
        load_after=NONE if setup["load_after"] is None else setup["load_after"],
    )


def settings_of(row: Mapping, lang: str) -> str:
    """ "k 4" or "8 nodes, 3 deep"."""
    named = [t(lang, f"bench.setting_{name}", value=value) for name, value in row["settings"].items()]
    return t(lang, "bench.comma").join(named)


def number(value: float | None, digits: int = 2) -> str:
    return NONE if value is None else f"{value:.{digits}f}"


def _row(row: Mapping, lang: str) -> list[str]:
    return [
        row["name"],
        settings_of(row, lang) or NONE,
        row["precision"],
        number(row["tok_s"], 1),
        _quarters(row),
        number(row["speedup"]),
        number(row.get("predicted_speedup")),
        number(row.get("tokens_per_round")),
        NONE if row.get("overhead_share") is None else f"{100 * row['overhead_share']:.1f} %",
        same_of(row, lang),
    ]


def same_of(row: Mapping, lang: str) -> str:
    """Whether a row's outputs are those of the others."""
    if row["same"] is None:
        return NONE
    return t(lang, "bench.same") if row["same"] else t(lang, "bench.parts", n=row["partings"])


def _quarters(row: Mapping) -> str:
    return NONE if row["tok_s_q1"] is None else f"{row['tok_s_q1']:.1f}–{row['tok_s_q3']:.1f}"


def _sentences(report: Mapping, lang: str) -> list[str]:
    lines = []
    for row in report["contenders"]:
        if row["reason"]:
            lines.append(t(lang, f"bench.{row['status']}", name=row["name"], reason=row["reason"]))
        lines += [f"{row['name']}: {said}" for said in (row.get("why"), *row.get("said", ())) if said]
    for key in ("vs_hf_generate", "vs_hf_assisted"):
        if report[key] is not None:
            lines.append(t(lang, f"bench.{key}", x=number(report[key])))
    if report["greedy_identical"]:
        lines.append(t(lang, "bench.all_agree", dtype=report["setup"]["dtype"]))
    elif report["partings"]:
        lines.append(report["notes"]["greedy_identical"])
    return lines


def _sweep(swept: Mapping, lang: str) -> str:
    names = [t(lang, f"bench.column_{name}") for name in SWEPT]
    parts = [t(lang, f"bench.over_{swept['over']}")]
    for lane in swept["lanes"]:
        rows = [
            [
                NONE if point["x"] is None else str(point["x"]),
                number(point["tok_s"], 1),
                _quarters(point),
                number(point["speedup"]),
                number(point["predicted_speedup"]),
                number(point["tokens_per_round"]),
                number(point["first_token_ms"], 0),
            ]
            for point in lane["points"]
        ]
        parts.append(lane["name"] + "\n" + _table(names, rows))
    for key, reason in swept["missing"].items():
        parts.append(t(lang, "bench.not_run", name=t(lang, f"bench.name_{key}"), reason=reason))
    return "\n\n".join([*parts, *swept["left_out"]])


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(width, column)) for column in zip(names, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)).rstrip()
        for row in (names, *rows)
    )


def width(text: str) -> int:
    """Columns of a terminal: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)

"""The report of a benchmark as one HTML file: charts, tables, no network. plotly.js is in it, which makes its size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from specviz.i18n import t
from specviz.views.bench_charts import memory, speed, speedup, split, swept

CONFIG = {"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}
NONE = "–"
STYLE = """
:root { color-scheme: light dark; --ink: #1d222b; --soft: #5b6370; --line: #8086924d; --ground: #fbfaf7; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceae4; --soft: #a8afba; --ground: #14171c; } }
body { margin: 0 auto; padding: 24px 16px 64px; max-width: 1080px; color: var(--ink); background: var(--ground);
  font: 16px/1.5 Inter, system-ui, "Noto Sans SC", sans-serif; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 8px; }
h2 { font-size: 20px; line-height: 1.3; margin: 40px 0 8px; }
p, li { max-width: 75ch; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: 14px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child, .words { text-align: left; }
.words { white-space: normal; min-width: 22ch; }
"""


def page(report: Mapping, machine: str, settings: Callable[[Mapping], str], lang: str) -> str:
    """The whole file. machine: what it was measured on, in words; settings: those of a row, in words.

    Whatever a model, a prompt or a library said is escaped.
    """

    def say(key: str, **values: object) -> str:
        return t(lang, f"bench.{key}", **values)

    title = say("page_title", target=report["setup"]["target"])
    parts = [f"<h1>{escape(title)}</h1>", _p(say("page_lead")), _p(machine, "soft")]
    if report["setup"]["interrupted"]:
        parts.append(_p(say("interrupted")))
    ran = [row for row in report["contenders"] if row["tok_s"] is not None]
    if ran:
        parts += [_h(say("page_speed")), _chart(speed(ran, lang))]
        drafted = [row for row in ran if row.get("predicted_speedup") is not None]
        if drafted:
            parts += [_h(say("page_speedup")), _chart(speedup(drafted, lang)), _p(say("page_formula"), "soft")]
            parts.append(_list([_formula(row, say) for row in drafted]))
        timed = [row for row in ran if row.get("split_ms")]
        if timed:
            parts += [_h(say("page_split")), _chart(split(timed, lang))]
        measured = [row for row in ran if row["extra_mb"] is not None]
        if measured:
            parts += [_h(say("page_memory")), _chart(memory(measured, lang))]
    for one in report["sweeps"]:
        if one["lanes"]:
            parts += [_h(say(f"over_{one['over']}")), _chart(swept(one, lang))]
        parts += [
            _p(say("not_run", name=say(f"name_{key}"), reason=reason), "soft") for key, reason in one["missing"].items()
        ]
        parts += [_p(said, "soft") for said in one["left_out"]]
    if report["contenders"]:
        parts += [_h(say("page_table")), _figures(report["contenders"], settings, say)]
        for key in ("vs_hf_generate", "vs_hf_assisted"):
            if report[key] is not None:
                parts.append(_p(say(key, x=f"{report[key]:.2f}")))
    if report["greedy_identical"]:
        parts.append(_p(say("all_agree", dtype=report["setup"]["dtype"])))
    if report["partings"]:
        parts += [_h(say("page_partings")), _p(report["notes"]["greedy_identical"]), _partings(report["partings"], say)]
    if report["setup"]["prompts"]:
        parts += [_h(say("page_prompts")), _list([escape(prompt) for prompt in report["setup"]["prompts"]], "ol")]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    script = f"<script>{get_plotlyjs()}</script>" if ran or report["sweeps"] else ""
    head = f"<head>{head}<style>{STYLE}</style>{script}</head>"
    return f'<!doctype html>\n<html lang="{lang}">{head}<body>{"".join(parts)}</body></html>'


def _chart(figure: go.Figure) -> str:
    """A figure of this page; plotly.js stands once in its head. Plotly itself escapes < and > in what it writes."""
    return figure.to_html(full_html=False, include_plotlyjs=False, config=CONFIG, default_width="100%")


def _formula(row: Mapping, say: Callable[..., str]) -> str:
    names = {
        "tokens": "tokens_per_round",
        "drafting": "drafting",
        "checking": "checking",
        "predicted": "predicted_speedup",
        "measured": "speedup",
    }
    values = {name: NONE if row[key] is None else f"{row[key]:.2f}" for name, key in names.items()}
    told = escape(say("page_formula_row", name=row["name"], **values))
    return told if not row.get("why") else f"{told}<br>{escape(row['why'])}"


def _figures(rows: Sequence[Mapping], settings: Callable[[Mapping], str], say: Callable[..., str]) -> str:
    columns = ("who", "settings", "precision", "tok_s", "quarters", "first_token", "speedup", "predicted", "per_round")
    columns = (*columns, "overhead", "memory", "same")
    body = []
    for row in rows:
        if not row["runs"]:
            reason = f'<td class="words" colspan="{len(columns) - 1}">{escape(row["reason"] or NONE)}</td>'
            body.append(f"<tr><td>{escape(row['name'])}</td>{reason}</tr>")
            continue
        share, same = row.get("overhead_share"), row["same"]
        cells = [
            row["name"],
            settings(row) or NONE,
            row["precision"],
            _number(row["tok_s"], 1),
            NONE if row["tok_s_q1"] is None else f"{row['tok_s_q1']:.1f}–{row['tok_s_q3']:.1f}",
            _number(row["first_token_ms"], 0),
            _number(row["speedup"]),
            _number(row.get("predicted_speedup")),
            _number(row.get("tokens_per_round")),
            NONE if share is None else f"{100 * share:.1f} %",
            NONE if row["extra_mb"] is None else f"{row['extra_mb']:.0f} MB",
            NONE if same is None else say("same") if same else say("parts", n=row["partings"]),
        ]
        body.append("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>")
    return _table([say(f"column_{name}") for name in columns], body)


def _partings(partings: Sequence[Mapping], say: Callable[..., str]) -> str:
    body = []
    for one in partings:
        where = say("parting_where", prompt=one["prompt"] + 1, position=one["position"] + 1)
        cells = [say(f"name_{one['key']}"), where, NONE if one["gap"] is None else f"{one['gap']:.3g}"]
        cells.append(say("parting_tie" if one["tie"] else "parting_no_tie"))
        body.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return _table([say("column_who"), "", say("parting_gap"), ""], body)


def _table(names: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _h(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def _p(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _list(items: Sequence[str], kind: str = "ul") -> str:
    """Items that are HTML already."""
    return f"<{kind}>{''.join(f'<li>{item}</li>' for item in items)}</{kind}>"


def _number(value: float | None, digits: int = 2) -> str:
    return NONE if value is None else f"{value:.{digits}f}"

"""The races of a session as a table, and a sweep in words. HTML; what a visitor wrote is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.i18n import t
from specviz.race_sweep import Sweep
from specviz.views.numbers import prob
from specviz.views.race_html import NONE, Entry, drafter, paragraphs
from specviz.views.tokens import markup, visible

PROMPT = 40  # characters of a prompt in the table


def table(entries: Sequence[Entry], shown: int | None, lang: str) -> str:
    """The races of the session, the newest first."""
    if not entries:
        return ""
    names = ("number", "prompt", "drafter", "temperature", "plain", "fast", "speedup", "predicted", "tokens", "alpha")
    names = (*names, "c", "checking")
    head = "".join(f"<th>{markup(t(lang, f'race.column_{name}'))}</th>" for name in names)
    body = "".join(_row(entry, entry.number == shown, lang) for entry in reversed(entries))
    return (
        '<div class="sv-p-scroll" tabindex="0"><table class="sv-p-table sv-races">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(entry: Entry, shown: bool, lang: str) -> str:
    r, config = entry.result, entry.race.fast.config
    text = visible(entry.race.fast.prompt.text, keep_spaces=True)
    o, c = r.outlook, r.costs
    cells = [
        f"{'▸ ' if shown else ''}{entry.number}",
        text if len(text) <= PROMPT else text[: PROMPT - 1] + "…",
        drafter(config, lang),
        f"{config.temperature:g}",
        f"{r.plain.tokens_per_second:.1f}",
        f"{r.fast.tokens_per_second:.1f}",
        f"{'▲' if r.speedup > 1 else '▼'} {r.speedup:.2f}×",
        f"{o.predicted:.2f}×",
        f"{r.fast.tokens / r.fast.rounds:.2f}",
        prob(o.alpha),
        NONE if c.c is None else f"{c.c:.2f}",
        f"{c.checking:.2f}",
    ]
    mark = ' class="sv-p-on" aria-current="true"' if shown else ""
    return f"<tr{mark}>" + "".join(f"<td>{markup(cell)}</td>" for cell in cells) + "</tr>"


def swept(sweep: Sweep, lang: str) -> str:
    """The sweep in a sentence."""
    best = sweep.best
    if best is None:
        return ""
    done, all_ = len(sweep.points), len(sweep.cells)
    words = {"k": best.k, "temperature": f"{best.temperature:g}", "x": f"{sweep.speedup(best.k, best.temperature):.2f}"}
    words["method"] = t(lang, f"ui.method_{sweep.method}")
    plain = "sweep_plain" if done == all_ else "sweep_plain_part"  # of what was not run there is nothing to say
    told = [t(lang, f"race.{'sweep_best' if best.k else plain}", **words)]
    if done < all_:
        told.append(t(lang, "race.sweep_part", done=done, all=all_))
    return paragraphs(told)


def progress(text: str, fraction: float) -> str:
    """How far something is."""
    return (
        f'<p class="sv-state sv-state-loading" role="status"><i class="sv-dot"></i><span>{markup(text)}</span>'
        f'<i class="sv-bar" style="--v:{fraction:.3f}"></i></p>'
    )

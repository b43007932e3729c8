"""A run as plain HTML, a table a round: to be printed, read without scripts, or read aloud."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.i18n import counted, t
from specviz.metrics import measure_trace
from specviz.trace import Round, Status, Trace
from specviz.views.numbers import prob, ratio
from specviz.views.tokens import LONGEST, markup, name, text_of, visible, vocabulary
from specviz.views.words import takes_choice

SIGNS = {Status.ACCEPTED: "✓", Status.REJECTED: "✗", Status.UNREACHED: "–"}  # a status is never told by colour alone
NONE = "–"


def rounds_list(trace: Trace, lang: str) -> str:
    """Prompt, text, figures, and every round."""
    vocab = vocabulary(trace)
    facts = [
        (t(lang, "handout.prompt"), markup(_lines(trace.prompt.text))),
        (t(lang, "handout.text"), markup(_lines(text_of(vocab, trace.generated)))),
        (t(lang, "handout.figures"), markup(_figures(trace, lang))),
    ]
    told = "".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in facts)
    return f"<dl>{told}</dl>" + "".join(_round(trace, r, lang) for r in trace.rounds)


def settings_line(trace: Trace, lang: str) -> str:
    """Which models ran with which settings, as plain text."""
    c, m = trace.config, trace.models
    size = t(lang, "handout.tree", n=len(c.tree) or c.nodes) if c.is_tree else f"k = {c.k}"
    parts = [m.target, t(lang, f"ui.method_{c.method}"), *([size] if c.method != "none" else [])]
    parts += [t(lang, "handout.temperature", value=f"{c.temperature:g}"), t(lang, "handout.seed", value=c.seed)]
    if not c.lossless:
        parts.append(t(lang, "views.lossy"))
    return " · ".join(visible(part, keep_spaces=True) for part in parts)


def _figures(trace: Trace, lang: str) -> str:
    m = measure_trace(trace)
    said = [counted(lang, "handout.rounds", m.rounds), counted(lang, "handout.tokens", m.emitted)]
    if m.drafted:
        said.append(t(lang, "handout.accepted", accepted=m.accepted, drafted=m.drafted))
    if m.tokens_per_round is not None:
        said.append(t(lang, "handout.length", length=f"{m.tokens_per_round:.2f}"))
    return " · ".join(said)


def _round(trace: Trace, r: Round, lang: str) -> str:
    vocab = vocabulary(trace)
    head = f"<h3>{t(lang, 'handout.round', n=r.index + 1)}</h3>"
    judged = [i for i, v in enumerate(r.verdicts) if r.draft.shape.is_chain or v.status is not Status.UNREACHED]
    left = len(r.verdicts) - len(judged)
    rows = [_node(trace, r, i, lang) for i in judged]
    if r.final is not None:
        kind = "chosen" if takes_choice(trace) else r.final.kind
        drawn = t(lang, f"views.kind_{kind}", p=prob(r.final.prob))
        rows.append(_row([_token(vocab, r.final.token), f'<td colspan="5">+ {markup(drawn)}</td>'], "final"))
    columns = [t(lang, f"handout.column_{key}") for key in ("token", "q", "p", "bar", "u", "verdict")]
    heads = "".join(f'<th scope="col">{markup(column)}</th>' for column in columns)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>" if rows else ""
    notes = [counted(lang, "handout.left", left)] if left else []
    if r.final is None:
        notes.append(t(lang, "handout.ended"))
    return f"<section>{head}{table}{''.join(f'<p>{markup(note)}</p>' for note in notes)}</section>"


def _node(trace: Trace, r: Round, i: int, lang: str) -> str:
    v = r.verdicts[i]
    by_choice = v.limit is None and takes_choice(trace)
    bar = NONE if by_choice else prob(v.limit) if v.limit is not None else ratio(min(v.p, v.q), v.q)
    told = f"{SIGNS[v.status]} {t(lang, f'stage.{v.status}')}"
    cells = [prob(v.q), prob(v.p), bar, prob(v.u), told]
    depth = 1 if r.draft.shape.is_chain else r.draft.shape.depths[i]
    return _row([_token(vocabulary(trace), r.draft.tokens[i], depth), *_cells(cells)], v.status)


def _token(vocab: dict, id: int, depth: int = 1) -> str:
    inset = "› " * (depth - 1)
    return f'<th scope="row">{inset}<bdi>{markup(name(vocab, id, LONGEST))}</bdi></th>'


def _cells(cells: Sequence[str]) -> list[str]:
    return [f"<td>{markup(cell)}</td>" for cell in cells]


def _row(cells: Sequence[str], kind: str) -> str:
    return f'<tr class="{kind}">{"".join(cells)}</tr>'


def _lines(text: str) -> str:
    """Running text: its lines stay, what cannot be seen is spelled out."""
    return "\n".join(visible(line, keep_spaces=True) for line in text.replace("\r\n", "\n").split("\n"))

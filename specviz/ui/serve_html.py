"""HTML of the Serve tab. Everything that a visitor, a server or a model wrote is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.i18n import t
from specviz.serving.compare import Counted, Measured
from specviz.serving.modern import Change
from specviz.serving.note import Note, texts
from specviz.trace import Trace
from specviz.views.tokens import markup, text_of, visible, vocabulary

LONGEST = 1_200  # characters of a text on show
STEPS = 64  # rounds, and positions, of which the accepted are listed


def code(text: str) -> str:
    """A block of code. The button beside it copies what is in it."""
    return f'<pre class="sv-code" tabindex="0"><code>{markup(text)}</code></pre>'


def notes(found: Sequence[Note], lang: str) -> str:
    """Sentences, each once; others may have a word in them."""
    items = "".join(f"<li>{markup(visible(text, keep_spaces=True))}</li>" for text in texts(found, lang))
    return f'<ul class="sv-list">{items}</ul>' if items else ""


def waiting(text: str, so_far: str = "") -> str:
    """What is being waited for, and the end of what is there."""
    shown = ("…" if len(so_far) > LONGEST else "") + visible(so_far[-LONGEST:], keep_spaces=True)
    written = f'<p class="sv-so-far"><bdi>{markup(shown)}</bdi></p>' if so_far else ""
    return f'<p role="status">{markup(text)}</p>{written}'


def changes(found: Sequence[Change], lang: str) -> str:
    """What was before, what is now, and why."""
    if not found:
        return ""

    def cell(text: str, empty: str) -> str:
        return f"<td><code>{markup(text)}</code></td>" if text else f"<td><em>{markup(t(lang, empty))}</em></td>"

    head = "".join(f"<th>{markup(t(lang, f'serve.change_{name}'))}</th>" for name in ("old", "new", "why"))
    rows = "".join(
        f"<tr>{cell(c.old, 'serve.change_added')}{cell(c.new, 'serve.change_gone')}"
        f"<td>{markup(c.why.text(lang))}</td></tr>"
        for c in found
    )
    return f'<table class="sv-p-table sv-changes"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def comparison(trace: Trace, ours: Counted, theirs: Measured, lang: str) -> str:
    """Our run and the server's answer, figure by figure."""
    names = (t(lang, "serve.side_ours"), t(lang, "serve.side_vllm", version=theirs.version or "").strip())
    sides = (ours, theirs.counted)
    written = (text_of(vocabulary(trace), trace.generated), theirs.text)
    rows = {
        "model": (
            f"{trace.models.target} ({trace.models.device}, {trace.models.dtype})",
            visible(theirs.model, keep_spaces=True),
        ),
        "tokens": [str(c.tokens) for c in sides],
        "speed": [_number(c.tokens_per_second) for c in sides],
        "first": [_first(c, lang) for c in sides],
        "drafts": ["–" if c.drafts is None else str(c.drafts) for c in sides],
        "accepted": ["–" if c.drafts is None else f"{c.accepted} / {c.draft_tokens}" for c in sides],
        "length": [_number(c.mean_acceptance_length) for c in sides],
        "position": [_positions(c) for c in sides],
        "steps": [_steps(c) for c in sides],
        "text": [visible(text[:LONGEST], keep_spaces=True) + ("…" if len(text) > LONGEST else "") for text in written],
    }
    body = "".join(
        f"<tr><th>{markup(t(lang, f'serve.row_{name}'))}</th>"
        + "".join(f"<td><bdi>{markup(value)}</bdi></td>" for value in values)
        + "</tr>"
        for name, values in rows.items()
    )
    head = f"<th></th>{''.join(f'<th>{markup(name)}</th>' for name in names)}"
    label = f'<p class="sv-label">{markup(t(lang, "serve.label_counts"))}</p>'
    table = f'<table class="sv-p-table sv-beside"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return label + table + notes(theirs.notes, lang)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _first(c: Counted, lang: str) -> str:
    return "–" if c.first_token_seconds is None else t(lang, "serve.ms", n=round(1000 * c.first_token_seconds))


def _positions(c: Counted) -> str:
    at = " · ".join(f"{x:.2f}" for x in c.per_position[:STEPS]) or "–"
    return at + (" …" if len(c.per_position) > STEPS else "")


def _steps(c: Counted) -> str:
    if c.steps is None:
        return "–"
    return " ".join(map(str, c.steps[:STEPS])) + (" …" if len(c.steps) > STEPS else "")

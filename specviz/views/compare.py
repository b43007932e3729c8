"""Two traces of one prompt side by side: from where on their texts differ."""

from __future__ import annotations

from specviz.i18n import counted, t
from specviz.metrics import measure
from specviz.parting import parts_at
from specviz.trace import Trace
from specviz.views.numbers import prob
from specviz.views.tokens import markup, name, text_of, visible, vocabulary

LONGEST = 1_200  # characters of a text on show


def comparison(one: Trace, fork: Trace, change: str, lang: str) -> str:
    """HTML: what was changed, from where on the texts differ, and both texts from the fork on.

    `change` is plain text. Everything that a model or a visitor wrote is escaped.
    """
    at = fork.forked_at or 0
    shorter = min(len(one.generated), len(fork.generated))
    found = parts_at(one.generated, fork.generated)
    common = shorter if found is None else found
    shared = sum(len(r.emitted) for r in fork.rounds[:at])
    if common == shorter:  # one text is the beginning of the other
        told = counted(lang, "views.same_text", common - shared)
    else:
        a, b = name(vocabulary(one), one.generated[common]), name(vocabulary(fork), fork.generated[common])
        told = t(lang, "views.differs", n=common + 1, m=common - shared + 1, a=a, b=b)
    lead = t(lang, "views.fork_lead", r=at + 1, change=change)
    rows = "".join(
        f'<div class="sv-two-row"><dt>{markup(t(lang, key))}<small>{markup(_figures(trace, at, lang))}</small></dt>'
        f"<dd>{_text(trace, shared, common)}</dd></div>"
        for key, trace in (("views.this_run", one), ("views.what_if", fork))
    )
    return f'<div class="sv-two"><p>{markup(lead)} {markup(told)}</p><dl>{rows}</dl></div>'


def _figures(trace: Trace, at: int, lang: str) -> str:
    m = measure(trace.rounds[at:])
    if not m.rounds:
        return t(lang, "views.no_rounds")
    rate = "–" if m.draft_acceptance_rate is None else f"{100 * m.draft_acceptance_rate:.0f} %"
    return t(
        lang, "views.figures", rounds=m.rounds, tokens=m.emitted, rate=rate, per=prob_or(m.tokens_per_round or 0.0)
    )


def prob_or(x: float) -> str:
    """A mean number of tokens: one that may pass 1."""
    return f"{x:.2f}" if x >= 1 else prob(x)


def _text(trace: Trace, start: int, same: int) -> str:
    """The generated text from token `start` on, what follows token `same` marked."""
    vocab, tokens = vocabulary(trace), trace.generated
    whole, head = text_of(vocab, tokens[start:]), text_of(vocab, tokens[start:same]).rstrip("\ufffd")
    cut = len(head) if whole.startswith(head) else 0
    shown, more = whole[:LONGEST], "…" if len(whole) > LONGEST else ""
    before, after = visible(shown[:cut], keep_spaces=True), visible(shown[cut:], keep_spaces=True)
    return f"<bdi>{markup(before)}</bdi><mark><bdi>{markup(after)}</bdi></mark>{more}"

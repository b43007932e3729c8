"""One draft, judged by several rules: what each accepts, and what it ends the round with. HTML."""

from __future__ import annotations

from collections.abc import Mapping

from specviz.i18n import joined, t
from specviz.trace import Round, Trace
from specviz.views.numbers import prob
from specviz.views.tokens import markup, name, vocabulary
from specviz.views.words import takes_choice


def verdicts_beside(traces: Mapping[str, Trace], round: int, lang: str) -> str:
    """A table with a row for each rule: {name of the rule: a trace whose round `round` was judged by it}."""
    heads = "".join(
        f"<th>{markup(t(lang, f'views.verifiers_{column}'))}</th>" for column in ("rule", "accepts", "ends", "emits")
    )
    body = "".join(_rule(rule, trace, trace.rounds[round], lang) for rule, trace in traces.items())
    rounds = [trace.rounds[round] for trace in traces.values()]
    if "block" not in traces and not rounds[0].draft.shape.is_chain:
        body += _not_for_trees(lang)
    same = len({r.draft for r in rounds}) == 1
    lead = t(lang, "views.verifiers_lead" if same else "views.verifiers_differ", r=round + 1)
    if len(rounds) > 1 and len({r.emitted for r in rounds}) == 1:
        greedy = all(trace.config.temperature == 0 for trace in traces.values())
        lead = joined(lang, lead, t(lang, "views.verifiers_agree_greedy" if greedy else "views.verifiers_agree"))
    return (
        f'<div class="sv-p-verifiers"><p>{markup(lead)}</p><div class="sv-p-scroll">'
        f'<table class="sv-p-table"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div></div>'
    )


def _rule(rule: str, trace: Trace, r: Round, lang: str) -> str:
    vocab = vocabulary(trace)
    lossless = trace.config.lossless
    mark = ("exact", "views.lossless") if lossless else ("lossy", "views.lossy")
    kind = f'<b>{markup(t(lang, f"views.rule_{rule}"))}</b> <em class="sv-p-{mark[0]}">{markup(t(lang, mark[1]))}</em>'
    note = "greedy_exact" if rule == "greedy" and lossless else rule
    about = _small(t(lang, f"views.rule_{note}_note", eps=trace.config.eps, delta=trace.config.delta))
    names = [markup(name(vocab, r.draft.tokens[i])) for i in r.path]
    accepted = "".join(f'<span class="sv-p-node sv-accepted"><i>✓</i><bdi>{text}</bdi></span>' for text in names)
    accepted = accepted or _small(t(lang, "views.accepts_none"))
    ends = _small(t(lang, "views.text_ended"))
    if r.final is not None:
        kind_key = "chosen" if takes_choice(trace) else r.final.kind
        told = t(lang, f"views.kind_{kind_key}", p=prob(r.final.prob))
        ends = f"<bdi>{markup(name(vocab, r.final.token))}</bdi> {_small(told)}"
    cells = (kind + about, accepted, ends, str(len(r.emitted)))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _not_for_trees(lang: str) -> str:
    rule = f"<b>{markup(t(lang, 'views.rule_block'))}</b>{_small(t(lang, 'views.rule_block_note'))}"
    why = _small(t(lang, "views.rule_block_trees"))
    return f'<tr><td>{rule}</td><td colspan="3">{why}</td></tr>'


def _small(text: str) -> str:
    return f"<small>{markup(text)}</small>"

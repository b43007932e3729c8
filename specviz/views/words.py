"""What happened at one position, as sentences with the numbers."""

from __future__ import annotations

from specviz.i18n import t
from specviz.trace import Status, Trace
from specviz.views.numbers import apart, prob, ratio
from specviz.views.tokens import name, vocabulary


def verdict(trace: Trace, round: int, position: int, lang: str) -> str:
    """One sentence, plain text: "p/q = 0.31, u = 0.72, so it is rejected"."""
    r = trace.rounds[round]
    vocab = vocabulary(trace)
    if position >= len(r.draft.tokens):
        if r.final is None or position != len(r.path):
            return t(lang, "views.no_draw")
        key = "views.bonus" if r.draft.tokens else "views.target"
        return t(lang, key, token=name(vocab, r.final.token), p=prob(r.final.prob))
    v = r.verdicts[position]
    values = {"token": name(vocab, r.draft.tokens[position]), "p": prob(v.p), "q": prob(v.q), "ratio": ratio(v.p, v.q)}
    if v.status is Status.UNREACHED or v.u is None:
        return t(lang, "views.unreached", **values)
    if v.p >= v.q:
        return t(lang, "views.sure", **values, u=prob(v.u))
    values["ratio"], values["u"] = apart(v.p / v.q, v.u)
    if v.status is Status.ACCEPTED:
        return t(lang, "views.accepted", **values)
    recovered = t(lang, "views.recovered", token=name(vocab, r.final.token), p=prob(r.final.prob)) if r.final else ""
    gap = "" if lang.startswith("zh") else " "
    return t(lang, "views.rejected", **values) + gap + recovered

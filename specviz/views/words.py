"""What happened at one position, as sentences with the numbers."""

from __future__ import annotations

from specviz.i18n import joined, t
from specviz.trace import Kind, Round, Status, Trace, Verdict
from specviz.views.numbers import apart, prob, ratio
from specviz.views.tokens import name, vocabulary
from specviz.views.tree_shape import context_of


def takes_choice(trace: Trace) -> bool:
    """Whether the target's likeliest token is taken and nothing is drawn: greedily, or at temperature 0."""
    return trace.config.verify == "greedy" or trace.config.temperature == 0


def verdict(trace: Trace, round: int, position: int, lang: str) -> str:
    """One or two sentences, plain text: "p/q = 0.31, u = 0.72, so it is rejected"."""
    r = trace.rounds[round]
    if position >= len(r.draft.tokens):
        return _final(trace, r, position, lang)
    v = r.verdicts[position]
    sentences = [_judged(trace, r, position, v, lang)]
    before = r.draft.shape.children[context_of(r, position)].index(position)
    if before and v.u is not None and v.limit is None and not takes_choice(trace):
        sentences.append(t(lang, "views.siblings_before", n=before))
    if v.status is Status.REJECTED and r.draft.shape.is_chain and r.final and position == len(r.path):
        sentences.append(_drawn_instead(trace, r, lang))
    return joined(lang, *sentences)


def _judged(trace: Trace, r: Round, position: int, v: Verdict, lang: str) -> str:
    token, chain = name(vocabulary(trace), r.draft.tokens[position]), r.draft.shape.is_chain
    values = {"token": token, "p": prob(v.p), "q": prob(r.draft.q[position]), "ratio": ratio(v.p, v.q)}
    if v.limit is not None and v.u is None:  # typical acceptance: a limit and no draw
        values["p"], values["limit"] = apart(v.p, v.limit)
        return t(lang, f"views.{v.status}_typical", **values)
    if v.limit is None and takes_choice(trace):
        return t(lang, f"views.{v.status}_chosen", **values)
    if v.status is Status.UNREACHED or v.u is None:
        return t(lang, "views.unreached" if chain else "views.unreached_tree", **values)
    if v.limit is not None:  # block verification
        values["limit"], values["u"] = apart(v.limit, v.u)
        passed = v.u < v.limit
        key = "block_passed" if passed else "block_carried" if v.status is Status.ACCEPTED else "block_failed"
        return t(lang, f"views.{key}", **values)
    if not chain and v.q == 1:  # a point mass
        values["p"], values["u"] = apart(v.p, v.u)
        return t(lang, f"views.{v.status}_fixed", **values)
    values["q"] = prob(v.q)
    if v.p >= v.q:
        return t(lang, "views.sure", **values, u=prob(v.u))
    values["ratio"], values["u"] = apart(v.p / v.q, v.u)
    return t(lang, f"views.{v.status}", **values)


def _final(trace: Trace, r: Round, position: int, lang: str) -> str:
    if r.final is None or (r.draft.shape.is_chain and position != len(r.path)):
        return t(lang, "views.no_draw_chosen" if takes_choice(trace) else "views.no_draw")
    if r.final.kind is Kind.RECOVERED:
        return _drawn_instead(trace, r, lang)
    if r.final.kind is Kind.BONUS:
        return _ended(trace, r, "bonus" if r.draft.shape.is_chain else "bonus_tree", lang)
    return _drawn_instead(trace, r, lang) if r.draft.tokens else _ended(trace, r, "target", lang)


def _drawn_instead(trace: Trace, r: Round, lang: str) -> str:
    assert r.final is not None
    if takes_choice(trace):
        return _ended(trace, r, "recovered", lang)
    return _ended(trace, r, "recovered" if r.final.kind is Kind.RECOVERED else "refused", lang)


def _ended(trace: Trace, r: Round, key: str, lang: str) -> str:
    """The round's last token, in the words of `key`."""
    assert r.final is not None
    drawn = {"token": name(vocabulary(trace), r.final.token), "p": prob(r.final.prob)}
    return t(lang, f"views.{key}{'_chosen' if takes_choice(trace) else ''}", **drawn)

"""What a check found, in words and tables. HTML; everything that a model or a visitor wrote is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from specviz.i18n import counted, joined, t
from specviz.proof import LEVEL, SURE, Greedy, Identity, Outcome, Report, Trial
from specviz.trace import Token
from specviz.views.numbers import prob
from specviz.views.proof_chart import words_of
from specviz.views.tokens import markup, name, visible

MARKS = {"caught": "✕", "passed": "✓", "running": "…", "stopped": "■", "untested": "–"}


def verdict(report: Report, lang: str) -> str:
    """The verdict in one line with its sign, and what it means."""
    trial = report.trial
    if trial is None:
        return _badge("running", t(lang, "proof.preparing"), "")
    kind = trial.verdict
    fault = report.fault
    key = {"caught": "caught_fault" if fault else "caught_right", "passed": "passed_fault" if fault else "passed_right"}
    if trial.cached is not None and not trial.cached.passed:
        key["caught"] = "caught_cache"
    values = {
        "n": trial.n,
        "of": trial.plan.runs,
        "fault": t(lang, f"proof.fault_{fault or 'none'}"),
        "seconds": f"{report.seconds:.1f}",
        "power": _power(trial, lang),
    }
    title = t(lang, f"proof.verdict_{key.get(kind, kind)}", **values)
    about = f"untested_{trial.untested}" if kind == "untested" else key.get(kind, kind)
    missed = kind == "passed" and fault is not None  # nothing to be glad of
    return _badge("untested" if missed else kind, title, t(lang, f"proof.about_{about}", **values))


def _power(trial: Trial, lang: str) -> str:
    known = [test.power for test in trial.tests if test.power is not None]
    return t(lang, "proof.power_unknown") if not known else _percent(known[0])


def details(report: Report, lang: str) -> str:
    """The tests with their figures and power, and the outputs that changed."""
    trial = report.trial
    if trial is None or not trial.n:
        return ""
    parts = [_accepted(trial, lang)]
    if trial.tests:
        parts += [_tests(trial, lang), _design(trial, lang)]
    if trial.cached is not None:
        parts.append(f"<p>{markup(t(lang, 'proof.cached', **asdict(trial.cached)))}</p>")
    if report.fault is not None and trial.compared:
        parts.append(_changes(report, trial, lang))
    return "".join(parts)


def identity(report: Report, lang: str) -> str:
    """Temperature 0: the tokens one by one, and where they part."""
    found = report.identity
    if found is None:
        return ""
    ties = [parting for parting in found.partings if parting.tie]
    kind = "caught" if not found.passed else "passed"
    key = "identity_parted" if not found.passed else "identity_ties" if ties else "identity_same"
    values = {"tokens": found.tokens, "prompts": len(found.outputs), "partings": len(found.partings)}
    title = counted(lang, f"proof.{key}", len(found.outputs), **values)
    more = t(lang, "proof.identity_blind") if report.fault is not None and found.passed else ""
    vocab = words_of(report, lang)
    return _badge(kind, title, more) + "".join(_output(one, vocab, lang) for one in found.outputs)


def lines(found: Identity | None, names: Mapping[int, Token], lang: str) -> list[str]:
    """The partings as plain sentences, for the command line as well."""
    return [_parting(one, names, lang) for one in (found.outputs if found else ()) if one.parting is not None]


def _output(one: Greedy, vocab: Mapping[int, Token], lang: str) -> str:
    at = len(one.plain) if one.parting is None else one.parting.position
    chips = "".join(
        f'<span class="sv-p-node sv-accepted" title="{markup(t(lang, "proof.gap", gap=_gap(gap)))}"><i>✓</i>'
        f"<bdi>{markup(name(vocab, token))}</bdi></span>"
        for token, gap in zip(one.plain[:at], one.gaps[:at], strict=True)
    )
    rest = ""
    if one.parting is not None:
        rest = _tail(one.plain[at:], vocab, "target", lang) + _tail(one.speculative[at:], vocab, "speculative", lang)
        rest += f"<p>{markup(_parting(one, vocab, lang))}</p>"
    elif one.gaps:
        closest = min(range(len(one.gaps)), key=one.gaps.__getitem__)
        where = {"n": closest + 1, "token": name(vocab, one.plain[closest]), "gap": _gap(one.gaps[closest])}
        rest = f"<p>{markup(t(lang, 'proof.closest', **where))}</p>"
    prompt = markup(visible(one.prompt, keep_spaces=True))
    return f'<div class="pf-output"><p><b>{prompt}</b></p><p class="pf-chips">{chips}</p>{rest}</div>'


def _tail(tokens: Iterable[int], vocab: Mapping[int, Token], who: str, lang: str) -> str:
    kind = "sv-unreached" if who == "target" else "sv-rejected"
    sign = "·" if who == "target" else "✕"
    chips = "".join(
        f'<span class="sv-p-node {kind}"><i>{sign}</i><bdi>{markup(name(vocab, token))}</bdi></span>'
        for token in tokens
    )
    return f'<p class="pf-chips"><small>{markup(t(lang, f"proof.tail_{who}"))}</small> {chips}</p>'


def _parting(one: Greedy, vocab: Mapping[int, Token], lang: str) -> str:
    parting = one.parting
    assert parting is not None
    if parting.gap is None:
        return t(lang, "proof.parting_length", n=parting.position + 1)
    values = {
        "n": parting.position + 1,
        "plain": name(vocab, parting.plain),
        "speculative": name(vocab, parting.speculative),
        "gap": _gap(parting.gap),
    }
    return t(lang, "proof.parting_tie" if parting.tie else "proof.parting", **values)


def _gap(gap: float) -> str:
    return f"{gap:.2g}"


def _accepted(trial: Trial, lang: str) -> str:
    drafted = trial.accepted + trial.rejected
    alpha = "" if trial.alpha is None else t(lang, "proof.alpha", alpha=prob(trial.alpha))
    told = t(lang, "proof.drafted", drafted=drafted, accepted=trial.accepted, rejected=trial.rejected)
    return f"<p>{markup(joined(lang, told, alpha))}</p>"


def _tests(trial: Trial, lang: str) -> str:
    heads = ("test", "chi2", "bins", "p_value", "tv", "found", "result")
    head = "".join(f"<th>{markup(t(lang, f'proof.head_{one}'))}</th>" for one in heads)
    body = "".join(_row(test, lang) for test in trial.tests)
    return (
        f'<div class="sv-p-scroll" tabindex="0" role="group" aria-label="{markup(t(lang, "proof.tests"))}">'
        f'<table class="sv-p-table pf-tests"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _row(test: Outcome, lang: str) -> str:
    fit = test.fit
    p_value = "–" if not fit.freedom else p_of(fit.p_value)
    if fit.impossible:
        p_value = t(lang, "proof.impossible", n=fit.impossible)
    more = "–" if test.detectable is None else f"≥ {test.detectable:.3f}"
    sign = "–" if fit.bins < 2 and not fit.impossible else MARKS["passed" if test.passed else "caught"]
    word = t(lang, "proof.result_none" if sign == "–" else f"proof.result_{'ok' if test.passed else 'bad'}")
    kind = "none" if sign == "–" else "exact" if test.passed else "bad"
    cells = (
        t(lang, f"proof.test_{test.name}"),
        f"{fit.chi2:.1f}",
        str(fit.bins),
        p_value,
        f"{fit.total_variation:.3f}",
        more,
    )
    plain = "".join(f"<td>{markup(cell)}</td>" for cell in cells)
    return f'<tr>{plain}<td><em class="pf-{kind}">{sign} {markup(word)}</em></td></tr>'


def p_of(value: float) -> str:
    """A p-value: small ones by their power of ten."""
    if value == 0:
        return "0"
    if value >= 0.001:
        return f"{value:.3f}"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits} × 10{''.join('⁻' if c == '-' else '⁰¹²³⁴⁵⁶⁷⁸⁹'[int(c)] for c in str(int(power)))}"


def _design(trial: Trial, lang: str) -> str:
    values = {
        "level": f"{LEVEL:g}",
        "share": p_of(trial.plan.share),
        "looks": len(trial.plan.looks),
        "tests": len(trial.tests),
        "at": " / ".join(map(str, trial.plan.looks)),
        "sure": _percent(SURE),
    }
    return f'<p class="pf-design"><small>{markup(t(lang, "proof.design", **values))}</small></p>'


def _changes(report: Report, trial: Trial, lang: str) -> str:
    vocab = words_of(report, lang)
    lead = t(lang, "proof.changed", changed=trial.changed, compared=trial.compared)
    if not trial.changes:
        return f"<p>{markup(lead)}</p>"

    def chips(tokens: tuple[int, ...], other: tuple[int, ...], wrong: bool) -> str:
        pairs = zip(tokens, other, strict=True)
        kinds = ["sv-unreached" if a == b else "sv-rejected" if wrong else "sv-accepted" for a, b in pairs]
        signs = {"sv-unreached": "=", "sv-rejected": "✕", "sv-accepted": "✓"}
        return "".join(
            f'<span class="sv-p-node {kind}"><i>{signs[kind]}</i><bdi>{markup(name(vocab, token))}</bdi></span>'
            for token, kind in zip(tokens, kinds, strict=True)
        )

    rows = "".join(
        f"<tr><td>{change.seed}</td><td>{chips(change.right, change.wrong, False)}</td>"
        f"<td>{chips(change.wrong, change.right, True)}</td></tr>"
        for change in trial.changes
    )
    heads = "".join(f"<th>{markup(t(lang, f'proof.change_{one}'))}</th>" for one in ("seed", "right", "wrong"))
    return (
        f'<p>{markup(lead)}</p><div class="sv-p-scroll" tabindex="0" role="group" aria-label="{markup(lead)}">'
        f'<table class="sv-p-table pf-changes"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _badge(kind: str, title: str, more: str) -> str:
    told = f"<p>{markup(more)}</p>" if more else ""
    return (
        f'<div class="pf-verdict pf-{kind}" role="status"><p><i aria-hidden="true">{MARKS[kind]}</i> '
        f"<b>{markup(title)}</b></p>{told}</div>"
    )


def _percent(x: float) -> str:
    return "> 99.9 %" if x > 0.999 else f"{100 * x:.0f} %" if x >= 0.01 else "< 1 %"

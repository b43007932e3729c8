"""Questions about one round: a gate, the leftover, the cache, the tree."""

from __future__ import annotations

from specviz.lessons.asked import Choice, Question, asked, round_of, token, verdicts
from specviz.lessons.moments import Moment
from specviz.theory import expected_tokens
from specviz.trace import Trace
from specviz.views.numbers import apart, prob


def round_size(trace: Trace, moment: Moment) -> Question:
    """How few and how many tokens a round can add."""
    r = round_of(trace, moment)
    k, accepted = len(r.draft.tokens), len(r.path)
    values = {
        "k": str(k),
        "accepted": str(accepted),
        "got": str(len(r.emitted)),
        "tok_last": token(trace, r.emitted[-1]),
    }
    sizes = {"none_all": (0, k), "one_all": (1, k), "one_more": (1, k + 1)}
    fewest, most = expected_tokens(0, k), expected_tokens(1, k)  # no draft is ever accepted; every one is
    right = next(key for key, size in sizes.items() if size == (fewest, most))
    return asked(values, [Choice(key, {"low": str(a), "high": str(b)}) for key, (a, b) in sizes.items()], right)


def gate(trace: Trace, moment: Moment) -> Question:
    """Whether a drafted token is accepted."""
    r, i = round_of(trace, moment), moment[1] or 0
    v = r.verdicts[i]
    assert v.u is not None
    ratio, u = apart(min(1, v.p / v.q), v.u)
    values = {"tok": token(trace, r.draft.tokens[i]), "p": prob(v.p), "q": prob(v.q), "ratio": ratio, "u": u}
    return asked(values, verdicts(), v.status.value, bar=min(1, v.p / v.q), u=v.u)


def residual(trace: Trace, moment: Moment) -> Question:
    """Which token the leftover max(0, p - q) favours."""
    r, i = round_of(trace, moment), moment[1] or 0
    assert r.detail is not None
    assert r.final is not None
    here = r.detail[i]
    rows = sorted(zip(here.ids, here.p, here.q, here.r, strict=True), key=lambda row: -row[3])
    drafted = r.draft.tokens[i]
    winner, second = rows[0], rows[1]
    refused = [row for row in rows if row[3] == 0 and row[0] != drafted]
    likely = max(refused, key=lambda row: row[1], default=None)
    shown = {row[0]: row for row in (winner, second, likely, next(x for x in rows if x[0] == drafted)) if row}
    ordered = sorted(shown.values(), key=lambda row: -max(row[1], row[2]))
    drawn = next((row for row in rows if row[0] == r.final.token), winner)
    assert here.alpha is not None
    p, missed = r.verdicts[i].p, 1 - here.alpha
    values = {
        "tok": token(trace, drafted),
        "p": prob(p),
        "missed": prob(missed),
        "often": prob(p + missed * p),  # if every rejection were followed by a draw from p
        "gap": prob(winner[1] - winner[2]),
        "q": prob(r.verdicts[i].q),
        "tok_win": token(trace, winner[0]),
        "p_win": prob(winner[1]),
        "q_win": prob(winner[2]),
        "r_win": prob(winner[3]),
        "tok_drawn": token(trace, drawn[0]),
        "r_drawn": prob(r.final.prob),
    }
    choices = [Choice("token", {"tok": token(trace, row[0]), "p": prob(row[1]), "q": prob(row[2])}) for row in ordered]
    return Question(values, tuple(choices), ordered.index(winner))


def exactness(trace: Trace, moment: Moment) -> Question:
    """How often a position ends in one token, over both ways that lead to it."""
    r, i = round_of(trace, moment), moment[1] or 0
    assert r.detail is not None
    assert r.final is not None
    here = r.detail[i]
    at = here.ids.index(r.final.token)
    p, q, rest = here.p[at], here.q[at], here.r[at]
    assert here.alpha is not None
    common, second = min(p, q), (1 - here.alpha) * rest
    total = common + second
    options = {"p": p, "q": q, "half": (p + q) / 2, "r": rest}
    right = min(options, key=lambda key: abs(options[key] - total))
    values = {
        "tok": token(trace, r.final.token),
        "tok_draft": token(trace, r.draft.tokens[i]),
        "p": prob(p),
        "q": prob(q),
        "r": prob(rest),
        "alpha": prob(here.alpha),
        "missed": prob(1 - here.alpha),
        "common": prob(common),
        "second": prob(second),
        "sum": prob(total),
    }
    rising = sorted(options, key=lambda key: options[key])
    return asked(values, [Choice(key, {"x": prob(options[key])}) for key in rising], right)


def rows_kept(trace: Trace, moment: Moment) -> Question:
    """How many of the rows written for the drafts stay in the target's cache."""
    r = round_of(trace, moment)
    k, kept = len(r.draft.tokens), r.target_rows.kept - r.start
    options = sorted({0, kept, kept + 1, k})
    values = {
        "k": str(k),
        "kept": str(kept),
        "gone": str(k - kept),
        "start": str(r.start),
        "tok_last": token(trace, r.emitted[-1]),
    }
    return Question(values, tuple(Choice("rows", {"n": str(n)}) for n in options), options.index(kept))


def ancestors(trace: Trace, moment: Moment) -> Question:
    """How many nodes of the tree one node sees."""
    r, node = round_of(trace, moment), moment[1] or 0
    size, depth = len(r.draft.tokens), r.draft.shape.depths[node]
    options = sorted({depth, node + 1, size})
    paths = len(set(range(size)) - set(r.draft.parents))
    values = {
        "tok": token(trace, r.draft.tokens[node]),
        "n": str(size),
        "depth": str(depth),
        "over": str(depth - 1),
        "paths": str(paths),
        "start": str(r.start),
        "accepted": str(len(r.path)),
    }
    return Question(values, tuple(Choice("nodes", {"n": str(n)}) for n in options), options.index(depth))


def typical(trace: Trace, moment: Moment) -> Question:
    """Whether typical acceptance keeps a token."""
    r, i = round_of(trace, moment), moment[1] or 0
    v = r.verdicts[i]
    assert v.limit is not None
    assert r.detail is not None
    p, limit = apart(v.p, v.limit)
    values = {
        "tok": token(trace, r.draft.tokens[i]),
        "p": p,
        "q": prob(v.q),
        "limit": limit,
        "chance": prob(min(1, v.p / v.q)),
        "refused": prob(1 - min(1, v.p / v.q)),
        "eps": f"{trace.config.eps:g}",
        "delta": f"{trace.config.delta:g}",
        "h": f"{r.detail[i].p_entropy:.2f}",
    }
    return asked(values, verdicts(), v.status.value)

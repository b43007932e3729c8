"""Traces of one round with a tree, made by hand: for what is drawn and listed of it, no model is needed."""

from specviz.choices import check_choices
from specviz.config import RunConfig
from specviz.trace import (
    Draft,
    Final,
    Kind,
    Models,
    Position,
    Prompt,
    Round,
    Rows,
    Status,
    Times,
    Token,
    Trace,
    Verdict,
)

NASTY = ('"><img src=x onerror=alert(1)>', "<b>x</b>", "%{y}${1+1}", "\u202e", "</script>", " ", "\n", "世界")
START = 5  # tokens of text before the round
FIRST = 100  # id of node 0's token


def tree_trace(choices, path=(), kind=Kind.RECOVERED, tried=(), method="skip", ids=6, **settings):
    """Node i drafts token FIRST + i. `path` is accepted, `tried` are refused; `ids` tokens are recorded a context."""
    choices = check_choices(choices)
    at = {choice: node for node, choice in enumerate(choices)}
    parents = tuple(at.get(choice[:-1], -1) for choice in choices)
    n = len(choices)
    verdicts = tuple(
        Verdict(Status.ACCEPTED, 0.5, 1.0, 0.25)
        if node in path
        else Verdict(Status.REJECTED, 0.125, 1.0, 0.75)
        if node in tried
        else Verdict(Status.UNREACHED, 0.0625, 1.0)
        for node in range(n)
    )
    end = path[-1] + 1 if path else 0
    detail = tuple(position(c, [i for i in range(n) if parents[i] == c - 1], ids, c == end) for c in range(n + 1))
    kept = START + len(path)
    one = Round(
        index=0,
        start=START,
        draft=Draft(tuple(FIRST + i for i in range(n)), parents, tuple(1 / (i + 2) for i in range(n))),
        verdicts=verdicts,
        path=tuple(path),
        final=Final(7, kind, 0.375, 0.5),
        times=Times((1.0,), 2.0, 0.1, 0.1),
        target_rows=Rows(START - 1, START + n, kept),
        draft_rows=Rows(START - 1, START + n - 1, kept),
        detail=detail,
    )
    vocab = [Token(i, f" word{i}") for i in (*range(12), *range(FIRST, FIRST + n), *range(10_000, 10_000 + ids))]
    vocab = [
        Token(v.id, NASTY[v.id - FIRST]) if FIRST <= v.id < FIRST + min(n, len(NASTY)) else v for v in vocab
    ]  # the first nodes spell what must not break out of its place
    config = RunConfig(method, tree=choices, temperature=1.0, **settings)
    models = Models("smollm2-135m", "target", "draft", "cpu", "float32")
    return Trace(config, models, Prompt("Hi", tuple(range(1, START + 1))), (one,), vocab=tuple(vocab))


def position(context, children, ids, ends):
    """What is recorded of a context: the drafted tokens and some others."""
    listed = tuple(FIRST + i for i in children) + tuple(range(10_000, 10_000 + max(0, ids - len(children))))
    p = tuple(round(0.9 / (i + 2) + 1e-6 * context, 6) for i in range(len(listed)))
    q = tuple(round(0.8 / (i + 2), 6) for i in range(len(listed))) if children else ()
    r = tuple(round(1 / len(listed), 6) for _ in listed) if ends and children else ()
    return Position(listed, p, q, r, 1.5, 1.25 if children else None, 0.75 if children else None)

"""Races made by hand: rounds whose times and acceptance are given, for what is computed from them."""

from specviz.config import RunConfig
from specviz.race import Race
from specviz.trace import Draft, Final, Kind, Models, Prompt, Round, Rows, Status, Times, Token, Trace, Verdict

START = 5


def round_of(k, accepted, draft=(), target=10.0, verify=0.0, commit=0.0, start=START, ends=False):
    """A chain of k drafts of which so many were accepted; `ends`: the text ended inside them."""
    verdicts = tuple(
        Verdict(Status.ACCEPTED if i < accepted else Status.REJECTED if i == accepted else Status.UNREACHED, 0.5, 0.5)
        for i in range(k)
    )
    kind = Kind.TARGET if not k else Kind.BONUS if accepted == k else Kind.RECOVERED
    return Round(
        index=0,
        start=start,
        draft=Draft(tuple(range(1, k + 1)), tuple(range(-1, k - 1)), (0.5,) * k),
        verdicts=verdicts,
        path=tuple(range(accepted)),
        final=None if ends else Final(50 + accepted, kind, 0.5, 0.5),
        times=Times(tuple(draft), target, verify, commit),
        target_rows=Rows(start - 1, start + k, start + accepted),
    )


def trace_of(rounds, **settings):
    """Rounds as a trace; its tokens are words by their numbers."""
    config = RunConfig(**{"method": "draft", "k": 4, "max_new_tokens": 64} | settings)
    vocab = tuple(Token(i, f" w{i}") for i in range(60))
    models = Models("smollm2-135m", "target", "draft", "cpu", "float32")
    return Trace(config, models, Prompt("Hi <b>", tuple(range(1, START + 1))), tuple(rounds), vocab=vocab)


def plain_of(n=10, target=10.0, rest=0.0):
    """Plain decoding: n steps of so many ms."""
    return trace_of([round_of(0, 0, target=target, verify=rest) for _ in range(n)], method="none")


def race_of(rounds, plain=None, **settings):
    """The rounds against plain steps of 10 ms."""
    return Race(plain or plain_of(), trace_of(rounds, **settings))

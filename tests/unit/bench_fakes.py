"""Contenders without a model, and rounds with chosen times, to test the bookkeeping of a benchmark."""

from specviz.bench.runs import Run
from specviz.trace import Draft, Final, Kind, Round, Rows, Status, Times, Verdict


class Scripted:
    """Writes the tokens 1, 2, 3, ... and notes its calls. fails_at: the call that raises (0 is the warm-up)."""

    pid = None

    def __init__(self, key, log, fails_at=None, error=None, precision="float32", shift=0):
        self.key, self.log, self.fails_at, self.error = key, log, fails_at, error or RuntimeError("worn out")
        self.precision, self.shift = precision, shift
        self.settings, self.calls, self.closed = {}, 0, False

    def open(self):
        self.log.append((self.key, "open"))

    def run(self, tokens, limit):
        self.calls += 1
        if self.fails_at == self.calls - 1:
            raise self.error
        self.log.append((self.key, tuple(tokens)))
        written = (*range(1, limit), limit + self.shift)
        return Run(written, seconds=2.0, first_seconds=1.0, first_tokens=1)

    def close(self):
        self.closed = True


def round_of(drafted, accepted, draft_ms, target_ms, verify_ms=0.5, commit_ms=0.25):
    """A chain of `drafted` tokens, the first `accepted` of them accepted."""
    status = [
        Status.ACCEPTED if i < accepted else Status.REJECTED if i == accepted else Status.UNREACHED
        for i in range(drafted)
    ]
    kind = Kind.TARGET if not drafted else Kind.BONUS if accepted == drafted else Kind.RECOVERED
    return Round(
        index=0,
        start=5,
        draft=Draft(tuple(range(drafted)), tuple(range(-1, drafted - 1)), (1.0,) * drafted),
        verdicts=tuple(Verdict(s, 1.0, 1.0) for s in status),
        path=tuple(range(accepted)),
        final=Final(9, kind, 1.0, 0.5),
        times=Times((draft_ms,) * drafted, target_ms, verify_ms, commit_ms),
        target_rows=Rows(4, 5 + drafted, 5 + accepted),
    )


def run_of(rounds, other_ms=0.25):
    """A run of these rounds; `other_ms` a round are nobody's."""
    walls = tuple(r.times.total + other_ms for r in rounds)
    tokens = tuple(token for r in rounds for token in r.emitted)
    return Run(tokens, sum(walls) / 1000, walls[0] / 1000, len(rounds[0].emitted), tuple(rounds), walls)

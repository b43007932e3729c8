"""The statistical check: many short runs, one per seed, counted and held against the exact law. The same for the engine
as it is and for one with a planted fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import replace

from specviz import coupling
from specviz.chisquare import cells, detectable, effect_of, fit, power
from specviz.engine.decode import Decoder
from specviz.models.faults import planted
from specviz.models.subject import DEEP, Subject
from specviz.proof import SURE, TESTS, Cell, Change, Outcome, Plan, Trial
from specviz.trace import Round

SHOWN = 10  # values of the first token
CHANGES = 8  # outputs that are shown
COMPARED = 60  # runs made again without the fault


def trial(subject: Subject, plan: Plan, fault: str | None = None) -> Iterator[Trial | None]:
    """Runs the plan: a longer Trial after every run, None after each round before. Ends early when a test fails."""
    seen: Counter[tuple[int, ...]] = Counter()
    bent = _bent(subject, fault)
    accepted = rejected = compared = changed = 0
    changes: tuple[Change, ...] = ()
    tests: tuple[Outcome, ...] = ()
    caught = None
    alpha = coupling.alpha(*_rows(subject)) if subject.q is not None else None
    law = subject.first
    for i in range(plan.runs):
        seed = (subject.config.seed + i) % 2**63
        written, first = yield from _write(subject, seed, fault)
        accepted += len(first.path)
        rejected += len(first.path) < len(first.draft.tokens)
        seen[written] += 1
        if fault is not None and i < COMPARED:
            right, _ = yield from _write(subject, seed, None)
            compared, changed = compared + 1, changed + (right != written)
            if right != written and len(changes) < CHANGES:
                changes = (*changes, Change(seed, right, written))
        n = i + 1
        if n in plan.looks:
            tests = tuple(_test(subject, plan, name, seen, bent, tests) for name in TESTS)
            caught = None if all(test.passed for test in tests) else n
        listed = _cells(law, seen, bent)
        over = caught is not None or n == plan.runs
        yield Trial(plan, fault, n, accepted, rejected, alpha, listed, tests, caught, compared, changed, changes, over)
        if over:
            return


def _write(subject: Subject, seed: int, fault: str | None) -> Generator[None, None, tuple[tuple[int, ...], Round]]:
    """The first tokens of one run, and its first round."""
    target, drafter, judge = planted(fault, subject.target(), subject.drafter())
    decoder = Decoder(target, drafter, subject.ids, replace(subject.config, seed=seed), judge=judge)
    start, first = len(subject.ids), decoder.step()
    while len(decoder.tokens) < start + DEEP:
        yield
        decoder.step()
    return tuple(decoder.tokens[start : start + DEEP]), first


def _test(
    subject: Subject,
    plan: Plan,
    name: str,
    seen: Counter[tuple[int, ...]],
    bent: dict[int, float] | None,
    before: tuple[Outcome, ...],
) -> Outcome:
    """One look at one test. Its power is that of the last look, with all runs of the plan."""
    law = subject.first if name == "first" else subject.law
    counts = _first(seen) if name == "first" else seen
    found = fit(counts, law, subject.noise)
    known = next((test for test in before if test.name == name), None)
    passed = found.p_value >= plan.share and (known is None or known.passed)
    if known is not None:
        return Outcome(name, found, passed, known.detectable, known.power)
    groups = cells(law, plan.runs)
    if len(groups) < 2:
        return Outcome(name, found, passed, None, None)
    asked = (plan.runs, len(groups) - 1, plan.share, subject.noise)
    chance = None
    if name == "first" and bent is not None:
        effect = effect_of(bent, law, groups)
        n, freedom, level, noise = asked
        chance = 1.0 if effect > 5 else power(effect, n, freedom, level, noise)
    return Outcome(name, found, passed, detectable(*asked, wanted=SURE) / 2, chance)


def _first(seen: Counter[tuple[int, ...]]) -> Counter[int]:
    out: Counter[int] = Counter()
    for (a, *_), count in seen.items():
        out[a] += count
    return out


def _rows(subject: Subject) -> tuple[list[float], list[float]]:
    """p and q of the first token over the same ids, in their order."""
    q = subject.q or {}
    ids = sorted(subject.p.keys() | q.keys())
    return [subject.p.get(x, 0.0) for x in ids], [q.get(x, 0.0) for x in ids]


def _bent(subject: Subject, fault: str | None) -> dict[int, float] | None:
    """The first token's exact law with the fault, where q is known; a stale row bends later tokens only."""
    if fault is None or subject.q is None or fault == "stale_row":
        return None
    ids = sorted(subject.p.keys() | subject.q.keys())
    return dict(zip(ids, coupling.law(*_rows(subject), fault), strict=True))


def _cells(law: dict[int, float], seen: Counter[tuple[int, ...]], bent: dict[int, float] | None) -> tuple[Cell, ...]:
    """The likeliest first tokens, by the law or by what came out."""
    counts = _first(seen)
    n = counts.total()
    ids = law.keys() | counts.keys() | (bent or {}).keys()
    weight = {x: max(law.get(x, 0.0), (bent or {}).get(x, 0.0), counts[x] / n) for x in ids}
    chosen = sorted(ids, key=lambda x: (-weight[x], x))[:SHOWN]
    return tuple(Cell(x, law.get(x, 0.0), counts[x], None if bent is None else bent.get(x, 0.0)) for x in chosen)

"""The statistical check: many short runs, one per seed, counted and held against the exact law. The same for the engine
as it is and for one with a planted fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import replace

from specviz import coupling
from specviz.chisquare import cells, detectable, fit, power_against
from specviz.engine.decode import Decoder
from specviz.engine.judgement import judge_draft
from specviz.models.faults import Parts, planted
from specviz.models.subject import DEEP, Subject
from specviz.proof import CACHED, SURE, TESTS, Cached, Cell, Change, Outcome, Plan, Trial
from specviz.trace import Round

SHOWN = 10  # values of the first token
CHANGES = 8  # outputs that are shown
COMPARED = 60  # runs made again without the fault


def trial(subject: Subject, plan: Plan, fault: str | None = None, cached_runs: int = CACHED) -> Iterator[Trial | None]:
    """Runs the plan: a longer Trial after every run, None after each round before. Ends early when a test fails."""
    seen: Counter[tuple[int, ...]] = Counter()
    bent = _bent(subject, fault)
    accepted = rejected = compared = changed = 0
    changes: tuple[Change, ...] = ()
    tests: tuple[Outcome, ...] = ()
    caught = None
    alpha = coupling.alpha(*_rows(subject)) if subject.q is not None else None
    shown, cached = _cells(subject.first, bent), None
    for i in range(plan.runs):
        seed = (subject.config.seed + i) % 2**63
        written, first = yield from _write(subject, _parts(subject, fault), seed)
        accepted += len(first.path)
        rejected += len(first.path) < len(first.draft.tokens)
        seen[written] += 1
        _count(shown, written[0], bent)
        if fault is None and subject.cached is not None and i < cached_runs:
            again, _ = yield from _write(subject, (*subject.cached(), judge_draft), seed)
            cached = Cached(i + 1, (cached.parted if cached else 0) + (again != written), subject.turned)
        if fault is not None and i < COMPARED:
            right, _ = yield from _write(subject, _parts(subject, None), seed)
            compared, changed = compared + 1, changed + (right != written)
            if right != written and len(changes) < CHANGES:
                changes = (*changes, Change(seed, right, written))
        n = i + 1
        parted = cached is not None and not cached.passed
        if n in plan.looks or parted:
            tests = tuple(_test(subject, plan, name, seen, bent, tests) for name in TESTS)
            caught = n if parted or not all(test.passed for test in tests) else None
        over = caught is not None or n == plan.runs
        yield Trial(
            plan=plan,
            fault=fault,
            n=n,
            outcomes=len(subject.law),
            accepted=accepted,
            rejected=rejected,
            alpha=alpha,
            cells=tuple(shown.values()),
            tests=tests,
            caught=caught,
            compared=compared,
            changed=changed,
            changes=changes,
            cached=cached,
            over=over,
        )
        if over:
            return


def _parts(subject: Subject, fault: str | None) -> Parts:
    return planted(fault, subject.target(), subject.drafter())


def _write(subject: Subject, parts: Parts, seed: int) -> Generator[None, None, tuple[tuple[int, ...], Round]]:
    """The first tokens of one run, and its first round."""
    target, drafter, judge = parts
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
    n, level, noise = plan.runs, plan.share, subject.noise
    freedom = len(cells(law, n)) - 1
    least = detectable(n, freedom, level, noise, wanted=SURE) / 2 if freedom else None
    chance = power_against(bent, law, n, level, noise) if name == "first" and bent is not None else None
    return Outcome(name, found, passed, least, chance)


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


def _cells(law: dict[int, float], bent: dict[int, float] | None) -> dict[int, Cell]:
    """The likeliest first tokens, by the law or by that of the fault; none was seen yet."""
    both = {x: max(law.get(x, 0.0), (bent or {}).get(x, 0.0)) for x in law.keys() | (bent or {}).keys()}
    chosen = sorted(both, key=lambda x: (-both[x], x))[:SHOWN]
    return {x: Cell(x, law.get(x, 0.0), 0, None if bent is None else bent.get(x, 0.0)) for x in chosen}


def _count(shown: dict[int, Cell], token: int, bent: dict[int, float] | None) -> None:
    """One more run began with this token. What no law foresees is shown as well, where there is room."""
    cell = shown.get(token)
    if cell is None and len(shown) < SHOWN:
        cell = Cell(token, 0.0, 0, None if bent is None else 0.0)
    if cell is not None:
        shown[token] = replace(cell, seen=cell.seen + 1)

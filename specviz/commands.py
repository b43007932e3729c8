"""What each command does. Options are declared in `cli.py`; models are loaded only once the settings are checked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from specviz import tuned
from specviz.chosen import EXACT, load, run_config
from specviz.config import RunConfig, check_number
from specviz.console import LANG, Bar, figure, out, say, whole_file, write
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.metrics import Metrics, measure_trace
from specviz.proof import FEWEST
from specviz.proof import MOST as MOST_RUNS
from specviz.trace import Trace
from specviz.trace_json import dump_trace

if TYPE_CHECKING:
    from specviz.models.check import Distribution

UNTESTED = 3  # exit status of a check that had nothing to test


def fetch(args: argparse.Namespace) -> int:
    from specviz.models.fetch import fetch_target

    with Bar(args) as bar:
        folder = fetch_target(progress=bar, verify=args.verify)
    out(args, {"folder": str(folder)}, say("fetched", folder=folder))
    return 0


def generate(args: argparse.Namespace) -> int:
    config = run_config(args)  # before torch is imported: a wrong value is told at once
    from specviz.models.run import advance, start, text_of, with_baseline

    pair = load(args)
    last = start(pair, args.prompt, config)
    if args.stats or args.json:
        last = with_baseline(pair, last)
    may_vanish = max(map(len, config.stop), default=1) - 1  # the beginning of a stop string is not shown yet
    shown = 0
    for last in advance(pair, last, detail=False):  # noqa: B020 each is the one before, grown
        if not args.json:
            text = text_of(pair, last)
            ready = len(text) if last.finish else max(shown, len(text) - may_vanish)
            print(text[shown:ready], end="", flush=True)
            shown = ready
    metrics = measure_trace(last)
    if args.json:
        out(args, report(last, text_of(pair, last), metrics), "")
        return 0
    print()
    told_if_lossy(config)
    if config.adapt and (undrafted := sum(not one.draft.tokens for one in last.rounds)):
        print(say("undrafted", count=undrafted, rounds=len(last.rounds)), file=sys.stderr)
    if args.stats:
        print(say("stats", **{name: figure(value) for name, value in asdict(metrics).items()}), file=sys.stderr)
    return 0


def trace(args: argparse.Namespace) -> int:
    config = run_config(args)  # before torch is imported: a wrong value is told at once
    from specviz.models.run import advance, start, with_baseline

    pair = load(args)
    done = with_baseline(pair, start(pair, args.prompt, config))
    for done in advance(pair, done, detail=not args.no_detail):  # noqa: B007, B020 each is the one before, grown
        pass
    text = dump_trace(done)
    if not args.json:
        told_if_lossy(config)
    if args.output is None:
        whole_file(text + "\n")
        return 0
    write(args.output, text + "\n")
    size = round(len(text) / 1024)
    figures = {"path": str(args.output), "rounds": len(done.rounds), "bytes": len(text.encode())}
    figures["lossless"] = config.lossless
    out(args, figures, say("traced", path=args.output, rounds=len(done.rounds), size=size))
    return 0


def check(args: argparse.Namespace) -> int:
    samples, config = check_number("samples", args.samples, int, FEWEST, MOST_RUNS), run_config(args)
    if config.verify not in EXACT:  # it would fail, and now and then pass by chance
        raise SpecvizError("errors.check_lossy", verify=config.verify, exact=", ".join(EXACT))
    from specviz.models.check import check_distribution, check_identity
    from specviz.models.faults import check_fault
    from specviz.views.proof_words import lines as parted

    check_fault(args.fault, config)
    pair = load(args)
    identity = check_identity(pair, config, fault=args.fault)
    with Bar(args) as bar:
        tell = lambda f: bar(f, "cli.sampling")  # noqa: E731
        spread = check_distribution(pair, config, samples=int(samples), progress=tell, fault=args.fault)
    verdict = "failed" if not identity.passed else spread.verdict
    figures = {"passed": verdict == "passed", "verdict": verdict, "fault": args.fault}
    figures["identity"] = asdict(replace(identity, outputs=()))
    figures["distribution"] = asdict(spread)
    tokens = {x: pair.codec.token(x) for one in identity.outputs for x in (*one.plain, *one.speculative)}
    lines = [
        say("passed" if identity.passed else "failed")
        + "  "
        + say("identity", tokens=identity.tokens, partings=len(identity.partings)),
        *(f"      {told}" for told in parted(identity, tokens, LANG)),
        say(spread.verdict) + "  " + say("distribution", n=spread.samples, temperature=f"{spread.temperature:g}"),
        *(f"      {told}" for told in told_of(spread)),
    ]
    if args.fault is not None:
        lines.append(t(LANG, "proof.cli_fault", fault=args.fault, changed=spread.changed, compared=spread.compared))
    out(args, figures | {"models": asdict(pair.models_info(config.method))}, "\n".join(lines))
    return {"passed": 0, "failed": 1, "untested": UNTESTED}[verdict]


def told_of(spread: Distribution) -> Iterator[str]:
    """The statistical check in sentences."""
    if spread.untested is not None:
        yield t(LANG, f"proof.about_untested_{spread.untested}", n=spread.samples)
    for test in spread.tests:
        name = t(LANG, f"proof.test_{test['name']}")
        if test["impossible"]:
            yield t(LANG, "proof.cli_impossible", name=name, n=test["impossible"])
        elif test["detectable"] is not None:
            values = {"chi2": f"{test['chi2']:.1f}", "bins": test["bins"], "p": f"{test['p_value']:.2g}"}
            yield t(LANG, "proof.cli_test", name=name, tv=f"{test['detectable']:.3f}", **values)
        elif spread.untested is None:
            yield t(LANG, "proof.cli_untested", name=name)
    if spread.cached is not None:
        yield t(LANG, "proof.cached", **spread.cached)


def pairs(args: argparse.Namespace) -> int:
    from specviz.models.presets import PRESETS

    rows = [asdict(p) | {"note": t(LANG, p.note)} for p in PRESETS.values()]
    lines = [
        f"{p.id:14} {p.target} + {p.draft or say('bundled_draft')}, {p.memory_gb:g} GB\n{'':14} {t(LANG, p.note)}"
        for p in PRESETS.values()
    ]
    out(args, {"pairs": rows}, "\n".join(lines))
    return 0


def tune(args: argparse.Namespace) -> int:
    if args.forget:
        tuned.forget()
        out(args, {"chosen": asdict(tuned.Tuned())}, say("tune_forgotten"))
        return 0
    from specviz.models.tune import choose, measure, table

    with Bar(args) as bar:
        timings = measure(lambda share: bar(share, "cli.tuning"))
    chosen = choose(timings)
    file = tuned.remember(chosen)
    lines = [
        say(
            "tune_timing",
            spin=timing.spin,
            threads=timing.threads,
            busy=say("tune_busy") if timing.busy else "",
            times=", ".join(f"{dtype} {timing.one[dtype]:.1f} / {timing.five[dtype]:.1f}" for dtype in timing.one),
        )
        for timing in timings
    ]
    threads = chosen.threads or say("tune_all_cores")
    lines.append(say("tune_chosen", spin=chosen.spin, threads=threads, dtype=chosen.dtype, path=file))
    out(args, {"chosen": asdict(chosen), "timings": table(timings), "path": str(file)}, "\n".join(lines))
    return 0


def bench(args: argparse.Namespace) -> int:
    from specviz.bench import start, table

    plan = start.plan_of(args)
    args.method = "none" if args.target is not None and args.draft is None else "draft"
    pair = load(args)
    with Bar(args) as bar:
        done = start.start(plan, pair, threads=args.threads, sweeps=args.sweep, progress=bar, lang=LANG)
    out(args, done, table.text_of(done, LANG))
    if args.page is not None:
        from specviz.views.bench_page import page

        html = page(done, table.machine_of(done["setup"], LANG), lambda row: table.settings_of(row, LANG), LANG)
        write(args.page, html)
        told = t(LANG, "bench.written", path=args.page, size=f"{len(html.encode()) / 1e6:.1f}")
        print(told, file=sys.stderr)
    return 130 if done["setup"]["interrupted"] else 0


def train(args: argparse.Namespace) -> int:
    from specviz.training.evaluations import record
    from specviz.training.memory import keep_freed_memory
    from specviz.training.start import start
    from specviz.training.summary import table

    keep_freed_memory()
    try:
        with Bar(args, logged=True) as bar:
            figures = start(args, bar)
    except KeyboardInterrupt:
        if args.what != "evaluate":
            print(t(LANG, "train.interrupted", path=args.out), file=sys.stderr)
        return 130
    lines = [table({args.method: figures}).rstrip()] if args.what == "evaluate" else []
    try:
        if args.what == "evaluate" and args.out is not None:
            record(args.out, args.method, figures)
        lines += [t(LANG, "train.done", path=args.out)] if args.out is not None else []
    finally:  # a full disk does not take the figures
        out(args, figures, "\n".join(lines))
    return 0


def told_if_lossy(config: RunConfig) -> None:
    """On stderr, where people read: this text is not the target's."""
    if not config.lossless:
        print(say("lossy", verify=config.verify, temperature=f"{config.temperature:g}"), file=sys.stderr)


def report(trace: Trace, text: str, metrics: Metrics) -> dict:
    """A finished run as one JSON object."""
    return {
        "text": text,
        "tokens": list(trace.generated),
        **asdict(metrics),
        "passes_saved": metrics.passes_saved,
        "finish": trace.finish,
        "lossless": trace.config.lossless,
        "prompt_tokens": len(trace.prompt.tokens),
        "config": asdict(trace.config),
        "models": asdict(trace.models),
    }

"""What each command does. Options are declared in `cli.py`; models are loaded only once the settings are checked."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from specviz import tuned
from specviz.config import AUTO, MOST, VERIFIERS, RunConfig, check_number
from specviz.errors import SpecvizError
from specviz.i18n import pick_language, t
from specviz.metrics import Metrics, measure_trace
from specviz.models import tree_presets
from specviz.proof import FEWEST
from specviz.proof import MOST as MOST_RUNS
from specviz.trace import Trace
from specviz.trace_json import dump_trace

if TYPE_CHECKING:
    from specviz.models.load import Pair

LANG = pick_language(os.environ.get("SPECVIZ_LANG"))
# rules that keep the target's distribution at any temperature
EXACT = tuple(rule for rule in VERIFIERS if RunConfig(verify=rule, temperature=1.0).lossless)
# methods that draft a tree: the method behind the name, and its tree where none is given
TREES: dict[str, tuple[str, dict]] = {
    "draft-tree": ("draft", {"tree": tree_presets.DEFAULT}),
    "skip-tree": ("skip", {"tree": tree_presets.DEFAULT}),
    "eagle-tree": ("eagle", {"nodes": 16}),
}


def say(key: str, **values: object) -> str:
    """A text of the command line in the user's language."""
    return t(LANG, f"cli.{key}", **values)


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
        print(json.dumps(report(last, text_of(pair, last), metrics), ensure_ascii=False))
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
        print(text)
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
    passed = identity.passed and spread.passed
    figures = {"passed": passed, "fault": args.fault, "identity": asdict(replace(identity, outputs=()))}
    figures["distribution"] = asdict(spread)
    tokens = {x: pair.codec.token(x) for one in identity.outputs for x in (*one.plain, *one.speculative)}
    lines = [
        verdict(identity.passed) + say("identity", tokens=identity.tokens, partings=len(identity.partings)),
        *(f"      {told}" for told in parted(identity, tokens, LANG)),
        verdict(spread.passed)
        + say(
            "distribution", n=spread.samples, bins=spread.bins, chi2=spread.chi2, p=spread.p_value, level=spread.level
        ),
        *(
            "      " + t(LANG, f"proof.cli_{test['name']}", p=p_found(test), tv=f"{test['detectable']:.3f}")
            for test in spread.tests
            if test["detectable"] is not None
        ),
    ]
    if args.fault is not None:
        lines.append(t(LANG, "proof.cli_fault", fault=args.fault, changed=spread.changed, compared=spread.compared))
    out(args, figures | {"models": asdict(pair.models_info(config.method))}, "\n".join(lines))
    return 0 if passed else 1


def p_found(test: dict) -> str:
    """The p-value of a test, and why it is 0 where it is."""
    impossible = test["impossible"]
    return t(LANG, "proof.impossible", n=impossible) if impossible else f"{test['p_value']:.2g}"


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
    from specviz.training.memory import keep_freed_memory
    from specviz.training.start import start

    keep_freed_memory()
    with Bar(args) as bar:
        figures = start(args, bar)
    out(args, figures, t(LANG, "train.done", path=args.out))
    return 0


def run_config(args: argparse.Namespace) -> RunConfig:
    """The run's settings; checked before any model is loaded."""
    names = ("temperature", "top_k", "top_p", "min_p", "seed", "max_new_tokens", "ignore_eos")
    shapes = ("siblings", "branch", "verify", "eps", "delta")
    method, default = TREES.get(args.method, (args.method, {}))
    tree = default.get("tree") if args.tree is None else args.tree
    return RunConfig(
        method=method,
        tree=() if tree is None else tree_presets.tree_of_option(tree),
        nodes=default.get("nodes", 0) if args.nodes is None else args.nodes,
        k=MOST if args.k == AUTO else args.k,
        adapt=args.k == AUTO,
        **{name: getattr(args, name) for name in (*names, *shapes)},
        stop=tuple(args.stop),
        chat=not args.raw,
    )


def told_if_lossy(config: RunConfig) -> None:
    """On stderr, where people read: this text is not the target's."""
    if not config.lossless:
        print(say("lossy", verify=config.verify, temperature=f"{config.temperature:g}"), file=sys.stderr)


def load(args: argparse.Namespace) -> Pair:
    """The pair that the options name, with a progress bar on stderr."""
    from specviz.models.load import load_pair

    with Bar(args) as bar:
        return load_pair(
            args.pair,
            target=args.target,
            draft=args.draft,
            method=TREES.get(args.method, (args.method,))[0],
            device=args.device,
            dtype=args.dtype,
            skip=args.skip_layers,
            heads=args.heads,
            progress=bar,
        )


class Bar:
    """A progress bar on stderr, where someone is watching it: called with (fraction, key, values)."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.on = sys.stderr.isatty() and not args.json
        self.bar = None

    def __enter__(self) -> Bar:
        return self

    def __call__(self, fraction: float, key: str, **values: object) -> None:
        if self.on:
            from tqdm import tqdm

            self.bar = self.bar or tqdm(total=100, bar_format="{desc} {bar} {percentage:3.0f} %", leave=False)
            self.bar.set_description_str(t(LANG, key, **values))
            self.bar.n = round(100 * fraction)
            self.bar.refresh()

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def out(args: argparse.Namespace, figures: dict, text: str) -> None:
    print(json.dumps(figures, ensure_ascii=False) if args.json else text)


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SpecvizError("errors.write", path=path, reason=error.strerror or error) from error


def verdict(passed: bool) -> str:
    return say("pass" if passed else "fail") + "  "


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


def figure(value: object) -> str:
    """A number for people."""
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)

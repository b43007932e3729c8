"""From the command line's options to a report."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from specviz.bench.agreement import Parting, compare, reference_of
from specviz.bench.line_up import Plan, check_only, choose_prompts, line_up, parse_change
from specviz.bench.machine import load, machine
from specviz.bench.names import VLLM
from specviz.bench.ours import Ours
from specviz.bench.race import race
from specviz.bench.report import report
from specviz.bench.runs import Entrant, Run
from specviz.bench.sweep import sweep
from specviz.config import check_number
from specviz.errors import SpecvizError
from specviz.models.pair import Pair
from specviz.models.prepared import Progress, no_progress
from specviz.serving.client import server_url

WAITED = 2  # prompts that are run once more on CUDA, to time the stages of a round


def plan_of(args: argparse.Namespace) -> Plan:
    """The options, checked. No model is needed for that."""
    changes: dict[str, dict[str, object]] = {}
    for text in args.set:
        method, name, value = parse_change(text)
        changes.setdefault(method, {})[name] = value
    plan = Plan(
        prompts=tuple(args.prompt) if args.prompt else choose_prompts(args.prompts),
        max_new_tokens=int(check_number("max_new_tokens", args.max_new_tokens, int, 2, 100_000)),
        repeats=int(check_number("repeats", args.repeats, int, 1, 1000)),
        k=int(check_number("k", args.k, int, 1, 32)),
        ignore_eos=args.ignore_eos,
        changes=changes,
        only=check_only([name for text in args.only for name in text.split(",")]),
        gguf=None if args.gguf is None else Path(args.gguf).expanduser(),
        vllm_url=None if args.vllm_url is None else server_url(args.vllm_url),
    )
    if VLLM in plan.only and plan.vllm_url is None:
        raise SpecvizError("serve.url_missing")
    for method in changes:
        plan.config(method)
    if args.threads is not None:
        check_number("threads", args.threads, int, 1, 1024)
    return plan


def start(
    plan: Plan,
    pair: Pair,
    *,
    threads: int | None = None,
    sweeps: Sequence[str] = (),
    progress: Progress = no_progress,
    lang: str = "en",
) -> dict:
    """Race, comparison of outputs, sweeps: the report. Ctrl-C ends the measuring, not the report."""
    if threads is not None:
        torch.set_num_threads(threads)
    setup = machine(pair) | {
        "prompts": list(plan.prompts),
        "max_new_tokens": plan.max_new_tokens,
        "repeats": plan.repeats,
        "k": plan.k,
    }
    lanes: list[Entrant] = []
    partings: list[Parting] = []
    reference: Entrant | None = None
    waited: dict[str, dict[tuple[int, int], Run]] = {}
    interrupted = False
    if plan.prompts:
        prompts = [pair.codec.encode(prompt) for prompt in plan.prompts]
        cuda = pair.device.type == "cuda"
        contenders = line_up(plan, pair, max(map(len, prompts)) + plan.max_new_tokens, progress)
        lanes, interrupted = race(contenders, prompts, plan.max_new_tokens, plan.repeats, progress, lang, cuda)
        if cuda and not interrupted:
            waited = _waited(lanes, prompts, plan.max_new_tokens)
        reference = reference_of(lanes, str(setup["dtype"]))
        if reference is not None:
            partings = compare(pair, lanes, prompts, reference)
    setup["load_after"] = load()
    done = report(lanes, partings, reference.key if reference else None, setup, lang, waited)
    for kind in sweeps:
        if interrupted:
            break
        done["sweeps"].append(sweep(kind, plan, pair, progress, lang))
        interrupted = done["sweeps"][-1]["interrupted"]
    done["setup"]["interrupted"] = interrupted
    return done


def _waited(lanes: Sequence[Entrant], prompts: Sequence[Sequence[int]], limit: int) -> dict:
    """The first prompts again, waiting for the device after each stage; only so the stages' times mean something."""
    found: dict[str, dict[tuple[int, int], Run]] = {}
    for lane in lanes:
        if not isinstance(lane.contender, Ours) or lane.reason is not None:
            continue
        for i, prompt in enumerate(prompts[:WAITED]):
            found.setdefault(lane.key, {})[0, i] = lane.contender.run(prompt, limit, waits=True)
    return found

"""From the command line's options to a corpus, a training or an evaluation."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch

from specviz.errors import SpecvizError
from specviz.models.device import DTYPES, choose_device
from specviz.models.load import load_pair
from specviz.models.pair import Pair
from specviz.models.prepared import Progress
from specviz.training.evaluate import draft_model, drafter_maker, evaluate
from specviz.training.labels import HIDDEN, TAPS
from specviz.training.loop import REPORT, Plan, Task, train
from specviz.training.report import write_report
from specviz.training.shards import shards

# ids that each puts out: its LM head is its dearest part, and what is not among them is never accepted
VOCABULARY = {"draft": 16384, "eagle": 10240, "medusa": 8192}
LAYERS = "0,1,29"
WANTS = {"draft": (), "eagle": (HIDDEN, TAPS), "medusa": (HIDDEN,)}
SHARDS = "shards.json"


def start(args: argparse.Namespace, progress: Progress) -> dict:
    """Does what `args.what` says; returns the report that it has also written."""
    return {"corpus": corpus, "evaluate": judge}.get(args.what, teach)(args, progress)


def corpus(args: argparse.Namespace, progress: Progress) -> dict:
    """The target writes its own text, or a draft does: a draft that learns from both also learns from its mistakes."""
    from specviz.training.corpus import CorpusPlan, Writer

    pair = target_of(args, progress)
    context = getattr(pair.target.config.get_text_config(decoder=True), "max_position_embeddings", None)
    width = args.width if context is None else min(context, args.width)
    plan = CorpusPlan(tokens=args.tokens, seed=args.seed, rows=args.rows, width=width)
    model, draft = pair.target, None
    if args.weights:
        weights = needed(args, "weights")
        model, draft = draft_model(pair, weights), weights.resolve().name
    return Writer(model, pair.codec.tokenizer, pair.eos, needed(args, "out"), plan, draft).run(progress)


def teach(args: argparse.Namespace, progress: Progress) -> dict:
    """Trains a drafter on a corpus, which is first read by the target itself. Shards of a begun run stay the same."""
    from specviz.training.data import Data
    from specviz.training.teacher import label

    folder, out = needed(args, "corpus"), needed(args, "out")
    pair = target_of(args, progress)
    paths = chosen_shards(folder, out)
    label(pair.target, paths, progress)
    data = Data(paths, args.seed, args.batch, wants=WANTS[args.what])
    ids, share = data.frequent(args.vocabulary or VOCABULARY[args.what], always=pair.eos)
    facts = {"target": pair.target_name, "shards": len(paths), "vocabulary": len(ids)}
    facts |= {"begun_with": str(args.weights) if args.weights else None}
    facts |= {"layers": args.layers or LAYERS} if args.what == "draft" else {}
    task = make_task(args, pair, ids)
    low = pair.dtype == torch.bfloat16 or pair.device.type == "cuda"
    plan = Plan(steps=args.steps, batch=args.batch, rate=args.rate, seed=args.seed, low=low, tv=args.tv)
    task.module.to(pair.device)
    task.head.to(pair.device)
    done = train(task, data, plan, out, progress, facts | {"vocabulary_share": round(share, 4)})
    if args.what == "medusa":
        from specviz.training.accuracy import write_trees

        done |= write_trees(task.module, data, out)
    make = drafter_maker(pair, args.what, out)
    done["acceptance"] = evaluate(pair, make, k=args.k, seed=args.seed, each=args.prompts or 2, progress=progress)
    write_report(out / REPORT, done)
    return done


def make_task(args: argparse.Namespace, pair: Pair, ids: torch.Tensor) -> Task:
    weights = Path(args.weights).expanduser() if args.weights else None
    if args.what == "draft":
        from specviz.training.draft import DraftTask

        return DraftTask(pair.target, pair.target_name, layer_list(args.layers or LAYERS), ids, weights)
    if args.what == "eagle":
        from specviz.training.eagle import EagleTask

        return EagleTask(pair.target, pair.target_name, ids, weights)
    from specviz.training.medusa import MedusaTask

    return MedusaTask(pair.target, pair.target_name, ids, weights)


def judge(args: argparse.Namespace, progress: Progress) -> dict:
    """Acceptance on the held-out prompts, with the engine that the app runs; in a file beside others'."""
    pair = target_of(args, progress)
    weights = None if args.weights is None else needed(args, "weights")
    make = drafter_maker(pair, args.method, weights)
    figures = evaluate(pair, make, k=args.k, seed=args.seed, each=args.prompts, progress=progress)
    figures |= {"method": args.method, "weights": weights.name if weights else "bundled", "target": pair.target_name}
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        before = json.loads(args.out.read_text(encoding="utf-8")) if args.out.is_file() else {}
        write_report(args.out, before | {args.method: figures})
    return figures


def target_of(args: argparse.Namespace, progress: Progress) -> Pair:
    """The target, with its own drafters only where those are judged.

    Text is written and learned from in the faster precision, judged in fp32.
    """
    dtype = args.dtype
    if dtype == "auto" and args.what != "evaluate":
        dtype = faster_dtype(choose_device(args.device))
    method = args.method if args.what == "evaluate" and args.weights is None else "none"
    return load_pair(target=args.target, method=method, device=args.device, dtype=dtype, progress=progress)


def chosen_shards(folder: Path, out: Path) -> list[Path]:
    """The shards that a run began with, for a corpus may grow while it trains."""
    note = out / SHARDS
    if note.is_file():
        return [folder / name for name in json.loads(note.read_text(encoding="utf-8"))]
    paths = shards(folder)
    if not paths:
        raise SpecvizError("train.no_corpus", path=str(folder))
    out.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps([path.name for path in paths]), encoding="utf-8")
    return paths


def layer_list(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise SpecvizError("errors.number", name="layers", value=text[:40]) from error


def needed(args: argparse.Namespace, option: str) -> Path:
    value = getattr(args, option)
    if value is None:
        raise SpecvizError("train.missing", option=option)
    return Path(value).expanduser()


def faster_dtype(device: torch.device, rows: int = 192, size: int = 1024) -> str:
    """bf16 or fp32, by a measurement of 20 ms: which is faster differs between processors, and not by little."""
    taken = {}
    for name in ("bfloat16", "float32"):
        x = torch.ones(rows, size, dtype=DTYPES[name], device=device)
        w = torch.ones(size, size, dtype=DTYPES[name], device=device)
        laps = []
        for _ in range(5):
            begin = time.perf_counter()
            (x @ w).sum().item()  # .item() waits for an accelerator
            laps.append(time.perf_counter() - begin)
        taken[name] = min(laps)
    return min(taken, key=taken.get)

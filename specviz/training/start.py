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
from specviz.training.data import Data
from specviz.training.evaluate import draft_model, drafter_maker, evaluate
from specviz.training.evaluations import check
from specviz.training.files import alone, explained, reading
from specviz.training.labels import HIDDEN, TAPS
from specviz.training.loop import REPORT, Plan, Task, train
from specviz.training.options import check_numbers, check_weights, layer_list, needed
from specviz.training.report import write_report
from specviz.training.shards import replace, shards
from specviz.training.target import check_layers, name_of
from specviz.training.teacher import label

# ids that each puts out: its LM head is its dearest part, and what is not among them is never accepted
VOCABULARY = {"draft": 16384, "eagle": 10240, "medusa": 8192}
LAYERS = "0,1,29"
WANTS = {"draft": (), "eagle": (HIDDEN, TAPS), "medusa": (HIDDEN,)}
SHARDS = "shards.json"


def start(args: argparse.Namespace, progress: Progress) -> dict:
    """Does what `args.what` says; returns the report, which it has also written unless it is an evaluation.

    What is foreseen is a SpecvizError.
    """
    check_numbers(args)
    with explained():
        check_weights(args)
        if args.what == "evaluate":
            return judge(args, progress)
        with alone(needed(args, "out")):
            return (corpus if args.what == "corpus" else teach)(args, progress)


def corpus(args: argparse.Namespace, progress: Progress) -> dict:
    """The target writes its own text, or a draft does: a draft that learns from both also learns from its mistakes."""
    from specviz.training.corpus import CorpusPlan, Writer, check_writer

    out = needed(args, "out")
    pair = target_of(args, progress)
    check_writer(out, names_of(pair))
    context = getattr(pair.target.config.get_text_config(decoder=True), "max_position_embeddings", None)
    width = args.width if context is None else min(context, args.width)
    plan = CorpusPlan(tokens=args.tokens, seed=args.seed, rows=args.rows, width=width)
    model, draft = pair.target, None
    if args.weights is not None:
        weights = needed(args, "weights")
        model, draft = draft_model(pair, weights), weights.resolve().name
    return Writer(model, pair.codec.tokenizer, pair.eos, out, plan, draft).run(progress)


def teach(args: argparse.Namespace, progress: Progress) -> dict:
    """Trains a drafter on a corpus, which is first read by the target itself. Shards of a begun run stay the same."""
    from specviz.training.corpus import check_writer

    folder, out = needed(args, "corpus"), needed(args, "out")
    paths = chosen_shards(folder, out)
    layers = layer_list(args.layers or LAYERS) if args.what == "draft" else None
    pair = target_of(args, progress)
    if layers is not None:
        check_layers(pair.target, layers)
    check_writer(folder, names_of(pair))
    data = labelled(pair, paths, args.seed, args.batch, WANTS[args.what], progress)
    ids, share = data.frequent(args.vocabulary or VOCABULARY[args.what], always=pair.eos)
    facts = {"target": pair.target_name, "shards": len(paths), "vocabulary": len(ids)}
    facts |= {"begun_with": None if args.weights is None else str(Path(args.weights))}
    facts |= {"layers": args.layers or LAYERS} if args.what == "draft" else {}
    task = make_task(args, pair, ids)
    replace(out / SHARDS, json.dumps([path.name for path in paths]).encode())
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


def labelled(pair: Pair, paths: list[Path], seed: int, batch: int, wants: tuple[str, ...], progress: Progress) -> Data:
    """The corpus, read by the target. Raises SpecvizError where it is another target's or too small for `batch`."""
    label(pair.target, paths, progress)
    data = Data(paths, seed, batch, wants)
    size, depth = pair.target.get_output_embeddings().weight.shape
    largest = max(int(place.text.tokens.max()) for place in data.places)
    if largest >= size:
        raise SpecvizError("train.corpus_vocabulary", token=largest, size=size, target=pair.target_name)
    for labels in {place.labels.path: place.labels for place in data.places + data.held_back}.values():
        found = labels.read(HIDDEN, 0, 1).shape[1]
        if found != depth:
            raise SpecvizError("train.other_size", path=str(labels.path), found=found, size=depth)
    if not data.per_epoch:
        raise SpecvizError("train.large_batch", batch=batch, texts=len(data.places))
    return data


def make_task(args: argparse.Namespace, pair: Pair, ids: torch.Tensor) -> Task:
    weights = None if args.weights is None else needed(args, "weights")
    if args.what == "draft":
        from specviz.training.draft import DraftTask

        return DraftTask(pair.target, pair.target_name, layer_list(args.layers or LAYERS), ids, weights)
    if args.what == "eagle":
        from specviz.training.eagle import EagleTask

        return EagleTask(pair.target, pair.target_name, ids, weights)
    from specviz.training.medusa import MedusaTask

    return MedusaTask(pair.target, pair.target_name, ids, weights)


def judge(args: argparse.Namespace, progress: Progress) -> dict:
    """Acceptance on the held-out prompts, with the engine that the app runs. Whoever calls keeps the figures."""
    weights = None if args.weights is None else needed(args, "weights")
    if args.out is not None:
        check(args.out)  # a file that cannot be gone on with is told before the long evaluation
    pair = target_of(args, progress)
    make = drafter_maker(pair, args.method, weights)
    figures = evaluate(pair, make, k=args.k, seed=args.seed, each=args.prompts, progress=progress)
    name = "bundled" if weights is None else weights.name
    return figures | {"method": args.method, "weights": name, "target": pair.target_name}


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
    note, there = out / SHARDS, shards(folder)
    if not there:
        raise SpecvizError("train.no_corpus", path=str(folder))
    if not note.is_file():
        return there
    with reading(note):
        paths = [folder / name for name in json.loads(note.read_text(encoding="utf-8"))]
    for path in paths:
        if path not in there:
            raise SpecvizError("train.shard_gone", path=str(note), shard=path.name, folder=str(folder))
    return paths


def names_of(pair: Pair) -> tuple[str, str]:
    """What a corpus may call the target: a model of the hub is known by its id or by its folder."""
    return pair.target_name, name_of(pair.target)


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

"""How deep should a draft be? Acceptance and cost of drafts made of more and more of the target's layers.

    python -m benchmarks.draft_curve CORPUS OUT [--steps 100] [--layers 0,29 --layers 0,1,29 ...] [--tv 0.5]

Each is trained in the same way for the same short time, on the bundled target; how often its first guess is the
target's is counted on the corpus's texts that are kept back, c = a draft step / a target step is measured by
interleaved passes over one token after 128 others. Predicted at T = 0, with the same agreement at every position:
tokens a round with k = 4, and the best speed-up with its k. Prints a line a draft and writes OUT/curve.json. What was
trained with the same settings is not trained again; c is measured anew, so on a quiet machine a second run makes it
right for all.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import torch

from specviz.engine.lean import LeanLM
from specviz.errors import SpecvizError
from specviz.models.fast import fast
from specviz.models.load import load_pair
from specviz.models.pair import Pair
from specviz.theory import expected_tokens_by_position, speedup_by_position
from specviz.training.corpus import check_writer
from specviz.training.draft import DraftTask
from specviz.training.evaluate import draft_model
from specviz.training.files import alone, explained, reading
from specviz.training.loop import REPORT, Plan, train
from specviz.training.options import check_numbers, layer_list
from specviz.training.report import write_report
from specviz.training.shards import shards
from specviz.training.start import VOCABULARY, faster_dtype, labelled, names_of
from specviz.training.target import check_layers

LAYERS = ("0,29", "0,1,29", "0,1,28,29", "0,1,2,28,29", "0,1,2,3,4,26,27,28", "0,1,2,3,4,5,6,7,26,27,28,29")
CONTEXT, PASSES, K, MOST = 128, 30, 4, 8


def learned(pair: Pair, paths: list[Path], layers: tuple[int, ...], args: argparse.Namespace) -> Path:
    """The folder of a draft of these layers, trained."""
    data = labelled(pair, paths, 0, args.batch, (), lambda *_, **__: None)
    if not data.held_back:
        raise SpecvizError("train.nothing_kept_back", path=str(args.corpus))
    ids, _ = data.frequent(VOCABULARY["draft"], always=pair.eos)
    out = folder_of(args, layers)
    plan = Plan(steps=args.steps, batch=args.batch, every=args.steps, low=pair.dtype == torch.bfloat16, tv=args.tv)
    train(DraftTask(pair.target, pair.target_name, layers, ids, None), data, plan, out, lambda *_, **__: None, {})
    return out


def folder_of(args: argparse.Namespace, layers: tuple[int, ...]) -> Path:
    return args.out / "-".join(map(str, layers))


def cost(pair: Pair, folder: Path) -> float:
    """c: the median ratio of passes over one token, each after `CONTEXT` others."""
    models = [LeanLM(fast(draft_model(pair, folder)), pair.vocab_size), pair.opened("target")]
    for model in models:
        model.prefill(torch.ones(CONTEXT, dtype=torch.long))
    ratios = []
    for _ in range(PASSES):
        laps = []
        for model in models:
            begin = time.perf_counter()
            model.forward(torch.ones(1, dtype=torch.long))
            laps.append(time.perf_counter() - begin)
            model.rollback(CONTEXT)
        ratios.append(laps[0] / laps[1])
    return statistics.median(ratios)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", action="append")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--tv", type=float, default=0.0)
    args = parser.parse_args()
    try:
        check_numbers(args)
        with explained(), alone(args.out):
            curve(args)
    except KeyboardInterrupt:
        print(SpecvizError("train.interrupted", path=args.out), file=sys.stderr)
        return 130
    except SpecvizError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def curve(args: argparse.Namespace) -> None:
    """Trains and measures what `args` asks for, and prints it."""
    chosen = {text: layer_list(text) for text in args.layers or LAYERS}
    paths = shards(args.corpus)
    if not paths:
        raise SpecvizError("train.no_corpus", path=str(args.corpus))
    file = args.out / "curve.json"
    setting = {"steps": args.steps, "batch": args.batch, "tv": args.tv}
    rows = known(file, setting)
    pair = load_pair(method="none", device="cpu", dtype=faster_dtype(torch.device("cpu")))
    check_writer(args.corpus, names_of(pair))
    for layers in chosen.values():
        check_layers(pair.target, layers)
    judge = load_pair(method="none", device="cpu", dtype="float32")
    agreed = {tuple(row["layers"]): row["agree"] for row in rows}
    print("layers                        agree     c  tokens a round  best speed-up (k)")
    for text, layers in chosen.items():
        if layers not in agreed:
            report = learned(pair, paths, layers, args) / REPORT
            agreed[layers] = json.loads(report.read_text(encoding="utf-8"))["held_out"][-1]["agree"][0]
        row = predicted(layers, agreed[layers], cost(judge, folder_of(args, layers)))
        rows = [other for other in rows if other["layers"] != row["layers"]] + [row]
        write_report(file, setting | {"drafts": rows})
        figures = f"{row['agree']:.3f}  {row['c']:.2f}  {row['tokens_a_round']:14.2f}"
        print(f"{text:28}  {figures}  {row['speedup']:.2f} ({row['k']})", flush=True)


def known(file: Path, setting: dict) -> list[dict]:
    """The rows of a curve that was begun. Raises SpecvizError for one with other settings, whose rows would be lost."""
    if not file.exists():
        return []
    with reading(file):
        held = json.loads(file.read_text(encoding="utf-8"))
        different = [name for name in setting if held[name] != setting[name]]
        rows = [row | {"layers": list(row["layers"]), "agree": float(row["agree"])} for row in held["drafts"]]
    if different:
        raise SpecvizError("train.other_run", path=str(file), setting=", ".join(different))
    return rows


def predicted(layers: tuple[int, ...], agree: float, c: float) -> dict:
    """A row: what follows from the agreement and the cost of a draft, checking k tokens taken to cost a plain step."""
    speedups = {k: speedup_by_position([agree] * k, k * c) for k in range(1, MOST + 1)}
    best = max(speedups, key=speedups.get)
    tokens = expected_tokens_by_position([agree] * K)
    figures = {"tokens_a_round": round(tokens, 3), "speedup": round(speedups[best], 3), "k": best}
    return {"layers": list(layers), "agree": agree, "c": round(c, 4)} | figures


if __name__ == "__main__":
    sys.exit(main())

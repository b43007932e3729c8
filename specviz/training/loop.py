"""The one training loop: optimiser, schedule, checkpoints, report. What is trained is a `Task`.

An interrupted run goes on from its last checkpoint and ends at the same weights, to the bit: the batch and the
randomness of a step depend on (seed, step) alone, and the checkpoint holds the optimiser's state.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from specviz.errors import SpecvizError
from specviz.models.prepared import Progress
from specviz.training.data import Data, Labelled
from specviz.training.files import put, reading, writing
from specviz.training.losses import Fit
from specviz.training.report import write_report

CHECKPOINT = "checkpoint.pt"
REPORT = "report.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """steps; batch: texts a step; rate: highest learning rate, reached after `warmup` steps, then down a cosine;
    every: steps between checkpoints; low: compute matrix products in bf16; tv: weight of the total variation in the
    loss, the forward KL has the rest."""

    steps: int = 3000
    batch: int = 16
    rate: float = 1e-3
    seed: int = 0
    warmup: int = 100
    every: int = 200
    low: bool = False
    tv: float = 0.0


class Task(Protocol):
    """What a trainer brings. `module` holds the weights that learn, `head` is the frozen LM head that reads it."""

    name: str
    module: nn.Module
    head: nn.Module

    def fits(self, batch: Labelled, step: int | None) -> list[tuple[float, Fit]]:
        """(weight in the loss, fit) for each drafted position. step None: measure, with nothing random."""

    def save(self, out: Path) -> dict:
        """Writes the weights in the form that the app reads; returns facts for the report."""


def train(
    task: Task, data: Data, plan: Plan, out: Path, progress: Progress, facts: dict, stop: int | None = None
) -> dict:
    """Trains up to step `plan.steps` (or interrupts itself at `stop`); returns the report, also written to `out`."""
    out.mkdir(parents=True, exist_ok=True)
    weights = [p for p in task.module.parameters() if p.requires_grad]
    optimizers = optimizers_of(weights, plan)
    settings = {"what": task.name} | asdict(plan) | facts
    state = resume(out / CHECKPOINT, settings, task.module, optimizers)
    begin, losses, scores, before = state["step"], state["losses"], state["held_out"], state["seconds"]
    clock = time.monotonic()
    if not scores:
        scores.append({"step": 0} | measure(task, data, plan))
    task.module.train()
    for step in range(begin, plan.steps if stop is None else min(stop, plan.steps)):
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = plan.rate * schedule(step, plan)
        torch.manual_seed(plan.seed * 1_000_003 + step)
        loss = combined(task, data.at(step), step, plan)
        task.module.zero_grad(set_to_none=True)
        loss.backward()
        length = nn.utils.clip_grad_norm_(weights, 1.0)
        check_finite(loss.item() + float(length), step, plan)
        for optimizer in optimizers:
            optimizer.step()
        losses.append(round(loss.item(), 5))
        done = step + 1
        progress(done / plan.steps, "train.training", step=done, total=plan.steps, loss=f"{losses[-1]:.3f}")
        if done % plan.every == 0 or done == plan.steps:
            scores.append({"step": done} | measure(task, data, plan))
            check_finite(sum(scores[-1]["loss"]), done, plan)
            seconds = before + time.monotonic() - clock
            held = {"step": done, "losses": losses, "held_out": scores, "seconds": seconds}
            keep(out / CHECKPOINT, held | {"settings": settings}, task.module, optimizers)
            report(out, task, plan, data, facts, held)
    with writing(out):
        saved = task.save(out)
    held = {"step": len(losses), "losses": losses, "held_out": scores, "seconds": before + time.monotonic() - clock}
    return report(out, task, plan, data, facts | saved, held)


def combined(task: Task, batch: Labelled, step: int | None, plan: Plan) -> Tensor:
    """The loss of a batch: mean over positions, weighted sum over drafted positions."""
    device = next(task.module.parameters()).device
    with torch.autocast(device.type, torch.bfloat16, enabled=plan.low):
        fits = task.fits(batch.to(device), step)
    total = sum(weight for weight, _ in fits)
    terms = [w / total * ((1 - plan.tv) * f.kl + plan.tv * f.tv) / max(f.n, 1) for w, f in fits]
    return torch.stack(terms).sum()


def check_finite(value: float, step: int, plan: Plan) -> None:
    """Raises SpecvizError("train.diverged") before weights that are no numbers any more replace a checkpoint."""
    if not math.isfinite(value):
        raise SpecvizError("train.diverged", step=step, rate=f"{plan.rate:g}")


@torch.no_grad()
def measure(task: Task, data: Data, plan: Plan) -> dict:
    """On the texts kept back, for each drafted position: the loss, alpha at temperature 1, and how often the likeliest
    token agrees. alpha is at most so much, for what p has beyond its listed tokens counts as one more."""
    task.module.eval()
    device = next(task.module.parameters()).device
    sums: list[list[float]] = []
    for batch in data.held_back_batches():
        with torch.autocast(device.type, torch.bfloat16, enabled=plan.low):
            fits = task.fits(batch.to(device), None)
        sums = sums or [[0.0] * 4 for _ in fits]
        for row, (_, f) in zip(sums, fits, strict=True):
            for i, value in enumerate((f.n, f.kl, f.tv, f.agree)):
                row[i] += float(value)
    task.module.train()

    def column(get: Callable[[list[float]], float]) -> list[float]:
        return [round(get(row) / max(row[0], 1), 4) for row in sums]

    alpha = column(lambda r: r[0] - r[2])
    return {"loss": column(lambda r: r[1]), "alpha_at_most": alpha, "agree": column(lambda r: r[3])}


def optimizers_of(weights: list[nn.Parameter], plan: Plan) -> list[torch.optim.Optimizer]:
    """Muon for matrices, which learns more from the same texts (Liu et al., arXiv 2502.16982), AdamW for the rest.

    With `match_rms_adamw` both take the same learning rate.
    """
    matrices, others = [p for p in weights if p.dim() == 2], [p for p in weights if p.dim() != 2]
    made: list[torch.optim.Optimizer] = []
    if matrices:
        made.append(torch.optim.Muon(matrices, lr=plan.rate, weight_decay=0.01, adjust_lr_fn="match_rms_adamw"))
    if others:
        made.append(torch.optim.AdamW(others, lr=plan.rate, betas=(0.9, 0.95), weight_decay=0.01, fused=False))
    return made


def schedule(step: int, plan: Plan) -> float:
    """Share of the highest rate: a line up, then a cosine down to 0."""
    warm = min(1.0, (step + 1) / max(1, min(plan.warmup, plan.steps // 10)))
    return warm * 0.5 * (1 + math.cos(math.pi * step / max(1, plan.steps)))


def keep(path: Path, state: dict, module: nn.Module, optimizers: list[torch.optim.Optimizer]) -> None:
    """Writes a checkpoint in one step."""
    learned = {name for name, p in module.named_parameters() if p.requires_grad}
    weights = {name: tensor for name, tensor in module.state_dict().items() if name in learned}
    whole = state | {"module": weights, "optimizers": [o.state_dict() for o in optimizers]}
    put(path, lambda part: torch.save(whole, part))


def resume(path: Path, settings: dict, module: nn.Module, optimizers: list[torch.optim.Optimizer]) -> dict:
    """Loads the checkpoint, if there is one.

    Raises SpecvizError("train.other_run") if it is of another run, ("train.damaged") if it is damaged.
    """
    if not path.is_file():
        return {"step": 0, "losses": [], "held_out": [], "seconds": 0.0}
    with reading(path):
        state = torch.load(path, weights_only=True, map_location="cpu")
        kept = {"what": settings.get("what")} | state["settings"]  # older ones do not say what they are of
        different = [name for name in settings if kept.get(name) != settings[name]]
        if different:
            raise SpecvizError("train.other_run", path=str(path), setting=", ".join(different))
        module.load_state_dict(state["module"], strict=False)
        for optimizer, kept in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(kept)
        return {name: state[name] for name in ("step", "losses", "held_out", "seconds")}


def report(out: Path, task: Task, plan: Plan, data: Data, facts: dict, held: dict) -> dict:
    """The report beside the weights; losses as means of up to 100 stretches."""
    losses = held["losses"]
    stride = max(1, math.ceil(len(losses) / 100))
    curve = [round(sum(losses[i : i + stride]) / len(losses[i : i + stride]), 4) for i in range(0, len(losses), stride)]
    figures = {"what": task.name, "steps_done": held["step"], "seconds": round(held["seconds"], 1)}
    figures |= {"plan": asdict(plan), "data": data.facts(), "loss_curve": {"stride": stride, "mean": curve}}
    figures |= {"held_out": held["held_out"]} | facts
    write_report(out / REPORT, figures)
    return figures

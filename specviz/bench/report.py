"""All that a benchmark found, as one plain object: what is printed, what `--json` gives, what the page is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from specviz.bench.agreement import Parting
from specviz.bench.figures import STAGES, RunCosts, Spread, costs, middle, rounded, spread
from specviz.bench.names import OURS
from specviz.bench.ours import Ours
from specviz.bench.runs import Entrant, Run
from specviz.bench.vllm import Vllm
from specviz.i18n import t
from specviz.metrics import acceptance, measure
from specviz.trace import Round

DRAFTERS = [key for key in OURS if key != "ours_plain"]
SPEEDS = ("ours_plain", "ours_draft", "ours_eagle", "ours_medusa", "ours_lookup", "hf_generate", "hf_assisted")
HEADLINE = (
    *(f"{key}_tok_s" for key in SPEEDS),
    "speedup_draft",
    "speedup_eagle",
    "speedup_medusa",
    "speedup_best",
    "vs_hf_assisted",
    "vs_hf_generate",
    "predicted_speedup_draft",
    "predicted_speedup_best",
    "c",
    "alpha",
    "mean_acceptance_length",
    "overhead_share",
    "greedy_identical",
)
Waited = Mapping[str, Mapping[tuple[int, int], Run]]  # key -> runs that waited for the device after each stage


def report(
    lanes: Sequence[Entrant], partings: Sequence[Parting], reference: str | None, setup: dict, lang: str, waited: Waited
) -> dict:
    """`HEADLINE` keys, null where there is no figure, with the reason in `notes`; `contenders` holds the detail.

    Speeds are tokens per second after the prompt is read, medians over prompts and repeats. c, alpha, the mean
    acceptance length and the share of overhead are those of the draft model ("ours_draft").
    """
    by_key = {lane.key: lane for lane in lanes}
    plain = by_key.get("ours_plain")
    same = [lane for lane in lanes if lane.runs and lane.contender.precision == setup["dtype"]]
    rows = [_row(lane, plain, partings, len(same) > 1 and lane in same, lang, waited) for lane in lanes]
    row = {one["key"]: one for one in rows}
    raced = [row[key] for key in DRAFTERS if key in row and row[key]["speedup"] is not None]
    best = max(raced, key=lambda one: one["speedup"], default=None)
    draft = row.get("ours_draft", {})

    def speed(key: str) -> float | None:
        return row.get(key, {}).get("tok_s")

    found: dict[str, object] = {f"{key}_tok_s": speed(key) for key in SPEEDS}
    found |= {f"speedup_{name}": row.get(f"ours_{name}", {}).get("speedup") for name in ("draft", "eagle", "medusa")}
    found["speedup_best"] = best["speedup"] if best else None
    found["vs_hf_assisted"] = _ratio(speed("ours_draft"), speed("hf_assisted"))
    found["vs_hf_generate"] = _ratio(speed("ours_plain"), speed("hf_generate"))
    found["predicted_speedup_draft"] = draft.get("predicted_speedup")
    found["predicted_speedup_best"] = best["predicted_speedup"] if best else None
    found |= {name: draft.get(name) for name in ("c", "alpha", "mean_acceptance_length", "overhead_share")}
    found["greedy_identical"] = not partings if len(same) > 1 else None
    notes = {key: _why_missing(key, by_key, lang) for key in HEADLINE if found[key] is None}
    if partings:
        notes["greedy_identical"] = _told_partings(partings, reference, lang)
    setup = setup | {"reference": reference, "best": best["key"] if best else None}
    return {
        **{key: found[key] for key in HEADLINE},
        "notes": notes,
        "contenders": rows,
        "partings": [asdict(parting) for parting in partings],
        "setup": setup,
        "sweeps": [],
    }


def _row(
    lane: Entrant, plain: Entrant | None, partings: Sequence[Parting], compared: bool, lang: str, waited: Waited
) -> dict:
    runs = lane.runs
    rate = spread(run.rate for run in runs.values())
    peaks = [run.peak for run in runs.values() if run.peak is not None]
    mine = [parting for parting in partings if parting.key == lane.key]
    row: dict[str, object] = {
        "key": lane.key,
        "name": t(lang, f"bench.name_{lane.key}"),
        "settings": lane.contender.settings,
        "precision": lane.contender.precision,
        "status": "failed" if lane.reason and runs else "not_run" if lane.reason or not runs else "ok",
        "reason": lane.reason,
        "runs": len(runs),
        "tokens": sum(run.written for run in runs.values()),
        **_spread("tok_s", rate),
        "whole_tok_s": rounded(middle(run.whole_rate for run in runs.values())),
        "first_token_ms": rounded(middle(1000 * run.first_seconds for run in runs.values())),
        "peak_mb": rounded(max((peak.total for peak in peaks), default=None)),
        "extra_mb": rounded(max((peak.extra for peak in peaks), default=None)),
        "same": not mine if compared and runs else None,
        "partings": len(mine),
        "largest_gap": rounded(max((p.gap for p in mine if p.gap is not None), default=None)),
        **_spread("speedup", None),
    }
    if plain is not None and plain.runs and runs:
        paired = [_ratio(run.rate, plain.runs[turn].rate) for turn, run in runs.items() if turn in plain.runs]
        row |= _spread("speedup", spread(paired))
        row["speedup"] = _ratio(rate.median if rate else None, middle(run.rate for run in plain.runs.values()))
    if isinstance(lane.contender, Ours):
        row |= _rounds(lane, plain, waited)
        row["why"] = _why_slower(row, lang)
    if isinstance(lane.contender, Vllm):
        row |= lane.contender.figures(lang)
    return row


def _rounds(lane: Entrant, plain: Entrant | None, waited: Waited) -> dict:
    """Acceptance and costs, which only our own engine tells. The costs are medians over the runs."""
    every: list[Round] = [r for run in lane.runs.values() for r in run.rounds]
    metrics = measure(every)
    mine = waited.get(lane.key, lane.runs)
    yardstick = {} if plain is None else waited.get(plain.key, plain.runs)
    found: list[RunCosts] = []
    for turn, run in mine.items():
        cost = costs(run, yardstick[turn]) if turn in yardstick else None
        if cost is not None:
            found.append(cost)
    drafted = metrics.drafted > 0
    return {
        "mean_acceptance_length": rounded(metrics.mean_acceptance_length),
        "tokens_per_round": rounded(metrics.tokens_per_round),
        "alpha": rounded(acceptance(every)),
        "per_position": [rounded(x) for x in metrics.per_position],
        "step_ms": rounded(middle(cost.step_ms for cost in found)),
        "c": rounded(middle(cost.c for cost in found)) if drafted else None,
        "drafting": rounded(middle(cost.drafting for cost in found)) if drafted else None,
        "checking": rounded(middle(cost.checking for cost in found)) if drafted else None,
        "predicted_speedup": rounded(middle(cost.predicted for cost in found)) if drafted else None,
        "overhead_share": rounded(middle(cost.overhead for cost in found)),
        "split_ms": {stage: rounded(middle(cost.split[stage] for cost in found)) for stage in STAGES},
    }


def _why_slower(row: Mapping, lang: str) -> str | None:
    """Why a drafter does not pay here, from its numbers; None where it does, or where nobody knows."""
    if row["speedup"] is None or row["speedup"] >= 1 or row.get("checking") is None:
        return None
    spent = row["drafting"] + row["checking"]
    names = {"drafting": "drafting", "checking": "checking", "tokens": "tokens_per_round"}
    names["predicted"] = "predicted_speedup"
    values = {name: f"{row[key]:.2f}" for name, key in names.items()}
    key = "why_slower" if spent >= row["tokens_per_round"] else "why_overhead"
    return t(lang, f"bench.{key}", **values, spent=f"{spent:.2f}", overhead=f"{100 * row['overhead_share']:.0f}")


def _told_partings(partings: Sequence[Parting], reference: str | None, lang: str) -> str:
    gaps = [parting.gap for parting in partings if parting.gap is not None]
    values = {"n": len(partings), "ties": sum(parting.tie for parting in partings), "reference": reference}
    return t(lang, "bench.parted", **values, gap=f"{max(gaps):.2g}" if gaps else "–")


def _why_missing(key: str, lanes: Mapping[str, Entrant], lang: str) -> str:
    """The reason for a null: that of the first contender it needs and that has none."""
    if key == "greedy_identical":
        return t(lang, "bench.nothing_to_compare")
    if key.endswith("_tok_s"):
        needs = [key.removesuffix("_tok_s")]
    elif key.startswith("vs_hf_"):
        needs = ["ours_draft" if key == "vs_hf_assisted" else "ours_plain", key.removeprefix("vs_")]
    elif key.endswith("_best"):
        needs = ["ours_plain", *DRAFTERS]
    else:
        method = key.rpartition("_")[2] if key.startswith(("speedup_", "predicted_")) else "draft"
        needs = ["ours_plain", f"ours_{method}"]
    for need in needs:
        lane = lanes.get(need)
        if lane is None:
            return t(lang, "bench.not_asked", name=need)
        if lane.reason:
            return f"{need}: {lane.reason}"
    return t(lang, "bench.too_short")


def _spread(name: str, found: Spread | None) -> dict[str, float | None]:
    if found is None:
        return {name: None, f"{name}_q1": None, f"{name}_q3": None}
    return {name: rounded(found.median), f"{name}_q1": rounded(found.q1), f"{name}_q3": rounded(found.q3)}


def _ratio(a: float | None, b: float | None) -> float | None:
    return rounded(a / b) if a is not None and b else None

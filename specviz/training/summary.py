"""The held-out evaluation as the table of the README, all of it read from `assets/evaluation/results.json`."""

from __future__ import annotations

import json

from specviz.i18n import ASSETS

RESULTS = ASSETS / "evaluation" / "results.json"


def results() -> dict[str, dict]:
    """method -> what `evaluate` returned for it."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    found.pop("revision", None)
    return found


def table(found: dict[str, dict]) -> str:
    """A row for each method and temperature of `found` (method -> what `evaluate` returned), as Markdown."""
    kinds = list(next(iter(found.values()))["prompts"])
    names = ["drafter", "T", "tokens a round", "alpha", "accepted at position 1, 2, …", *kinds]
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    for method, figures in found.items():
        for temperature, group in figures["temperatures"].items():
            every = group["all"]
            cells = [f"`{method}`", temperature, f"**{two(every['mean_acceptance_length'])}**", two(every["alpha"])]
            cells.append(" ".join(map(two, every["per_position"])))
            cells += [two(group["kinds"][kind]["mean_acceptance_length"]) for kind in kinds]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def two(value: float | None) -> str:
    """Two digits; a dash where nothing was drafted."""
    return "–" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    print(table(results()), end="")

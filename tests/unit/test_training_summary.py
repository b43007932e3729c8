"""The README's table of the held-out evaluation says what the results say."""

import json
from pathlib import Path

from specviz.training.prompts import evaluation
from specviz.training.summary import results, table

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def test_the_readme_has_the_measured_figures():
    assert {"draft", "eagle", "medusa"} <= results().keys()
    assert table(results()) in README.read_text(encoding="utf-8")


def test_the_curve_over_layers_is_what_was_measured():
    told = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drafts = json.loads((ROOT / "assets" / "evaluation" / "draft_curve.json").read_text(encoding="utf-8"))["drafts"]
    assert len(drafts[0]["layers"]) == 2
    assert len(drafts[-1]["layers"]) == 12
    for row in drafts:
        layers = " ".join(map(str, row["layers"]))
        assert row["k"] == 1
        figures = f"{row['agree']:.3f} | {row['c']:.2f} | {row['tokens_a_round']:.2f} | {row['speedup']:.2f}"
        assert f"| {layers} | {figures} |" in told


def test_all_prompts_were_asked_at_both_temperatures():
    for found in results().values():
        assert found["prompts"] == {kind: len(texts) for kind, texts in evaluation().items()}
        assert found["tokens_a_prompt"] == 96
        assert list(found["temperatures"]) == ["0", "0.7"]


def test_a_row_holds_what_was_measured():
    group = {"mean_acceptance_length": 2.346, "alpha": 0.561, "per_position": [0.7, 0.5]}
    kinds = {"code": {"mean_acceptance_length": 2.5}, "list": {"mean_acceptance_length": 1.25}}
    found = {"eagle": {"prompts": {"code": 3, "list": 3}, "temperatures": {"0": {"all": group, "kinds": kinds}}}}
    row = table(found).splitlines()[2]
    assert row == "| `eagle` | 0 | **2.35** | 0.56 | 0.70 0.50 | 2.50 | 1.25 |"

"""The report's keys, its nulls with reasons, and the page made of it."""

import json
import re

import pytest

from specviz.bench.race import race
from specviz.bench.report import HEADLINE, report
from specviz.bench.runs import Entrant
from specviz.bench.table import machine_of, settings_of, text_of, width
from specviz.i18n import LANGUAGES
from specviz.models.prepared import no_progress
from specviz.views.bench_page import page
from tests.unit.bench_fakes import Scripted, round_of, run_of

ISSUE = """
ours_plain_tok_s, ours_draft_tok_s, ours_eagle_tok_s, ours_medusa_tok_s, ours_lookup_tok_s, hf_generate_tok_s,
hf_assisted_tok_s, speedup_draft, speedup_eagle, speedup_medusa, speedup_best, vs_hf_assisted, vs_hf_generate,
predicted_speedup_draft, predicted_speedup_best, c, alpha, mean_acceptance_length, overhead_share, greedy_identical
"""  # what programs read: never rename one
KEYS = re.findall(r"\w+", ISSUE)
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>${1+1}"
SETUP = {
    "dtype": "float32",
    "target": EVIL,
    "prompts": [EVIL],
    "max_new_tokens": 12,
    "repeats": 1,
    "interrupted": False,
    "gpu": None,
    "processor": EVIL,
    "cores": 2,
    "threads": 2,
    "torch": "2",
    "transformers": "5",
    "load": 0.1,
    "load_after": None,
}


class Drafting(Scripted):
    """One of ours, with rounds."""

    def __init__(self, key, rounds):
        super().__init__(key, [])
        self.rounds, self.settings = rounds, {"k": 4}

    def run(self, tokens, limit):
        return run_of(self.rounds)


@pytest.fixture
def lanes(monkeypatch):
    monkeypatch.setattr("specviz.bench.report.Ours", Drafting)
    plain = Drafting("ours_plain", [round_of(0, 0, 0, 10.0)] * 12)
    draft = Drafting("ours_draft", [round_of(4, 2, 1.0, 14.0)] * 4)
    slow = Drafting("ours_lookup", [round_of(4, 0, 3.0, 30.0)] * 12)
    broken = Scripted("hf_assisted", [], 0, RuntimeError(EVIL))
    found, _ = race([plain, draft, slow, Scripted("hf_generate", []), broken], [[7]], 12, 1, no_progress)
    return found


def test_exactly_the_promised_keys_and_a_reason_for_each_null(lanes):
    done = report(lanes, [], "hf_generate", SETUP, "en", {})
    assert list(HEADLINE) == KEYS
    assert list(done)[: len(KEYS)] == KEYS
    assert {"notes", "contenders"} <= done.keys()
    assert {key for key in KEYS if done[key] is None} == set(done["notes"])
    assert EVIL[:20] in done["notes"]["hf_assisted_tok_s"]
    assert "ours_eagle" in done["notes"]["speedup_eagle"]
    json.dumps(done, allow_nan=False)


def test_figures_fit_together(lanes):
    done = report(lanes, [], "hf_generate", SETUP, "en", {})
    assert done["speedup_draft"] == pytest.approx(done["ours_draft_tok_s"] / done["ours_plain_tok_s"], abs=1e-3)
    assert done["vs_hf_generate"] == pytest.approx(done["ours_plain_tok_s"] / done["hf_generate_tok_s"], abs=1e-3)
    assert done["speedup_best"] == done["speedup_draft"]
    assert done["setup"]["best"] == "ours_draft"
    # 3 tokens a round; 4 ms of drafting and 14 ms of checking, in steps of 10 ms
    assert done["predicted_speedup_draft"] == pytest.approx(3 / 1.8, abs=1e-3)
    assert (done["c"], done["alpha"]) == (pytest.approx(0.1), pytest.approx(2 / 3, abs=1e-3))
    assert done["mean_acceptance_length"] == 3.0
    assert done["overhead_share"] == pytest.approx(1 / 19, abs=1e-4)


def test_a_drafter_that_does_not_pay_says_why(lanes):
    done = report(lanes, [], "hf_generate", SETUP, "en", {})
    row = next(row for row in done["contenders"] if row["key"] == "ours_lookup")
    assert row["speedup"] < 1
    assert "1.00 tokens" in row["why"]
    assert "4.20 plain steps" in row["why"]  # 4 * 3 ms + 30 ms
    assert next(row for row in done["contenders"] if row["key"] == "ours_draft")["why"] is None


def test_nothing_ran_at_all():
    done = report([Entrant(Scripted("ours_plain", []), reason="no")], [], None, SETUP, "en", {})
    assert all(done[key] is None for key in KEYS)
    assert set(done["notes"]) == set(KEYS)
    assert page(done, "", str, "en")
    assert text_of(done, "en")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_is_one_file_that_needs_no_network(lanes, lang):
    done = report(lanes, [], "hf_generate", SETUP, lang, {})
    done["sweeps"] = [
        {
            "over": "k",
            "lanes": [
                {"key": "ours_plain", "name": EVIL, "points": [point(None, 10)]},
                {"key": "ours_draft", "name": EVIL, "points": [point(1, 11), point(4, 14)]},
            ],
            "missing": {"ours_eagle": EVIL},
            "left_out": [EVIL],
            "interrupted": False,
        }
    ]
    html = page(done, machine_of(SETUP, lang), lambda row: settings_of(row, lang), lang)
    assert not re.search(r"<(script|img|iframe)[^>]*\ssrc=|<link|@import|url\(", without_plotly(html))
    assert "alert(1)" in html  # it is shown
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert html.count("Plotly.newPlot(") >= 4
    assert f'lang="{lang}"' in html


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_table_stands_in_columns(lanes, lang):
    done = report(lanes, [], "hf_generate", SETUP, lang, {})
    text = text_of(done, lang)
    rows = [line for line in text.split("\n\n")[0].splitlines() if "float32" in line]
    assert len(rows) == 4
    assert len({width(row[: row.index("float32")]) for row in rows}) == 1
    assert EVIL in text


def point(x, speed):
    return {
        "x": x,
        "tok_s": speed,
        "tok_s_q1": speed - 1,
        "tok_s_q3": speed + 1,
        "speedup": 1.1,
        "predicted_speedup": 1.2,
        "checking": 1.0,
        "tokens_per_round": 2.0,
        "first_token_ms": 5.0,
        "extra_mb": 1.0,
    }


def without_plotly(html):
    from plotly.offline import get_plotlyjs

    assert get_plotlyjs() in html
    return html.replace(get_plotlyjs(), "")

"""A race on the screen: every sentence in both languages, no number without its formula, nothing foreign as markup."""

import json
import re
from dataclasses import replace

import pytest

from specviz.i18n import LANGUAGES
from specviz.race import result
from specviz.race_sweep import Point, Sweep
from specviz.views import race_charts, race_html, race_lists
from specviz.views.race_html import Entry
from tests.unit.races import race_of, round_of

FAST = [round_of(4, 3, (1.0,) * 4, 15.0)] * 8
RACES = {
    "fast": race_of(FAST),
    "acceptance": race_of([round_of(4, 0, (1.0,) * 4)] * 9 + [round_of(4, 1, (1.0,) * 4)]),
    "drafting": race_of([round_of(4, 3, (12.0,) * 4)] * 9),
    "checking": race_of([round_of(4, 2, (0.5,) * 4, 45.0)] * 10),
    "rest": race_of([round_of(4, 4, (0.5,) * 4, 11.0, 60.0)] * 10),
    "lookup": race_of([round_of(0, 0, (0.1,))] * 6 + [round_of(4, 0, (0.1,), 12.0)] * 2, method="lookup"),
    "auto": race_of([round_of(0, 0)] * 6 + [round_of(4, 0, (1.0,) * 4)] * 2, adapt=True),
    "drawn": race_of(FAST, temperature=0.8),
    "lossy": race_of(FAST, temperature=0.8, verify="typical"),
    "medusa": race_of([round_of(2, 1, (3.0,), 21.0)] * 8, method="medusa", tree=((0,), (0, 0))),
    "nothing drafted": race_of([round_of(0, 0)] * 5),
}


def entry(name, number=1):
    return Entry(number, RACES[name], result(RACES[name]))


def words(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", RACES)
def test_every_race_can_be_told(name, lang):
    one = entry(name)
    parts = [f(one, lang) for f in (race_html.figures, race_html.formula, race_html.why)]
    for html in (*parts, race_lists.table([one], 1, lang)):
        assert "<b>Hi" not in html
        assert not re.search(r"\{\w+\}|nan|inf\b|None", words(html))
    for figure in (race_charts.split(one.result, lang), race_charts.ladder(one.result, lang)):
        assert not re.search(r"\{\w+\}|NaN", figure.to_json())


def test_the_formula_has_the_measured_numbers_in_it():
    told = words(race_html.formula(entry("fast"), "en"))
    assert "E = 1 + a 1 + a 1 a 2 + … = 1 + 1.00 + 1.00 + 1.00 + 0.00 = 4.00" in told
    assert "4.00 / 0.40 + 1.50 = 2.11×" in told
    assert "Checking a round (5 tokens, where something is drafted) costs 1.50× one token on this CPU" in told
    assert "would promise 2.86×" in told  # 4 / 1.4


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fast", "What holds it back?"),
        ("acceptance", "Rejected drafts take most"),
        ("drafting", "Drafting takes most"),
        ("drafting", "Better drafts alone cannot do it"),
        ("checking", "A quicker draft alone cannot do it"),
        ("checking", "Why is it slower here?"),
        ("rest", "What is neither drafting nor checking takes most"),
    ],
)
def test_the_reasons_follow_from_the_numbers(name, said):
    assert said in words(race_html.why(entry(name), "en"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("auto", "k auto fell back to k = 0: in 6 of 8 rounds"),
        ("lookup", "In 6 of 8 rounds the lookup found nothing"),
        ("acceptance", "Slower than plain decoding here, because a round brings 1.10 tokens but drafting and checking"),
        ("rest", "because judging, rolling back, or other work"),
        ("drawn", "both have exactly the target's distribution"),
        ("lossy", "lossy"),
    ],
)
def test_what_else_should_be_known(name, said):
    assert said in race_html.figures(entry(name), "en").replace("&#x27;", "'")


def test_a_race_that_was_won_needs_no_excuse():
    assert "because" not in race_html.figures(entry("fast"), "en")


def test_the_cost_of_checking_is_one_number_wherever_it_stands():
    """A run whose last round drafts less: its mean is not that of a full round, and only one of the two is shown."""
    race = race_of([*[round_of(4, 3, (1.0,) * 4, 15.0)] * 3, round_of(1, 1, (1.0,), 11.0)])
    one = Entry(1, race, result(race))
    assert one.result.costs.at_usual == pytest.approx(1.5)
    html = race_html.figures(one, "en"), race_html.formula(one, "en"), race_lists.table([one], 1, "en")
    assert all("1.40" in words(part) and "1.50" not in words(part) for part in html)


def test_the_table_has_the_newest_first_and_marks_the_one_on_show():
    html = race_lists.table([entry("fast", 1), replace(entry("drawn"), number=2)], 1, "en")
    rows = re.findall(r"<tr.*?</tr>", html)[1:]
    assert "sv-p-on" in rows[1]
    assert "sv-p-on" not in rows[0]
    assert "Hi &lt;b&gt;" in html


def test_the_heat_map_rings_the_best_point_and_leaves_holes():
    points = (Point(0, 0.0, 20.0, 1.0), Point(1, 0.0, 30.0, 2.0), Point(2, 0.0, 10.0, 2.0), Point(0, 1.0, 10.0, 1.0))
    figure = json.loads(race_charts.heat(Sweep("draft", (0, 1, 2), (0.0, 1.0), points), "en").to_json())
    assert figure["data"][0]["z"] == [[1.0, 1.5, 0.5], [1.0, None, None]]
    shape = figure["layout"]["shapes"][0]
    assert (shape["x0"] + shape["x1"]) / 2 == pytest.approx(1)
    assert (shape["y0"] + shape["y1"]) / 2 == pytest.approx(0)


def test_a_stopped_sweep_speaks_of_what_was_run():
    points = (Point(0, 0.0, 20.0, 1.0), Point(1, 0.0, 10.0, 2.0))
    stopped, whole = (Sweep("draft", (0, 1), heats, points) for heats in ((0.0, 1.0), (0.0,)))
    assert "every temperature" in race_lists.swept(whole, "en")
    told = race_lists.swept(stopped, "en")
    assert "every temperature" not in told
    assert "none of the runs that were done" in told
    assert "2 of 4" in told

"""The panels of a tree on hand-made rounds: mask, paths, the drafter's lists, positions and cache rows, rules."""

import json
import re
from dataclasses import replace

import pytest

from specviz.choices import of_profile
from specviz.i18n import LANGUAGES
from specviz.shape import Shape
from specviz.trace import Final, Kind, Status, Verdict
from specviz.views import distributions, tree_heads, tree_mask, tree_tables, words
from specviz.views.tree_shape import context_of, leaves
from specviz.views.verifiers import verdicts_beside
from tests.trees import FIRST, START, tree_trace

#        0    1    2       3       4       5
SMALL = [(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 1, 0)]


@pytest.fixture
def trace():
    """Path 0, 3 is accepted; 2 was refused before 3, and 5 after it."""
    return tree_trace(SMALL, path=(0, 3), tried=(2, 5))


def heat(figure):
    """(row, column) -> the words' key colour: which picture fills a cell."""
    cells = {}
    for picture in json.loads(figure.to_json())["data"]:
        for i, row in enumerate(picture["z"]):
            for j, value in enumerate(row):
                if value is not None:
                    assert (i, j + picture["x0"]) not in cells
                    cells[i, j + picture["x0"]] = picture["hovertemplate"]
    return cells


def test_the_mask_of_a_known_tree(trace):
    cells = heat(tree_mask.mask(trace, 0, None, "en"))
    n = len(SMALL)
    assert len(cells) == (n + 1) * (n + 2)  # every cell is one of the five
    seen = {i: {j for j in range(n + 1) if "does not see" not in cells[i, j]} for i in range(n + 1)}
    assert seen == {0: {0}, 1: {0, 1}, 2: {0, 2}, 3: {0, 1, 3}, 4: {0, 1, 4}, 5: {0, 2, 5}, 6: {0, 1, 4, 6}}
    assert all("text before" in cells[i, -1] for i in range(n + 1))
    assert "accepted path" in cells[4, 1]
    assert "itself" in cells[6, 6]


@pytest.mark.parametrize(("n", "above", "beside"), [(6, 7, 0), (63, 8, 8)])
def test_the_mask_is_numbered_where_names_do_not_fit(n, above, beside):
    tree = SMALL if n == len(SMALL) else of_profile()
    layout = json.loads(tree_mask.mask(tree_trace(tree), 0, None, "en").to_json())["layout"]
    told = [a.get("yanchor", "row") for a in layout["annotations"]]
    assert (told.count("bottom"), told.count("row")) == (above, beside)
    assert layout["yaxis"]["showticklabels"] is (beside == 0)
    assert layout["xaxis"]["showticklabels"] is False


def test_the_mask_holds_no_markup_and_frames_the_selected_node(trace):
    for lang in LANGUAGES:
        figure = tree_mask.mask(trace, 0, 3, lang)
        text = figure.to_json()
        assert "<img" not in text
        assert "<b>" not in text
        assert "\u202e" not in text
        assert len(json.loads(text)["layout"]["shapes"]) == 2
    assert "shapes" not in json.loads(tree_mask.mask(trace, 0, None, "en").to_json())["layout"]


def test_what_a_node_sees_in_words(trace):
    r = trace.rounds[0]
    told = tree_mask.seen_by(trace, r, 5, "en")
    assert f"position {START - 1 + 3}" in told  # the text's last token stands at START - 1
    assert "2 above it" in told
    assert "none of its siblings" in tree_mask.seen_by(trace, r, 1, "en")


def rows_of(html):
    """Cells of a table's body, as plain text."""
    body = html.split("<tbody>")[1]
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td>(.*?)</td>", row)] for row in body.split("<tr")]


def test_positions_and_cache_rows(trace):
    html = tree_tables.rows(trace, 0, "en")
    table = [row for row in rows_of(html) if row]
    assert [row[2] for row in table] == ["4", "5", "5", "6", "6", "6", "7"]  # parent's + 1; siblings share theirs
    assert [row[3] for row in table] == ["4", "5", "6", "7", "8", "9", "10"]
    assert [row[4] for row in table] == ["stays", "stays", "dropped", "dropped", "→ row 6", "dropped", "dropped"]
    assert "Drafts kept: 2, of which 1 move up; dropped: 4. Rows that remain: 7." in html
    assert "own cache goes from 10 rows back to 7" in html
    assert re.findall(r'<tr.*? data-node="(\d)">', html) == ["0", "1", "2", "3", "4", "5"]
    assert html.count('class="sv-p-won"') == 3  # the text's last token and the accepted path


def test_paths_and_how_far_they_were_accepted(trace):
    html = tree_tables.paths(trace, 0, "en")
    items = html.split("<li")[1:]
    assert [re.search(r"(\d) of (\d)", item).groups() for item in items] == [("1", "2"), ("2", "3"), ("0", "2")]
    assert ["sv-p-won" in item.split(">")[0] for item in items] == [False, True, False]
    assert [re.findall(r'data-node="(\d)"', item) for item in items] == [
        ["2", "0", "2"],
        ["5", "0", "3", "5"],
        ["4", "1", "4"],
    ]
    assert "max-height" not in html
    assert "Candidate paths: 3. Drafted tokens kept: 2; added to the text: 3." in html


def test_leaves_come_as_they_are_drawn():
    assert leaves(Shape((-1, -1, 0, 0, 1, 3))) == [2, 5, 4]
    assert leaves(Shape((-1, 0, 1))) == [2]
    assert leaves(Shape(())) == []
    assert list(Shape((-1, -1, 0, 0, 1, 3)).path(5)) == [0, 3, 5]


def test_the_drafters_lists(trace):
    html = tree_heads.levels(trace, 0, None, "en")
    assert html.count("<section>") == 3  # along the accepted path
    first, second, third = html.split("<section>")[1:]
    assert first.count("✓") == 1  # of the two that were drafted one is kept
    assert first.count("●") == 1
    assert "0.40" in first  # q of the likeliest, 0.8 / 2
    assert second.count("✓") == 1
    assert third.count("✓") == 0
    assert sorted(re.findall(r'data-node="(\d)"', html)) == ["0", "1", "2", "3", "5"]
    assert tree_heads.levels(trace, 0, 1, "en").count("<section>") == 2  # along the selected one
    heads = tree_heads.levels(replace(trace, config=replace(trace.config, method="medusa")), 0, 1, "en")
    assert [f"Head {n}" in heads for n in (1, 2, 3, 4)] == [True, True, True, False]
    wide = tree_trace([(i,) for i in range(12)], path=(11,), ids=2)
    assert sorted(map(int, re.findall(r'data-node="(\d+)"', tree_heads.levels(wide, 0, None, "en")))) == [*range(12)]
    bare = replace(trace, rounds=(replace(trace.rounds[0], detail=None),))
    assert tree_heads.levels(bare, 0, None, "en") == ""


def test_nothing_breaks_out_of_its_place(trace):
    for lang in LANGUAGES:
        for node in (None, 0, 5):
            pages = [make(trace, 0, lang) for make in (tree_tables.paths, tree_tables.rows)]
            pages += [tree_heads.levels(trace, 0, node, lang)]
            pages.append(verdicts_beside({"lossless": trace}, 0, lang))
            for html in pages:
                assert "<img" not in html
                assert "<b>x" not in html
                assert "\u202e" not in html
                assert "</script" not in html


def test_the_context_of_a_position(trace):
    r = trace.rounds[0]
    assert [context_of(r, position) for position in range(7)] == [0, 0, 1, 1, 2, 4, 4]


def test_figures_of_a_node(trace):
    figure = distributions.comparison(trace, 0, 2, "en")
    names = [bar["name"] for bar in json.loads(figure.to_json())["data"]]
    assert names == ["target p", "draft q"]  # no shares: the gate of a tree is not p / q of the whole context
    assert distributions.residual(trace, 0, 2, "en") is None  # nothing was recorded of what it left
    left = distributions.residual(trace, 0, 5, "en")
    assert sum(left.data[0].y) == pytest.approx(1, abs=1e-4)
    assert "have left of p" in distributions.residual_title(trace, 0, 5, "en")


def told(trace, position, verdict=None, final=None):
    r = trace.rounds[0]
    if verdict is not None:
        r = replace(r, verdicts=(*r.verdicts[:position], verdict, *r.verdicts[position + 1 :]))
    if final is not None:
        r = replace(r, final=final)
    return words.verdict(replace(trace, rounds=(r,)), 0, position, "en")


def test_sentences_of_every_rule(trace):
    assert "p = 0.50, u = 0.25, so it is accepted" in told(trace, 3)
    assert "the siblings tried before it (1)" in told(trace, 3)
    assert "p = 0.12, u = 0.75, so it is rejected" in told(trace, 5)
    assert "It is unreached" in told(trace, 4)
    drawn = Verdict(Status.ACCEPTED, 0.3, 0.6, 0.2)
    assert "p/q = 0.50, u = 0.20, so it is accepted" in told(trace, 0, drawn)
    assert "p = 0.60 is at least q = 0.30" in told(trace, 0, Verdict(Status.ACCEPTED, 0.6, 0.3, 0.2))
    for status, says in (
        ("accepted", "is above the limit"),
        ("rejected", "not above"),
        ("unreached", "runs elsewhere"),
    ):
        assert says in told(trace, 0, Verdict(Status(status), 0.3, 0.6, None, 0.06))
    assert "was drawn instead" in told(trace, 6)
    assert "end of its branch" in told(trace, 6, final=Final(7, Kind.BONUS, 0.5, 0.5))
    assert "lossy" in told(trace, 6, final=Final(7, Kind.TARGET, 0.5, 0.5))


@pytest.mark.parametrize(
    ("status", "u", "says"),
    [("accepted", 0.2, "up to here stays"), ("accepted", 0.8, "this one stays, too"), ("rejected", 0.8, "ends before")],
)
def test_sentences_of_block_verification(status, u, says):
    chain = tree_trace([(0,), (0, 0)], path=(0,) if status == "accepted" else ())
    assert says in told(chain, 0, Verdict(Status(status), 0.3, 0.6, u, 0.5))


def test_rules_side_by_side(trace):
    typical = replace(trace, config=replace(trace.config, verify="typical"))
    for lang, exact, lossy in (("en", "✓ lossless", "⚠ lossy"), ("zh-CN", "✓ 无损", "⚠ 有损")):
        html = verdicts_beside({"lossless": trace, "typical": typical}, 0, lang)
        assert (html.count(exact), html.count(lossy)) == (1, 1)
        assert html.count("<td>3</td>") == 2
    greedy = replace(trace, config=replace(trace.config, verify="greedy", temperature=0.0))
    table = verdicts_beside({"greedy": greedy}, 0, "en")
    assert "⚠" not in table  # at temperature 0 it is exact
    for rule, temperature in (("greedy", 1.0), ("lossless", 0.0), ("typical", 0.0)):
        chosen = replace(trace, config=replace(trace.config, verify=rule, temperature=temperature))
        for lang, own, drawn in (("en", "own choice", "drawn"), ("zh-CN", "自己的选择", "抽到")):
            end = verdicts_beside({rule: chosen}, 0, lang).split("<td>")[3]
            assert own in end
            assert drawn not in end
    assert "must at temperature 0" in verdicts_beside({"greedy": greedy, "lossless": greedy}, 0, "en")
    assert "try another round" in verdicts_beside({"lossless": trace, "typical": typical}, 0, "en")
    shorter = replace(typical, rounds=(replace(trace.rounds[0], path=()),))
    differ = verdicts_beside({"lossless": trace, "typical": shorter}, 0, "en")
    assert "try another round" not in differ
    assert "Not for this draft" in differ
    chain = tree_trace([(0,), (0, 0)])
    assert "Not for this draft" not in verdicts_beside({"lossless": chain}, 0, "en")
    other = replace(trace, rounds=(replace(trace.rounds[0], draft=replace(trace.rounds[0].draft, q=(0.5,) * 6)),))
    assert "not quite the same" in verdicts_beside({"lossless": trace, "typical": other}, 0, "en")


def test_a_large_tree_stays_small_enough_to_send():
    large = tree_trace(of_profile((10, 28, 24, 2)), path=(0, 10), tried=(38,), ids=24)
    figure = len(tree_mask.mask(large, 0, 38, "en").to_json())
    lists = [tree_tables.paths(large, 0, "en"), tree_tables.rows(large, 0, "en"), tree_heads.levels(large, 0, 38, "en")]
    assert all('tabindex="0"' in html and "max-height" in html for html in lists[:2])  # long: seen to go on
    assert figure < 60_000
    assert sum(map(len, lists)) < 45_000
    assert large.rounds[0].draft.tokens[-1] == FIRST + 63

"""The Tree tab: what it shows of a round, editing a tree, and one draft under every rule, on the real pair."""

import json
import re
from dataclasses import replace

import pytest

from specviz.choices import of_profile
from specviz.config import VERIFIERS
from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES
from specviz.models.tree_presets import read_tree, write_tree
from specviz.trace import Kind
from specviz.ui import message, settings, step_handlers, tree_edit, tree_handlers, whatif
from specviz.ui.options import Options
from specviz.ui.place import read_place
from specviz.ui.runner import Runner
from tests.trees import tree_trace

RUNS = pytest.mark.pair
SMALL = [(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 1, 0)]
TEXT = write_tree(SMALL)


@pytest.fixture
def trace():
    return tree_trace(SMALL, path=(0, 3), tried=(2, 5))


def place(trace, position="", index=0):
    return f"{message.run_id(trace)}/{index}/{position}"


def test_rounds_of_trees_come_with_their_layout(trace, sample):
    whole = message.whole(trace)["trace"]["rounds"][0]
    assert whole["layout"]["x"] == [1, 1, 2, 2, 2, 3]
    assert whole["layout"]["final"][0] == 3
    assert message.delta(trace.cut(0), trace)["append"]["rounds"] == [whole]
    assert not any("layout" in r for r in message.whole(sample)["trace"]["rounds"])  # chains need none


def test_a_round_of_64_nodes_is_small_enough_to_send():
    large = tree_trace(of_profile((10, 28, 24, 2)), path=(0, 10), tried=(38,), ids=24)
    sent = len(json.dumps(message.delta(large.cut(0), large)))
    told, mask, *lists = tree_handlers.panels(large, place(large, 38), "zh-CN")
    assert sent + len(mask["value"].to_json()) + len(json.dumps([told, *lists])) < 200_000


def test_the_place_on_the_board(trace):
    r = trace.rounds[0]
    assert read_place(trace, place(trace)) == (r, None)
    assert read_place(trace, place(trace, 5)) == (r, 5)
    assert read_place(trace, place(trace, 6)) == (r, 6)  # the final token
    assert read_place(trace, place(trace, 7)) == (r, None)
    wrong = ("", "1/0/0", place(trace, index=1), place(trace, index=-1), place(trace, "x"), None, 7, "9" * 99)
    assert all(read_place(trace, text) is None for text in wrong)
    assert read_place(None, place(trace)) is None


def test_the_panels_follow_the_selected_node(trace):
    for lang in LANGUAGES:
        told, mask, *lists = tree_handlers.panels(trace, place(trace, 3), lang)
        assert mask["visible"] is True
        assert all("sv-p-on" in html for html in (lists[0], lists[2]))
        assert {"en": "node 4", "zh-CN": "节点 4"}[lang] in told
        assert "<img" not in "".join([told, *lists])
        told, mask, *lists = tree_handlers.panels(trace, place(trace), lang)
        assert not any("sv-p-on" in html for html in lists)
    told, mask, *_ = tree_handlers.panels(trace, place(trace, 6), "en")
    assert "was drawn instead" in told
    assert "shapes" not in json.loads(mask["value"].to_json())["layout"]


def test_there_is_nothing_to_show_yet(trace):
    for shown, at in ((None, ""), (trace, "1/0/"), (trace.cut(0), place(trace, index=-1))):
        told, mask, *lists = tree_handlers.panels(shown, at, "en")
        assert "Press Run" in re.sub("press", "Press", told)
        assert mask["visible"] is False
        assert lists == ["", "", ""]


def test_a_chain_is_a_tree_too(sample):
    for r in sample.rounds:
        _, _, paths, _, rows = tree_handlers.panels(sample, place(sample, 0, r.index), "en")
        if r.draft.tokens:
            assert paths.count("<li") == 1
            assert rows.count("<tr") == len(r.draft.tokens) + 2


def test_branches_come_and_go(trace):
    r = trace.rounds[0]
    edit = (TEXT, 5, trace, r)
    assert set(read_tree(tree_edit.add_branch(*edit, None))) - set(SMALL) == {(2,)}
    assert set(read_tree(tree_edit.add_branch(*edit, 3))) - set(SMALL) == {(0, 1, 1)}
    assert set(read_tree(tree_edit.add_branch(*edit, 6))) - set(SMALL) == {(0, 1, 1)}  # where the path ends
    assert set(SMALL) - set(read_tree(tree_edit.remove_branch(*edit, 3))) == {(0, 1), (0, 1, 0)}
    assert set(SMALL) - set(read_tree(tree_edit.remove_branch(*edit, 0))) == {(0,), (0, 0), (0, 1), (0, 1, 0)}
    assert read_tree(tree_edit.add_branch(write_tree([(0,), (2,)]), 5, None, None, None)) == ((0,), (1,), (2,))


def refusal(change, *args):
    with pytest.raises(SpecvizError) as caught:
        change(*args)
    for lang in LANGUAGES:
        assert 'role="alert"' in tree_edit.problem(caught.value, lang)
    return caught.value.key


def test_edits_that_cannot_be(trace):
    r = trace.rounds[0]
    assert refusal(tree_edit.remove_branch, TEXT, 5, trace, r, None) == "ui.branch_none"
    assert refusal(tree_edit.remove_branch, "[[1]]", 5, trace, r, 0) == "ui.branch_missing"
    assert refusal(tree_edit.add_branch, "[[1]]", 5, trace, r, 0) == "ui.branch_missing"
    with pytest.raises(SpecvizError, match="<b>x</b>"):  # the token's name
        tree_edit.remove_branch("[[0]]", 5, trace, r, 1)
    assert refusal(tree_edit.remove_branch, "[[1]]", 5, trace, r, 1) == "ui.branch_last"
    assert refusal(tree_edit.add_branch, "[[1]", 5, trace, r, None) == "ui.tree_syntax"
    assert refusal(tree_edit.add_branch, None, 5, trace, r, None) == "ui.not_text"
    assert refusal(tree_edit.add_branch, "", "five", trace, r, None) == "errors.number"
    assert refusal(tree_edit.of_name, ["x"], TEXT) == "errors.choice"
    assert refusal(tree_edit.of_size, "many", TEXT) == "errors.number"
    assert tree_edit.of_size(None, TEXT) == TEXT
    deep = write_tree([(0,) * n for n in range(1, 17)])
    at = tree_trace([(0,) * n for n in range(1, 17)])
    assert refusal(tree_edit.add_branch, deep, 5, at, at.rounds[0], 15) == "errors.tree_depth"


def test_a_chain_becomes_a_tree(sample):
    r = sample.rounds[0]
    grown = read_tree(tree_edit.add_branch("", 3, sample, r, 0))
    assert grown == ((0,), (0, 0), (0, 1), (0, 0, 0))


def test_ranks_that_were_left_out_stay_left_out():
    trace = tree_trace([(0,), (2,), (2, 1)])
    grown = read_tree(tree_edit.add_branch("[[0],[2],[2,1]]", 5, trace, trace.rounds[0], 2))
    assert (2, 1, 0) in grown


def test_names_and_sizes():
    for name in ("chain", "small", "published-63"):
        assert tree_edit.name_of(tree_edit.of_name(name, "[[0]]")) == name
    assert tree_edit.of_name("own", TEXT) == TEXT
    assert read_tree(tree_edit.of_name("own", "")) == ((0,), (1,), (0, 0))
    assert [tree_edit.name_of(text) for text in (TEXT, "{", None, "")] == ["own", "own", "own", "chain"]
    assert [tree_edit.size_of(text) for text in (TEXT, "{", None, "")] == [6, None, None, None]


FIELDS = {"tree": TEXT, "method": "skip", "k": 5, "nodes": 12, "branch": 4, "siblings": "fixed", "temperature": 0.8}


def said(trace=None, position=None, **values):
    r = trace and trace.rounds[0]
    return [tree_edit.in_words(FIELDS | values, trace, r, position, lang) for lang in LANGUAGES]


def test_what_will_be_drafted_in_words():
    assert "6 nodes on 3 levels: 2 · 3 · 1" in said()[0]
    assert "chain: up to 5" in said(tree="", method="draft")[0]
    assert "drafts none" in said(method="lookup")[0]
    assert "12 most promising" in said(tree="", method="eagle")[0]
    wrong, falsch = said(tree="[[0]", method="medusa")
    assert 'role="alert"' in wrong
    assert "such as [[0],[1],[0,0]]" in wrong
    assert "例如 [[0],[1],[0,0]]" in falsch
    assert "delimiter" not in wrong + falsch  # nothing of the parser's
    assert all(one != other for one, other in [said(), said(tree="", method="eagle")])


def test_run_is_only_asked_for_where_it_changes_something(trace):
    for lang, press in enumerate(("Press Run", "按“运行”")):
        assert press in said()[lang]
        assert press not in said(trace)[lang]
        assert press in said(trace, tree="[[0],[1]]")[lang]
        assert press in said(trace, method="medusa")[lang]


def test_where_a_branch_would_be_added(trace):
    node = re.escape(tree_edit.markup(tree_edit.name(tree_edit.vocabulary(trace), trace.rounds[0].draft.tokens[0])))
    assert "No node is selected" in said(trace)[0]
    assert re.search(f"adds one more after “{node}”", said(trace, 0)[0])
    assert "No node is selected" in said(trace, tree="")[0]
    assert "Add a branch" not in said(trace, 0, tree="[[1]]")[0]  # it would be refused
    refused = tree_trace(SMALL)
    assert "”" in said(refused, 6)[0]
    assert "No node" not in said(refused, 6)[0]  # the final token is selected, and stands at the root


@pytest.mark.parametrize(("siblings", "words"), [("distinct", "only one child"), ("iid", "all the same token")])
def test_drawn_siblings_at_temperature_0(siblings, words):
    assert words in said(siblings=siblings, temperature=0)[0]
    assert "取最可能的" in said(siblings=siblings, temperature=0)[1]
    assert words not in said(siblings=siblings)[0]
    assert words not in said(siblings=siblings, temperature=0, method="medusa")[0]  # it never draws them


def test_a_chain_says_what_a_tree_is_good_for(sample, trace):
    told = tree_handlers.panels(sample, place(sample), "en")[0]
    assert "This run drafts a chain" in told
    assert "Choose a shape and press Run" in told
    for method, way in (("eagle", "Set the number of nodes"), ("lookup", "Choose somebody else")):
        other = replace(sample, config=replace(sample.config, method=method))
        assert way in tree_handlers.panels(other, place(other), "en")[0]
    assert "drafts a chain" not in tree_handlers.panels(trace, place(trace), "en")[0]


def run(runner, values, shown=None, session="tree", **options):
    return list(step_handlers.run(runner, [values[name] for name in settings.FIELDS], shown, session, **options))


def test_tokens_that_could_have_been_drafted_at_a_node(trace):
    choices = whatif.token_choices(trace, 1, 6)  # node 5 continues node 3
    assert choices[0][1] == trace.rounds[0].draft.tokens[5]
    assert {id for _, id in choices} == set(trace.rounds[0].detail[4].ids)


def test_another_k_is_refused_where_the_tree_decides(trace):
    for lang in LANGUAGES:
        (update,) = whatif.fork(Runner(Options()), trace, 1, "k", 2, 1, lang, "tree-fork")
        assert update[0]["value"]["status"]["key"] == "ui.k_of_tree"
    grown = replace(trace, config=replace(trace.config, method="eagle", tree=(), nodes=8))
    assert whatif.changed(grown, 1, "k", 2, 1)[1].k == 2  # there it says how deep the tree may grow


@RUNS
def test_a_what_if_at_a_node(runner, tree_values):
    trace = run(runner, tree_values)[-2][1]
    *_, last, _ = whatif.fork(runner, trace, 1, "u", 0.999, 1, "en", "tree-fork")
    forked = last[1].rounds[0]
    assert forked.draft.tokens == trace.rounds[0].draft.tokens
    assert forked.verdicts[0].u == 0.999


@pytest.fixture
def tree_values(values):
    return values | {"tree": write_tree(of_profile((3, 3, 2))), "temperature": 0.8, "max_new_tokens": 6}


@RUNS
def test_a_tree_runs_and_steps_like_a_chain(runner, tree_values):
    trace = run(runner, tree_values)[-2][1]
    assert len(trace.generated) == 6
    assert len(trace.rounds[0].draft.tokens) == 8
    first = run(runner, tree_values, one_round=True)[-2][1]
    second = run(runner, tree_values, first, one_round=True)[-2][1]
    assert [r.emitted for r in second.rounds] == [r.emitted for r in trace.rounds[:2]]
    chain = run(runner, tree_values | {"method": "none"}, trace)[-2][
        1
    ]  # the tree stays in its field, and does not count
    assert chain.config.tree == ()


@RUNS
def test_one_draft_under_every_rule(runner, tree_values):
    trace = run(runner, tree_values)[-2][1]
    updates = list(tree_handlers.compare(runner, trace, place(trace), "en", "tree"))
    stage, table, compared, run_button, *_ = updates[-1]
    assert stage["status"] is None
    assert run_button["interactive"] is True
    assert (table.count("✓ lossless"), table.count("⚠ lossy")) == (1, 2)
    _, index, found = compared
    assert set(found) == set(VERIFIERS) - {"block"}
    drafts = {r.draft for r in (one.rounds[index] for one in found.values())}
    assert len(drafts) == 1
    assert found["lossless"].rounds[0].path == trace.rounds[0].path
    assert found["lossless"].rounds[0].final == trace.rounds[0].final
    assert found["typical"].rounds[0].final.kind in (Kind.TARGET, Kind.BONUS)
    again, _ = tree_handlers.compared_again(trace, compared, "zh-CN")
    assert "有损" in again
    other = tree_trace(SMALL)
    assert tree_handlers.compared_again(other, compared, "en") == ("", None)


@RUNS
def test_a_chain_is_also_judged_as_a_block(runner, values):
    trace = run(runner, values | {"max_new_tokens": 4, "temperature": 1.0})[-2][1]
    *_, last = tree_handlers.compare(runner, trace, place(trace, index=0), "en", "tree")
    assert set(last[2][2]) == set(VERIFIERS)
    assert last[1].count("✓ lossless") == 2


def test_nothing_to_compare_is_said_on_the_stage(runner, sample):
    for trace, at in ((None, ""), (sample, "1/2/3")):
        (update,) = tree_handlers.compare(runner, trace, at, "en", "tree")
        assert update[0]["status"]["key"] == "ui.nothing_to_compare"
        assert update[3]["interactive"] is True

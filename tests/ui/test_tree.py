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
from specviz.ui import message, samples, settings, step_handlers, tree_edit, tree_handlers, whatif
from specviz.ui.options import Options
from specviz.ui.place import read_branch, read_place
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
        assert len(json.loads(mask["value"].to_json())["layout"]["shapes"]) == 2  # its row and its column
        assert all('data-node="3"' in html for html in lists)  # by which the browser marks it
        assert {"en": "node 4", "zh-CN": "节点 4"}[lang] in told
        assert "<img" not in "".join([told, *lists])
    told, mask, *_ = tree_handlers.panels(trace, place(trace, 6), "en")
    assert "was drawn instead" in told
    assert "shapes" not in json.loads(mask["value"].to_json())["layout"]


def test_a_node_that_was_not_drafted_yet(trace):
    at = place(trace) + "/0.1.2"
    assert read_branch(at) == (0, 1, 2)
    assert read_place(trace, at) == (trace.rounds[0], None)
    assert [read_branch(text) for text in (place(trace, 3), "", None, place(trace) + "/0..2")] == [()] * 4
    told, mask, *_ = tree_handlers.panels(trace, at, "en")
    assert "level 3, no. 3. It was not run yet" in told
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


def at(trace, position=None):
    return tree_edit.selected(trace, place(trace, "" if position is None else position))


def test_branches_come_and_go(trace):
    def added(position):
        return set(read_tree(tree_edit.add_branch(TEXT, 5, at(trace, position)))) - set(SMALL)

    def removed(position):
        return set(SMALL) - set(read_tree(tree_edit.remove_branch(TEXT, 5, at(trace, position))))

    assert added(None) == {(2,)}
    assert added(3) == {(0, 1, 1)}
    assert added(6) == {(0, 1, 1)}  # where the path ends
    assert removed(3) == {(0, 1), (0, 1, 0)}
    assert removed(0) == {(0,), (0, 0), (0, 1), (0, 1, 0)}
    nothing = tree_edit.selected(None, "")
    assert read_tree(tree_edit.add_branch(write_tree([(0,), (2,)]), 5, nothing)) == ((0,), (1,), (2,))


def test_a_branch_goes_on_from_one_that_was_not_run_yet(trace):
    grown = tree_edit.add_branch(TEXT, 5, at(trace))
    chosen = tree_edit.selected(trace, place(trace) + "/2")
    longer = tree_edit.add_branch(grown, 5, chosen)
    assert set(read_tree(longer)) - set(SMALL) == {(2,), (2, 0)}
    assert read_tree(tree_edit.remove_branch(longer, 5, chosen)) == tuple(sorted(SMALL, key=lambda p: (len(p), p)))
    told = tree_edit.in_words(FIELDS | {"tree": longer}, trace, chosen, "en")
    assert "one more after the selected node (level 1, no. 3)" in told


def refusal(change, *args):
    with pytest.raises(SpecvizError) as caught:
        change(*args)
    for lang in LANGUAGES:
        assert 'role="alert"' in message.problem(caught.value, lang)
    return caught.value.key


def test_edits_that_cannot_be(trace):
    assert refusal(tree_edit.remove_branch, TEXT, 5, at(trace)) == "ui.branch_none"
    assert refusal(tree_edit.remove_branch, "[[1]]", 5, at(trace, 0)) == "ui.branch_missing"
    assert refusal(tree_edit.add_branch, "[[1]]", 5, at(trace, 0)) == "ui.branch_missing"
    with pytest.raises(SpecvizError, match="<b>x</b>"):  # the token's name
        tree_edit.remove_branch("[[0]]", 5, at(trace, 1))
    assert refusal(tree_edit.remove_branch, "[[1]]", 5, at(trace, 1)) == "ui.branch_last"
    assert refusal(tree_edit.add_branch, "[[1]", 5, at(trace)) == "ui.tree_syntax"
    assert refusal(tree_edit.add_branch, None, 5, at(trace)) == "ui.not_text"
    assert refusal(tree_edit.add_branch, "", "five", at(trace)) == "errors.number"
    assert refusal(tree_edit.of_name, ["x"], TEXT) == "errors.choice"
    assert refusal(tree_edit.of_size, "many", TEXT) == "errors.number"
    assert tree_edit.of_size(None, TEXT) == TEXT
    deep = [(0,) * n for n in range(1, 17)]
    assert refusal(tree_edit.add_branch, write_tree(deep), 5, at(tree_trace(deep), 15)) == "errors.tree_depth"


def test_a_chain_becomes_a_tree(sample):
    grown = read_tree(tree_edit.add_branch("", 3, at(sample, 0)))
    assert grown == ((0,), (0, 0), (0, 1), (0, 0, 0))


def test_ranks_that_were_left_out_stay_left_out():
    trace = tree_trace([(0,), (2,), (2, 1)])
    grown = read_tree(tree_edit.add_branch("[[0],[2],[2,1]]", 5, at(trace, 2)))
    assert (2, 1, 0) in grown


def test_an_edited_tree_is_previewed(trace, sample):
    def shape(shown=trace, **values):
        return tree_edit.preview(FIELDS | values, shown, place(shown) if shown else "")

    assert shape() is None  # as it was run
    longer = shape(tree=tree_edit.add_branch(TEXT, 5, at(trace, 3)))
    assert longer["run"] == message.run_id(trace)
    assert longer["round"] == 0
    assert longer["choices"][-1] == (0, 1, 1)
    assert longer["parents"][-1] == 3
    assert longer["same"] == [0, 1, 2, 3, 4, 5, None]
    assert len(longer["layout"]["x"]) == 7
    shorter = shape(tree=tree_edit.remove_branch(TEXT, 5, at(trace, 0)))
    assert shorter["same"] == [1, 4]  # the second child of the text, and its own first
    assert shape(tree="")["parents"] == (-1, 0, 1, 2, 3)  # a chain of k
    assert shape(sample, tree=TEXT)["same"][:2] == [0, None]  # the chain's first token is there in the tree
    assert shape(sample, tree="") is None
    assert shape(None, tree=TEXT) is None
    assert shape(tree="[[0") is None
    assert shape(tree="[[0]]", method="lookup") is None  # it drafts no tree
    assert shape(tree="[[0]]", method="draft")["same"] == [None]  # its tokens would be other ones
    assert shape(tree="[[0]]", pair="another")["same"] == [None]
    elsewhere = tree_edit.preview(FIELDS | {"tree": "[[0]]"}, trace, "")
    assert (elsewhere["round"], elsewhere["same"]) == (None, [None])


def test_who_opens_the_tab_first_finds_a_tree():
    runner = Runner(Options())
    name = samples.names()[0]
    values = step_handlers.show(samples.sample(name), runner)[2:]
    stage, trace, *controls = tree_handlers.first_tree(name, values, runner)
    assert stage["play"] is True
    assert trace.config.is_tree
    assert controls[settings.FIELDS.index("tree")] == write_tree(trace.config.tree)
    mine = ["My own prompt", *values[1:]]
    assert tree_handlers.first_tree(name, mine, runner) is None
    assert tree_handlers.first_tree("", values, runner) is None  # a run of their own
    for sent in (None, 7, ["sky"], {"a": 1}):
        assert tree_handlers.first_tree(sent, values, runner) is None
    assert tree_handlers.first_tree("tree", controls, runner) is None  # there already


def test_names_and_sizes():
    for name in ("chain", "small", "published-63"):
        assert tree_edit.name_of(tree_edit.of_name(name, "[[0]]")) == name
    assert tree_edit.of_name("own", TEXT) == TEXT
    assert read_tree(tree_edit.of_name("own", "")) == ((0,), (1,), (0, 0))
    assert [tree_edit.name_of(text) for text in (TEXT, "{", None, "")] == ["own", "own", "own", "chain"]
    assert [tree_edit.size_of(text) for text in (TEXT, "{", None, "")] == [6, None, None, None]


FIELDS = {"tree": TEXT, "method": "skip", "k": 5, "nodes": 12, "branch": 4, "siblings": "fixed", "temperature": 0.8}


def said(trace=None, position=None, **values):
    chosen = at(trace, position) if trace else tree_edit.selected(None, "")
    return [tree_edit.in_words(FIELDS | values, trace, chosen, lang) for lang in LANGUAGES]


def test_what_will_be_drafted_in_words():
    assert "6 nodes on 3 levels: 2 · 3 · 1" in said()[0]
    assert "1 node on 1 level: 1." in said(tree="[[0]]")[0]
    assert "3 层共 6 个节点：2 · 3 · 1。" in said()[1]
    assert "chain: up to 5" in said(tree="", method="draft")[0]
    assert "drafts none" in said(method="lookup")[0]
    assert "12 most promising" in said(tree="", method="eagle")[0]
    wrong, falsch = said(tree="[[0]", method="medusa")
    assert 'role="alert"' in wrong
    assert "such as [[0],[1],[0,0]]" in wrong
    assert "例如 [[0],[1],[0,0]]" in falsch
    assert "delimiter" not in wrong + falsch  # nothing of the parser's
    assert all(one != other for one, other in [said(), said(tree="", method="eagle")])
    for heads, temperature in (("temperature 0.", 0), ("measured at temperature 0.7", 0.8)):
        assert heads in said(method="medusa", temperature=temperature)[0]


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

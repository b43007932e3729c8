"""Trees by name, by size and from JSON, with sentences for what is none."""

import json

import pytest

from specviz.choices import check_choices
from specviz.errors import SpecvizError
from specviz.models import tree_presets

TABLE = {
    "accuracy": [[0.6, 0.2, 0.1], [0.4, 0.15]],
    "accuracy_0.7": [[0.5], [0.3]],
    "trees": {"8": [[0], [1]], "16": [[0], [1], [0, 0]]},
}


@pytest.fixture
def fresh():
    """Nothing remembered of the files that were read, before and after."""

    def forget():
        tree_presets.accuracy.cache_clear()
        tree_presets.presets.cache_clear()

    forget()
    yield
    forget()


@pytest.fixture
def table(fresh, tmp_path, monkeypatch):
    (tmp_path / "trees.json").write_text(json.dumps(TABLE), encoding="utf-8")
    monkeypatch.setattr(tree_presets, "TREES", tmp_path / "trees.json")


@pytest.fixture
def nothing(fresh, tmp_path, monkeypatch):
    monkeypatch.setattr(tree_presets, "TREES", tmp_path / "none.json")


def refusal(option):
    with pytest.raises(SpecvizError) as caught:
        tree_presets.tree_of_option(option)
    assert len(str(caught.value)) < 400
    return caught.value.key


def test_presets_with_and_without_heads(table):
    names = list(tree_presets.presets())
    assert names == ["chain", "small", "best-8", "best-16", "published-63"]
    assert tree_presets.presets()["best-16"] == ((0,), (1,), (0, 0))
    assert tree_presets.presets()["chain"] == ()
    assert len(tree_presets.presets()["published-63"]) == 63


def test_the_best_tree_of_a_size(table):
    assert tree_presets.tree_of_option("budget:3") == ((0,), (1,), (0, 0))
    assert tree_presets.forecast(((0,), (0, 0))) == pytest.approx(1 + 0.6 + 0.6 * 0.4)
    assert tree_presets.forecast(((0,), (0, 0), (0, 0, 0))) is None  # deeper than what was measured
    assert tree_presets.forecast(((7,),)) is None
    assert tree_presets.forecast(((0,), (0, 0)), greedy=False) == pytest.approx(1 + 0.5 + 0.5 * 0.3)
    assert [refusal(f"budget:{n}") for n in ("0", "257", "x", "", "-1", "9" * 30)] == [
        "errors.range_int", "errors.range_int", "errors.number", "errors.number", "errors.number", "errors.number",
    ]  # fmt: skip


def test_without_measured_heads_nothing_is_made_up(nothing):
    assert list(tree_presets.presets()) == ["chain", "small", "published-63"]
    assert tree_presets.accuracy() is None
    assert tree_presets.forecast(((0,),)) is None
    assert refusal("budget:8") == "errors.tree_budget"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("[[1],[0],[0,1]]", ((0,), (1,), (0, 1))),
        ('{"choices": [[0]]}', ((0,),)),
        ('{"tree": [[0]], "note": "mine"}', ((0,),)),
        ("", ()),
        (" \n", ()),
        ("[]", ()),
    ],
)
def test_trees_as_json(text, tree, tmp_path):
    assert tree_presets.read_tree(text) == tree
    assert tree_presets.read_tree(tree_presets.write_tree(tree)) == tree
    file = tmp_path / "tree.json"
    for encoding in ("utf-8", "utf-8-sig"):  # some editors begin with a mark
        file.write_text(text, encoding=encoding)
        assert tree_presets.tree_of_option(str(file)) == tree


@pytest.mark.parametrize(
    ("text", "key", "names"),
    [
        ("[[0],", "errors.tree_json", "JSON"),
        ("[" * 10_000, "errors.tree_json", "JSON"),
        ("1" * 5_000, "errors.tree_json", "JSON"),
        ('{"other": 1}', "errors.tree_form", "None"),
        ("[[0],[0,0,0]]", "errors.tree_prefix", "[0, 0, 0]"),
        ("[[0],[0]]", "errors.tree_twice", "[0]"),
        ("[[0],[true]]", "errors.tree_form", "[True]"),
        ("[[0],[99]]", "errors.tree_rank", "[99]"),
        ("7", "errors.tree_form", "7"),
        (" " * 30_000 + "[]", "errors.tree_text", ""),
        ("[[0]," * 5_000, "errors.tree_text", ""),
    ],
)
def test_the_wrong_entry_is_named(text, key, names, tmp_path):
    with pytest.raises(SpecvizError) as caught:
        tree_presets.read_tree(text)
    assert caught.value.key == key
    assert names in str(caught.value)
    file = tmp_path / "tree.json"
    file.write_text(text, encoding="utf-8")
    assert refusal(str(file)) == key


def test_what_is_neither_name_nor_file(tmp_path):
    assert refusal("nope") == "errors.tree_unknown"
    assert refusal(str(tmp_path)) == "errors.tree_unknown"
    assert refusal("[[0],[1]]" * 100) == "errors.tree_unknown"  # longer than a file's name can be
    assert refusal("~nobody-of-this-name/tree.json") == "errors.tree_unknown"
    binary = tmp_path / "tree.bin"
    binary.write_bytes(b"\xff\xfe\x00")
    assert refusal(str(binary)) == "errors.tree_file"
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(2**36)  # takes no room on the disk, but in memory
    assert refusal(str(huge)) == "errors.tree_text"


def test_the_longest_tree_can_be_written_and_read():
    longest = check_choices([(63,) * n for n in range(1, 17)] + [(i, j) for i in range(15) for j in range(15)] + [
        (i,) for i in range(15)
    ])  # fmt: skip
    assert len(longest) == 256
    assert tree_presets.read_tree(tree_presets.write_tree(longest)) == longest

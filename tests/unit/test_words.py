"""Words, numbers and plural forms: the same care in both languages."""

import json
import re

import pytest

from specviz.i18n import ASSETS, LANGUAGES, counted, strings

SCREEN = ("stage", "ui", "views", "handout", "tour", "learn")  # what people read on the page, and not in a console


def area(lang, name):
    return json.loads((ASSETS / "locales" / lang / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("lang", "n", "said"),
    [
        ("en", 0, "0 more nodes were not reached."),
        ("en", 1, "1 more node was not reached."),
        ("en", 2, "2 more nodes were not reached."),
        ("zh-CN", 1, "另有 1 个节点未到达。"),
        ("zh-CN", 2, "另有 2 个节点未到达。"),
    ],
)
def test_things_are_counted_in_the_right_number(lang, n, said):
    assert counted(lang, "handout.left", n) == said


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_singular_has_its_plural(lang):
    words = strings(lang)
    for key in words:
        if key.endswith("_one"):
            assert key.removesuffix("_one") in words, key


@pytest.mark.parametrize("name", SCREEN)
def test_english_has_one_kind_of_apostrophe_and_quotation_mark(name):
    for key, text in area("en", name).items():
        assert not re.search(r"\w'\w|\"", text), key


@pytest.mark.parametrize("name", SCREEN)
def test_chinese_has_chinese_punctuation(name):
    for key, text in area("zh-CN", name).items():
        assert not re.search(r"[\u4e00-\u9fff][,;:?!.]|[,;?!][\u4e00-\u9fff]", text), key
        assert not re.search(r"[\u4e00-\u9fff][A-Za-z]{3,}[\u4e00-\u9fff]", text), (
            f"{key}: no space around a foreign word"
        )


def test_one_term_for_one_thing_in_chinese():
    words = {key: text for key, text in strings("zh-CN").items() if isinstance(text, str)}
    for term, wrong in (("块验证", "整块判定"), ("词元", "标记"), ("推测解码", "投机解码"), ("草稿模型", "起草模型")):
        assert any(term in text for text in words.values())
        assert [key for key, text in words.items() if wrong in text] == []


def test_the_chinese_prompt_is_among_the_examples_in_both_languages():
    for lang in LANGUAGES:
        words = area(lang, "ui")
        assert words["prompt_quantum"] == words["example_quantum"] == "请解释量子计算的基本原理"
        assert words["note_english"]

"""The font of formulas: it has all that the lessons write, and their page carries it."""

import re

from specviz.bundle import MATH_FONT, math_font
from specviz.export import lesson_page


def test_the_rule_needs_no_other_file():
    assert MATH_FONT.stat().st_size < 60_000
    assert re.findall(r"url\((\w+:[^;]+);", math_font()) == ["data:font/woff2"]
    assert (MATH_FONT.parent / "OFL.txt").read_text(encoding="utf-8").count("SIL OPEN FONT LICENSE Version 1.1") == 1


def test_an_exported_lesson_carries_it_and_its_policy_lets_it_in():
    page = lesson_page("accept-or-reject", "en").html
    assert page.count(math_font()) == 1
    assert re.search(r"default-src 'none';[^\"]*; font-src data:\"", page)

"""The exported page as a file: what is in it, what is escaped, how large it may become."""

import io
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from specviz import cli, export
from specviz.bundle import script_json
from specviz.choices import of_profile
from specviz.errors import SpecvizError
from specviz.i18n import ASSETS, LANGUAGES
from specviz.metrics import measure_trace
from specviz.trace import Prompt, Status, Token
from specviz.trace_json import dump_trace, load_trace
from specviz.views.handout import rounds_list
from tests.trees import tree_trace

SKY = ASSETS / "traces" / "sky.json"
HOSTILE = '</script><img src=x onerror="alert(1)">\u2028\u2029\ud800<!--'


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text of those that are asked for."""

    def __init__(self, html):
        super().__init__()
        self.found, self.text, self.open = [], {}, []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self.open.append(dict(attributes).get("id") or tag)

    def handle_endtag(self, tag):
        if self.open:
            self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data


@pytest.fixture(scope="module")
def sky():
    return load_trace(SKY.read_bytes())


def test_the_page_holds_the_trace_and_asks_for_nothing(sky):
    page = export.trace_page(sky, "en")
    elements = Elements(page.html)
    data = json.loads(elements.text["sh-data"])
    assert data["trace"]["rounds"] == json.loads(SKY.read_text(encoding="utf-8"))["rounds"]
    assert data["trace"] == json.loads(dump_trace(sky))
    assert data["lang"] == "en"
    policy = next(a["content"] for _, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert policy.count("sha256-") == 2
    assert not any("src" in a or "href" in a for _, a in elements.found)
    assert not re.search(r"@import|url\((?!data:)", page.html.split("</style>")[0])
    assert page.size < 2_000_000


def test_foreign_text_stays_text(sky):
    vocab = (Token(sky.vocab[0].id, HOSTILE), *sky.vocab[1:])
    hostile = replace(sky, vocab=vocab, prompt=Prompt(HOSTILE, sky.prompt.tokens))
    hostile = replace(hostile, models=replace(sky.models, target=HOSTILE, draft=HOSTILE))
    clean, page = (Elements(export.trace_page(one, "en").html) for one in (sky, hostile))
    assert [tag for tag, _ in page.found] == [tag for tag, _ in clean.found]
    assert [a.keys() for _, a in page.found] == [a.keys() for _, a in clean.found]
    assert json.loads(page.text["sh-data"])["trace"]["prompt"]["text"] == HOSTILE
    assert export.trace_page(hostile, "en").html.encode("utf-8")  # half a character and all


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_list_says_what_the_trace_says(sky, lang):
    html = rounds_list(sky, lang)
    assert html.count("<section>") == len(sky.rounds)
    for status, sign in ((Status.ACCEPTED, "✓"), (Status.REJECTED, "✗"), (Status.UNREACHED, "–")):
        count = sum(v.status is status for r in sky.rounds for v in r.verdicts)
        assert html.count(f'<tr class="{status}">') == count
        assert html.count(f"<td>{sign} ") == count
    assert f"{measure_trace(sky).tokens_per_round:.2f}" in html


def test_numbers_of_a_gate_by_hand():
    tree = tree_trace(of_profile((2, 1)), path=(0,), tried=())
    row = re.search(r'<tr class="accepted">.*?</tr>', rounds_list(tree, "en"))[0]
    # p = 0.5, q = 1 (a point mass), so the bar is 0.5; u = 0.25
    assert re.findall(r"<td>(.*?)</td>", row) == ["1", "0.50", "0.50", "0.25", "✓ accepted"]


def test_a_large_run_leaves_distributions_out_from_the_end(sky, monkeypatch):
    whole = export.trace_page(sky, "en")
    monkeypatch.setattr(export, "MAX_BYTES", whole.size - 20_000)
    page = export.trace_page(sky, "en")
    assert page.size <= export.MAX_BYTES
    assert 0 < page.left_out < len(sky.rounds)
    kept = [r["detail"] is not None for r in json.loads(Elements(page.html).text["sh-data"])["trace"]["rounds"]]
    assert kept == [True] * (len(kept) - page.left_out) + [False] * page.left_out
    assert page.note in page.html


def test_the_command_writes_it(tmp_path, capsys):
    target = tmp_path / "page.html"
    assert cli.main(["export", str(SKY), "-o", str(target), "--lang", "zh-CN", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures == {"path": str(target), "bytes": target.stat().st_size, "rounds": 16, "left_out": 0}
    assert '<html lang="zh-CN">' in target.read_text(encoding="utf-8")
    assert cli.main(["export", str(SKY)]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")


def test_a_console_that_lacks_characters_changes_nothing(sky, monkeypatch):
    page = export.trace_page(sky, "zh-CN").html
    for more, read in (([], bytes.decode), (["--json"], lambda text: json.loads(text)["html"])):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
        assert cli.main(["export", str(SKY), "--lang", "zh-CN", *more]) == 0
        sys.stdout.flush()
        assert read(raw.getvalue()) == page  # its policy names its scripts by their hashes


@pytest.mark.parametrize("source", ["nowhere.json", "lesson:nothing", "README.md"])
def test_what_cannot_be_exported_is_said(source, capsys):
    assert cli.main(["export", source]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_lesson_has_a_page_with_its_computed_answer(lang):
    from specviz.lessons.book import book

    for lesson in book()["lessons"]:
        page = export.lesson_page(lesson["id"], lang)
        assert page.size < 2_000_000
        told = lesson["texts"][lang]
        assert told["answer"] in page.html
        assert f"<p>{lesson['right'] + 1}. {told['choices'][lesson['right']]}</p>" in page.html
        assert json.loads(Elements(page.html).text["sh-data"])["book"]["lessons"][0]["id"] == lesson["id"]


def test_no_such_lesson():
    with pytest.raises(SpecvizError) as found:
        export.lesson_page("x", "en")
    assert "accept-or-reject" in found.value.values["known"]


def test_half_a_character_can_be_written():
    assert json.loads(script_json("\ud83d")) == "\ud83d"
    script_json(json.loads(dump_trace(load_trace(SKY.read_bytes())))).encode()

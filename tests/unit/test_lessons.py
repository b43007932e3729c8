"""The lessons: both languages, every answer worked out here a second time, every moment, every linked term."""

import math
import re
from pathlib import Path

import pytest

from specviz.i18n import LANGUAGES, strings
from specviz.lessons.book import book, listed
from specviz.lessons.moments import MOMENTS
from specviz.lessons.records import lessons, recorded
from specviz.lessons.texts import FOLDER, glossary, text
from specviz.trace import Kind, Status
from specviz.views.lesson_html import TERM

ALL = lessons()
IDS = [lesson.id for lesson in ALL]
MATH = re.compile(r"\$[^$]+\$")
HOLE = re.compile(r"\{(\w+)\}")
CJK = re.compile(r"[\u3400-\u9fff]")
both = pytest.mark.parametrize("lang", LANGUAGES)
each = pytest.mark.parametrize("lesson", ALL, ids=IDS)


def parts(lang, id):
    said = text(lang, id)
    return [*said.pages, said.question, *said.choices.values(), *said.answers.values(), said.notes]


def words(page):
    """English words, without formulas and links."""
    return len(re.sub(r"\]\(term:[\w-]+\)", "", MATH.sub("", page)).replace("[", "").split())


def test_there_are_twelve_and_each_is_written_in_every_language():
    assert len(IDS) == len(set(IDS)) == 12
    for lang in LANGUAGES:
        assert {file.stem for file in Path(FOLDER / lang).glob("*.md")} == {*IDS, "glossary"}


@each
def test_pages_are_as_many_and_as_long_as_they_should_be(lesson):
    english, chinese = text("en", lesson.id), text("zh-CN", lesson.id)
    assert len(english.pages) == len(chinese.pages) == len(lesson.pages)
    assert 1 <= len(english.pages) <= 3
    for page in english.pages:
        assert 60 <= words(page) <= 150, f"{words(page)} words: {page[:60]}"
    for page in chinese.pages:
        assert 100 <= len(CJK.findall(page)) <= 300, f"{len(CJK.findall(page))} characters: {page[:30]}"


@both
@each
def test_a_lesson_uses_the_same_numbers_formulas_and_keys_in_each_language(lesson, lang):
    english, here = parts("en", lesson.id), parts(lang, lesson.id)
    formulas = [sorted(MATH.findall(" ".join(said))) for said in (english, here)]
    displayed = [[x for x in found if "displaystyle" in x] for found in formulas]
    assert displayed[0] == displayed[1]
    holes = [set(HOLE.findall(MATH.sub("", " ".join(said)))) for said in (english, here)]
    assert holes[0] == holes[1]
    said = text(lang, lesson.id)
    assert said.choices.keys() == text("en", lesson.id).choices.keys()
    assert said.answers.keys() == text("en", lesson.id).answers.keys()
    assert {c.key for c in lesson.asked().choices} == said.choices.keys()
    if "" not in said.answers:  # whatever the next recording brings, there is a reason to tell
        assert said.answers.keys() == said.choices.keys()


@each
def test_no_number_of_the_run_is_written_down(lesson):
    """Every number with a decimal in a lesson is filled in; a version of vLLM and examples from theory are none."""
    for page in parts("en", lesson.id):
        typed = re.findall(r"(?<![\w{.])\d*\.\d+", HOLE.sub("", MATH.sub("", page)))
        assert set(typed) <= {"0.33", ".8", ".1"}, typed


@both
def test_every_linked_term_is_explained_and_every_explained_term_linked(lang):
    entries = glossary(lang)
    assert list(entries) == list(glossary("en"))
    found = set().union(*((id for _, id in TERM.findall(part)) for id in IDS for part in parts(lang, id)))
    assert found == entries.keys()
    for id, entry in entries.items():
        assert entry.term, id
        assert 10 <= len(entry.text) <= 220, id
        assert "{" not in entry.text, id


@both
def test_a_term_is_linked_where_it_first_occurs_with_its_english_name(lang):
    """Chinese texts give the English term in brackets once, at or after the first link."""
    if lang == "en":
        pytest.skip("for other languages")
    pages = {id: "".join(text(lang, id).pages) for id in IDS}
    for id in ("token", "target", "draft", "accepted", "residual", "lossless", "cache", "rollback", "heads", "mask"):
        first = next(page for page in pages.values() if f"(term:{id})" in page)
        assert re.search(rf"\(term:{id}\)（[A-Za-z]", first) or re.search(rf"\[[^\]]*\]\(term:{id}\)（", first), id


@each
def test_moments_exist_and_the_stage_can_go_there(lesson):
    run = lesson.run()
    for place in (*lesson.pages, lesson.ask, lesson.tell):
        index, position = lesson.found(place)
        r = run.rounds[index]
        assert r.detail is not None
        if place.pin or place.phase == "gate":
            assert position is not None
            assert position <= len(r.draft.tokens)
        if place.phase == "gate":
            assert r.verdicts[position].status is not Status.UNREACHED
        if place.phase == "heads":
            assert run.config.method == "medusa"
            assert not r.draft.shape.is_chain


def test_moments_are_what_their_names_say():
    sky = recorded("sky")
    index, i = MOMENTS["rejection"](sky)
    verdicts = [v.status for v in sky.rounds[index].verdicts]
    assert verdicts[:i] == [Status.ACCEPTED] * i
    assert i >= 1
    assert verdicts[i] is Status.REJECTED
    assert verdicts[i + 1 :]
    assert set(verdicts[i + 1 :]) == {Status.UNREACHED}
    index, i = MOMENTS["open_gate"](sky)
    v = sky.rounds[index].verdicts[i]
    assert 0.25 < v.p / v.q < 0.85
    index, i = MOMENTS["leftover"](sky)
    assert sky.rounds[index].final.kind is Kind.RECOVERED
    index, _ = MOMENTS["bonus"](sky)
    assert sky.rounds[index].final.kind is Kind.BONUS
    assert MOMENTS["heads_right"](sky) is None
    assert MOMENTS["branch_taken"](sky) is None
    assert MOMENTS["lossy_gate"](sky) is None
    index, i = MOMENTS["lossy_gate"](recorded("typical"))
    assert recorded("typical").rounds[index].verdicts[i].u is None


# --- the answers, worked out a second time from the trace alone: lesson -> the key and the values that must be right


def one_at_a_time(run, r, _):
    n = len(r.draft.tokens) + 1
    times = sorted(x.times.target for x in run.rounds if len(x.draft.tokens) == n - 1)
    ratio = (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2 / run.baseline_ms
    bounds = [(1, "one"), (2, "two"), (n, "all")]
    return min(bounds, key=lambda b: max(ratio / b[0], b[0] / ratio))[1], {"ratio": f"{ratio:.1f}"}


def draft_and_verify(run, r, _):
    sizes = {len(x.emitted) for x in run.rounds if len(x.draft.tokens) == len(r.draft.tokens)}
    assert 1 <= min(sizes) <= max(sizes) <= len(r.draft.tokens) + 1
    return "one_more", {"low": "1", "high": str(len(r.draft.tokens) + 1)}


def accept_or_reject(_, r, i):
    v = r.verdicts[i]
    assert (v.u < v.p / v.q) == (v.status is Status.ACCEPTED)
    return ("accepted" if v.u * v.q < v.p else "rejected"), {}


def the_leftover(run, r, i):
    here = r.detail[i]
    left = {id: max(0.0, p - q) for id, p, q in zip(here.ids, here.p, here.q, strict=True)}
    best = max(left, key=left.get)
    token = next(t for t in run.vocab if t.id == best)
    asked = next(lesson for lesson in ALL if lesson.id == "the-leftover").asked().values
    missed, p = 1 - here.alpha, r.verdicts[i].p
    assert math.isclose(float(asked["missed"]), missed, abs_tol=0.005)
    assert math.isclose(float(asked["often"]), p + missed * p, abs_tol=0.005)  # through acceptance, and drawn again
    return "token", {"tok": token.text.replace(" ", "␣")}


def nothing_lost(_, r, i):
    here = r.detail[i]
    at = here.ids.index(r.final.token)
    p, q = here.p[at], here.q[at]
    accepted, rejected = q * min(1, p / q), 1 - here.alpha
    assert math.isclose(accepted + rejected * here.r[at], p, abs_tol=1e-5)
    return "p", {}


def how_fast(run, *_):
    alphas = [r.detail[c].alpha for r in run.rounds for c in range(len(r.path) + 1)]
    alphas = [a for a in alphas if a is not None]
    alpha = sum(alphas) / len(alphas)
    steps = [ms for r in run.rounds for ms in r.times.draft]
    c = sum(steps) / len(steps) / run.baseline_ms
    gain = [sum(alpha**i for i in range(k + 1)) / (1 + k * c) for k in range(65)]
    return "k", {"k": str(gain.index(max(gain)))}


def cache_and_rollback(_, r, __):
    accepted = [v for v in r.verdicts if v.status is Status.ACCEPTED]
    assert r.target_rows.kept == r.start + len(accepted)
    return "rows", {"n": str(len(accepted))}


def medusa_heads(run, *_):
    text = [*run.prompt.tokens, *run.generated]
    right: dict[int, list[bool]] = {}
    for r in run.rounds:
        path, node = [], -1
        while node in r.draft.parents:  # the first child of the first child: every head's best guess
            node = r.draft.parents.index(node)
            path.append(r.draft.tokens[node])
        for head, token in enumerate(path, 1):
            if r.start + head - 1 < len(text):
                right.setdefault(head, []).append(text[r.start + head - 1] == token)
    first, last = (sum(right[h]) / len(right[h]) for h in (1, max(right)))
    return ("first" if first > last else "last" if last > first else "same"), {"last": str(max(right))}


def candidate_trees(_, r, node):
    seen = 0
    while node >= 0:
        seen, node = seen + 1, r.draft.parents[node]
    return "nodes", {"n": str(seen)}


def typical_acceptance(run, r, i):
    limit = min(run.config.eps, run.config.delta * math.exp(-r.detail[i].p_entropy))
    assert math.isclose(limit, r.verdicts[i].limit, rel_tol=1e-3)
    return ("accepted" if r.verdicts[i].p > limit else "rejected"), {}


def when_slower(run, *_):
    ms = sum(sum(r.times.draft) + r.times.target + r.times.verify + r.times.commit for r in run.rounds)
    gain = len(run.generated) * run.baseline_ms / ms
    return ("slower" if gain < 0.97 else "faster" if gain > 1.03 else "same"), {}


def in_production(run, *_):
    accepted = sum(v.status is Status.ACCEPTED for r in run.rounds for v in r.verdicts)
    drafts = sum(bool(r.draft.tokens) for r in run.rounds)
    return "length", {"x": f"{1 + accepted / drafts:.2f}", "drafts": str(drafts)}


@each
def test_the_answer_is_right(lesson):
    run, (index, position) = lesson.run(), lesson.found()
    key, values = globals()[lesson.id.replace("-", "_")](run, run.rounds[index], position)
    asked = lesson.asked()
    right = asked.choices[asked.right]
    assert right.key == key
    assert values.items() <= (asked.values | right.values).items()
    shown = [(c.key, tuple(c.values.items())) for c in asked.choices]
    assert 2 <= len(shown) == len(set(shown)) <= 5


@pytest.mark.parametrize("id", ["one-at-a-time", "nothing-lost", "when-slower"])
def test_what_a_lesson_claims_is_what_its_run_shows(id):
    """Three texts stand on the outcome: a wide pass is cheap, nothing is lost, a dear draft is slower."""
    asked = next(lesson for lesson in ALL if lesson.id == id).asked()
    claimed = {"one-at-a-time": ("one", "two"), "nothing-lost": ("p",), "when-slower": ("slower",)}
    assert asked.choices[asked.right].key in claimed[id]


def test_the_book_is_filled_in_and_plain():
    """No hole is left, no formula is left as TeX, and nothing of a token can become markup."""
    for lesson in book()["lessons"]:
        assert 0 <= lesson["right"] < len(lesson["texts"]["en"]["choices"])
        for said in lesson["texts"].values():
            shown = " ".join([*said["pages"], said["question"], *said["choices"], said["answer"], said["notes"]])
            assert not re.search(r"\{\w+\}|\$|\\\w|[\ue000\ue001]|\]\(term:|<script|\*\*", shown), lesson["id"]
            assert shown.count("<math") == shown.count("</math>")
            for token in re.findall(r'class="sl-token">([^<]*)<', shown):
                assert not re.fullmatch(r"[\d.]+", token), token
    assert set(book()["glossary"]) == set(LANGUAGES)


def test_live_settings_can_be_run():
    for lesson in ALL:
        prompt, config = lesson.settings()
        assert prompt
        assert config.max_new_tokens > 0
        assert lesson.tab == ("tree" if config.is_tree else "step")


@both
def test_the_list_has_every_lesson_with_its_computed_answer(lang):
    rows = listed()
    assert [row["id"] for row in rows] == IDS
    for row, lesson in zip(rows, ALL, strict=True):
        assert row["answer"][lang] == row["choices"][lang][lesson.asked().right]
        assert not HOLE.search(row["question"][lang] + row["answer"][lang] + row["reason"][lang])
    assert strings(lang)["learn.tab"]

"""The page before anything runs: the bundled run plays, in the visitor's language, at any width, without the server."""

import pytest

pytestmark = pytest.mark.browser


def test_the_bundled_run_plays_at_once(visit):
    visit.open()
    first = visit.until("s.view.playing && s.cursor > 0")
    assert first["trace"]["rounds"]
    later = visit.until(f"s.cursor > {first['cursor']} + 1")
    assert later["view"]["phase"] in ("draft", "pass", "gate", "outcome", "cache", "commit")


def test_it_plays_on_without_the_server(visit):
    visit.open()
    visit.until("s.cursor > 0")
    visit.page.context.set_offline(True)
    cursor = visit.stage()["cursor"]
    visit.until(f"s.cursor > {cursor} + 1")
    visit.page.context.set_offline(False)
    visit.errors.clear()  # the heartbeat that failed meanwhile


def test_keys_scrubber_and_clicks_move_the_cursor(visit):
    visit.open()
    visit.until("s.cursor > 1")
    host = visit.page.locator("#sv-stage-main .sv-host")
    host.focus()
    visit.page.keyboard.press("Space")
    visit.until("!s.view.playing")
    visit.page.keyboard.press("End")
    end = visit.until("s.view.round === s.trace.rounds.length - 1")["cursor"]
    visit.page.keyboard.press("ArrowLeft")
    visit.until(f"s.cursor === {end} - 1")
    visit.page.keyboard.press("Home")
    visit.until("s.cursor === 0")
    ribbon = visit.page.locator("#sv-stage-main [role=slider]").bounding_box()
    visit.page.mouse.click(ribbon["x"] + ribbon["width"] / 2, ribbon["y"] + ribbon["height"] / 2)
    visit.until("s.view.round > 1 && s.view.round < s.trace.rounds.length - 1")


def test_the_language_switches_and_the_cursor_stays(visit):
    visit.open()
    visit.until("s.cursor > 1")
    visit.page.click("#sv-stage-main .sv-host", position={"x": 5, "y": 5})
    visit.page.locator("#sv-stage-main .sv-host").focus()
    visit.page.keyboard.press("Space")
    visit.until("!s.view.playing")
    cursor = visit.stage()["cursor"]
    visit.page.click("#sv-lang label >> nth=1")
    visit.page.wait_for_function("document.querySelector('#sv-run')?.textContent.includes('运行')")
    assert "由谁起草" in visit.page.inner_text("#sv-method")
    assert "轮" in visit.page.inner_text("#sv-stage-main")
    assert visit.stage()["cursor"] == cursor
    visit.page.click("#sv-lang label >> nth=0")
    visit.page.wait_for_function("document.querySelector('#sv-run')?.textContent.includes('Run')")


SAID = """
globalThis.said = [];
new MutationObserver(() => {
  const text = document.querySelector('#sv-run')?.textContent.trim();
  if (text && text !== said.at(-1)) said.push(text);
}).observe(document, { childList: true, subtree: true, characterData: true });
"""


@pytest.mark.parametrize(
    ("options", "query", "run"),
    [
        ({"locale": "zh-CN"}, "", "运行"),
        ({"locale": "de-DE"}, "", "Run"),
        ({"locale": "en-US"}, "?lang=zh-CN", "运行"),
        ({"locale": "zh-CN"}, "?lang=en", "Run"),
    ],
)
def test_the_first_language(make_visit, options, query, run):
    visit = make_visit(**options)
    visit.page.add_init_script(SAID)
    visit.open(query)
    visit.page.wait_for_function("(run) => document.querySelector('#sv-run')?.textContent.trim() === run", arg=run)
    visit.until("s.cursor > 1")
    assert visit.page.evaluate("said") == [run]  # and no other language for a moment before


@pytest.mark.parametrize("width", [360, 390, 768, 1280, 1920])
def test_nothing_sticks_out(make_visit, width):
    visit = make_visit(width=width).open("?lang=zh-CN")
    visit.until("s.cursor > 2")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_link_fills_in_the_settings_and_runs_nothing(visit):
    visit.open("?prompt=Hello%20%3Cb%3E&k=7&temperature=0.3&seed=9223372036854775807&method=draft")
    visit.page.wait_for_function("document.querySelector('#sv-k input').value === '7'")
    assert visit.page.input_value("#sv-prompt textarea") == "Hello <b>"
    assert visit.page.input_value("#sv-seed textarea") == str(2**63 - 1)
    assert visit.stage()["status"] is None


def test_a_wrong_link_is_said_and_the_page_works(visit):
    visit.open("?k=many")
    said = visit.until("s.status && s.status.kind === 'error'")
    assert said["status"]["key"] == "errors.number"
    assert "k must be a number" in visit.page.inner_text("#sv-stage-main [role=alert]")
    visit.page.click("#sv-lang label >> nth=1")
    visit.page.wait_for_function("document.querySelector('#sv-stage-main [role=alert]').textContent.includes('必须')")
    visit.until("s.cursor > 1")


def test_another_bundled_run_and_reduced_motion(make_visit):
    visit = make_visit(reduced_motion="reduce").open()
    visit.until("s.cursor > 0")
    assert visit.stage()["cursor"] % 1 == 0
    before = visit.stage()["trace"]["prompt"]["text"]
    visit.page.click("#sv-sample input")
    visit.page.click("ul[role=listbox] li:has-text('Python')")
    visit.until(f"s.trace.prompt.text !== {before!r}")


def test_a_token_in_detail(visit):
    visit.open()
    visit.until("s.view.phase === 'gate'")
    visit.page.locator("#sv-stage-main .sv-host").focus()
    visit.page.keyboard.press("Space")
    visit.page.click("#sv-stage-main .sv-column >> nth=1")
    visit.until("s.position === 1")
    visit.page.click("text=Compare in detail")
    visit.page.wait_for_selector(".sv-figures .js-plotly-plot .bars path", state="attached")
    assert "position 2" in visit.page.inner_text(".sv-told")
    assert "p" in visit.page.inner_text(".sv-figures")


@pytest.mark.parametrize(("lang", "said"), [("en", "learned English"), ("zh-CN", "主要学的是英文")])
def test_the_chinese_example_warns_that_the_small_model_speaks_english(visit, lang, said):
    visit.open(f"?lang={lang}")
    visit.page.click("button:has-text('请解释量子计算的基本原理')")
    visit.page.wait_for_selector(f".sv-notes p:has-text('{said}')")
    assert visit.page.input_value("#sv-prompt textarea") == "请解释量子计算的基本原理"
    visit.page.fill("#sv-prompt textarea", "Hello")
    visit.page.wait_for_selector(".sv-notes p", state="detached")


def test_passing_by_the_recorded_runs_with_the_keyboard_changes_nothing(visit):
    visit.open()
    visit.until("s.cursor > 1")
    visit.page.fill("#sv-prompt textarea", "My own words")
    visit.page.focus("#sv-sample input")
    visit.page.keyboard.press("Tab")
    visit.page.click("#sv-more-button")  # whatever the list had sent would have been answered before
    visit.page.wait_for_timeout(1000)
    assert visit.page.input_value("#sv-prompt textarea") == "My own words"


def test_the_page_of_a_run_is_saved_from_the_app(visit, tmp_path):
    visit.open("?lang=zh-CN")
    visit.until("s.cursor > 0")
    with visit.page.expect_download() as saved:
        visit.page.click("#sv-save-page")
    assert saved.value.suggested_filename.endswith(".html")
    html = saved.value.path().read_text(encoding="utf-8")
    assert '<html lang="zh-CN">' in html
    assert visit.stage()["trace"]["prompt"]["text"] in html

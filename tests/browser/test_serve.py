"""The Serve tab in a browser: it follows the settings, and other tabs ask it for nothing."""

import json

from tests.fake_vllm import FakeVllm, dribble, running
from tests.served import vllm_port

SLOW = b'data: {"choices": [{"text": "written so far "}]}\n\n'


def config(page):
    return json.loads(page.inner_text("#sv-vllm-json code"))


def test_the_tab_follows_the_settings(visit):
    page = visit.open("?tab=serve").page
    page.wait_for_selector("#sv-vllm-json code")
    before = config(page)["num_speculative_tokens"]
    page.fill("#sv-k input", str(before + 2))
    page.keyboard.press("Tab")
    page.wait_for_function(f"document.querySelector('#sv-vllm-json code').textContent.includes('\": {before + 2}')")
    assert page.is_hidden("#sv-stage-main")
    assert page.is_hidden("#sv-run")
    page.click("text=简体中文")
    page.wait_for_selector("#sv-vllm-notes >> text=只给出计数")


def test_an_old_call_is_translated(visit):
    page = visit.open("?tab=serve").page
    page.wait_for_selector("#sv-vllm-json code")
    page.fill("#sv-old-call textarea", "LLM('<b>t</b>', speculative_model='d', num_speculative_tokens=3)")
    page.click("#sv-translate")
    page.wait_for_selector("#sv-vllm-changes table")
    assert '"num_speculative_tokens": 3' in page.inner_text("#sv-vllm-new_code code")
    assert "<b>t</b>" in page.inner_text("#sv-vllm-new_code code")
    page.fill("#sv-old-call textarea", "LLM(")
    page.click("#sv-translate")
    page.wait_for_selector("#sv-vllm-changes .sv-wrong")


def test_nothing_of_it_is_made_elsewhere(visit):
    page = visit.open().page
    page.wait_for_timeout(1500)
    assert page.query_selector("#sv-vllm-json code") is None
    assert page.is_hidden("#sv-serve")
    assert page.is_visible("#sv-run")


def test_it_fits_a_phone(make_visit):
    page = make_visit(width=390, height=844).open("?tab=serve").page
    page.wait_for_selector("#sv-vllm-json code")
    page.click("#sv-translate")
    page.wait_for_selector("#sv-vllm-changes table")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.is_hidden("#sv-k")


def test_a_server_beside_us_and_how_it_is_stopped(visit):
    page = visit.open("?tab=serve").page
    fake, told = FakeVllm(), "#sv-vllm-beside"
    recorded, fake.stream = fake.stream, dribble(SLOW, pause=0.05, seconds=60)
    with running(fake, vllm_port()):
        page.click("#sv-ask-server")
        page.wait_for_selector(f"{told} >> text=written so far written so far")
        assert page.is_disabled("#sv-ask-server")
        page.click("#sv-ask-stop")
        page.wait_for_selector(f"{told} >> text=Stopped")
        page.wait_for_selector("#sv-ask-stop:disabled")
        fake.stream = recorded
        page.click("#sv-ask-server")
        page.wait_for_selector(f"{told} table")
        assert "8 / 52" in page.inner_text(told)
    assert page.is_enabled("#sv-ask-server")

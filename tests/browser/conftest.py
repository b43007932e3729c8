"""One headless Chromium for all tests; each test gets a page that records what it must not do."""

import os
import shutil
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from tests.served import served

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE = 60_000  # ms; a busy machine is slow, and slow is no fault here


class Visit:
    """A page, and what it did: hosts it asked, errors it logged."""

    def __init__(self, page, address):
        self.page, self.address, self.hosts, self.errors = page, address, set(), []
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        page.on("console", lambda entry: self.errors.append(entry.text) if entry.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, query=""):
        self.page.goto(self.address + query)
        self.page.wait_for_selector(".sv-host.sv", state="attached")  # on some tabs it is hidden
        return self

    def stage(self, name="main"):
        return self.page.evaluate("(name) => SpecvizApp.peek(name)", name)

    def until(self, condition, name="main"):
        """Waits for a JavaScript condition on what is kept of a stage, `s`."""
        self.page.wait_for_function(
            f"(name) => {{ const s = SpecvizApp.peek(name); return {condition}; }}", arg=name, timeout=3 * PATIENCE
        )
        return self.stage(name)

    def fill(self, prompt, most=12):
        self.page.fill("#sv-prompt textarea", prompt)
        self.page.click("#sv-more-button")
        self.page.fill("#sv-most input", str(most))
        self.page.keyboard.press("Tab")


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium: install it, or set CHROMIUM to its path")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def make_visit(browser):
    """Opens further visitors: make_visit(width=390, ...); with tour=True one who has never been here."""
    contexts, visits = [], []

    def make(width=1280, height=900, tour=False, **options):
        context = browser.new_context(
            viewport={"width": width, "height": height}, **{"locale": "en-US", "accept_downloads": True} | options
        )
        if not tour:
            context.add_init_script("localStorage.setItem('specviz.tour', 'seen')")
        contexts.append(context)
        visits.append(Visit(context.new_page(), served()))
        return visits[-1]

    yield make
    for context in contexts:
        context.close()
    for visit in visits:
        assert visit.errors == []
        assert visit.hosts <= {urlsplit(visit.address).netloc, ""}


@pytest.fixture
def visit(make_visit):
    return make_visit()

"""A server that is killed in the middle of a run: the stage says so, nothing is lost, and the run goes on after it."""

import os
import socket
import subprocess
import sys

import pytest

from benchmarks.visitor import until_ready
from tests.served import ROOT
from tests.unit.bench_pair import save_pair

pytestmark = pytest.mark.browser


@pytest.fixture
def server(tmp_path):
    """Starts the app on a tiny pair, always at the same address: (address, start); start gives the process."""
    target, draft = map(str, save_pair(tmp_path, context=4096))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address, started = f"http://127.0.0.1:{port}/", []

    def start():
        command = [sys.executable, "app.py", "--port", str(port), "--target", target, "--draft", draft]
        command += ["--device", "cpu", "--dtype", "float32"]
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"GRADIO_ANALYTICS_ENABLED": "False"})
        started.append(process)
        until_ready(address, process)
        return process

    yield address, start
    for process in started:
        process.kill()
        process.wait()


def test_a_run_goes_on_after_its_server_was_killed(server, make_visit):  # the page closes before the server
    address, start = server
    process = start()
    visit = make_visit()
    visit.address = address
    visit.open("?tour=0&prompt=hello%20world&method=none&temperature=0&max_new_tokens=3000&pair=custom")
    page = visit.page
    page.wait_for_selector(".sv-state-ready")
    page.click("#sv-run")
    visit.until("s.trace && s.trace.prompt.text === 'hello world' && s.trace.rounds.length > 3")

    process.kill()
    process.wait()
    lost = visit.until("s.status && s.status.lost")
    assert len(lost["trace"]["rounds"]) > 3  # what was there is still there
    assert "connection to the server was lost" in page.inner_text("#sv-stage-main [role=alert]")

    start()  # Gradio sees it and opens the page anew
    again = visit.until("s.trace && s.trace.prompt.text === 'hello world' && s.status && s.status.key === 'ui.resumed'")
    at = len(again["trace"]["rounds"])
    assert again["trace"]["rounds"] == lost["trace"]["rounds"]
    assert page.input_value("#sv-prompt textarea") == "hello world"
    page.wait_for_selector(".sv-state-ready")
    page.click("#sv-step")
    more = visit.until(f"s.trace.rounds.length === {at + 1} && !s.status")
    assert more["trace"]["rounds"][:at] == again["trace"]["rounds"]
    visit.errors.clear()  # requests that failed meanwhile

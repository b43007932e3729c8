"""/healthz and /metrics: whether the app can run, what it has done, and nothing of any visitor's."""

import threading

import httpx

from specviz.errors import SpecvizError
from specviz.serving.prometheus import samples
from specviz.ui import health
from specviz.ui.options import Options
from specviz.ui.runner import Runner
from tests.ui.test_api import GOOD, call


def test_ready_only_when_the_models_are():
    go, fail = threading.Event(), [True]

    def load(_id, progress):
        progress(0.5, "models.loading", model="thing")
        go.wait(10)
        if fail[0]:
            raise SpecvizError("errors.model_folder", path="nowhere")
        return "pair"

    runner = Runner(Options(), load=load)
    assert health.health(runner)[0] == 503  # nobody has asked yet
    runner.begin()
    while runner.loader().loading.fraction < 0.5:
        pass
    status, answer = health.health(runner)
    assert (status, answer) == (503, {"status": "loading", "reason": "Loading thing", "progress": 0.5})
    go.set()
    assert runner.loader().over(10)
    status, answer = health.health(runner)
    assert (status, answer["status"]) == (503, "error")
    assert "nowhere" in answer["reason"]
    fail[0] = False
    runner.begin()
    assert runner.loader().over(10)
    assert health.health(runner) == (200, {"status": "ready", "jobs": 0})


def test_another_pair_counts_too():
    runner = Runner(Options(), load=lambda id, _progress: id)
    other = runner.pairs()[1]
    runner.begin(other)
    assert runner.loader(other).over(10)
    assert health.health(runner)[0] == 200


def test_the_page_of_counts_can_be_read_and_names_nobody(address):
    secret = "A secret about a purple elephant."
    before = _read(address)
    call(address, "run", [secret, *GOOD[1:]], timeout=300)
    after = _read(address)
    grown = {name: after[name] - before[name] for name in before}
    assert grown["specviz_jobs_total"] >= 1
    assert grown["specviz_rounds_total"] >= 1
    assert grown["specviz_tokens_total"] >= grown["specviz_rounds_total"]
    assert after["process_resident_memory_bytes"] > 10**8
    page = httpx.get(f"{address}metrics")
    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "elephant" not in page.text
    answer = httpx.get(f"{address}healthz")
    assert answer.status_code in (200, 503)
    assert set(answer.json()) <= {"status", "jobs", "reason", "progress"}
    assert httpx.head(f"{address}healthz").status_code == answer.status_code


def _read(address):
    page = httpx.get(f"{address}metrics").text
    found = {sample.name: sample.value for sample in samples(page) if not sample.labels}
    helped = {line.split()[2] for line in page.splitlines() if line.startswith("# HELP")}
    assert found.keys() | {"specviz_errors_total"} == helped
    return found

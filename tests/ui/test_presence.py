"""Runs whose client has left, or never listened, end; who listens is known from the open streams."""

import asyncio
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from benchmarks.visitor import Refused, Visitor, status_of, values
from specviz.config import RunConfig
from specviz.ui import job as job_module
from specviz.ui import lane as lane_module
from specviz.ui.build import build
from specviz.ui.options import Options
from specviz.ui.presence import Listening, Presence, stream_of
from specviz.ui.runner import Runner


@pytest.mark.parametrize(
    ("path", "query", "name"),
    [
        ("/gradio_api/queue/data", b"session_hash=abc", "abc"),
        ("/proxy/gradio_api/queue/data", b"x=1&session_hash=a%2Fb", "a/b"),
        ("/gradio_api/queue/data", b"", None),
        ("/gradio_api/call/run/e1", b"", "e1"),
        ("/gradio_api/call/v2/run/e1", b"", "e1"),
        ("/gradio_api/call/run/", b"", None),
        ("/gradio_api/heartbeat/abc", b"", None),
        ("/", b"", None),
    ],
)
def test_which_requests_are_streams(path, query, name):
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query}
    assert stream_of(scope) == name
    assert stream_of(scope | {"method": "POST"}) is None


def test_a_stream_counts_as_long_as_it_is_open_however_it_ends():
    listening, seen = Listening(), []

    async def serve(_scope, _receive, _send):
        seen.append(listening.any_of(["abc"]))
        raise ConnectionError("the client has gone")

    scope = {"type": "http", "method": "GET", "path": "/queue/data", "query_string": b"session_hash=abc"}
    with pytest.raises(ConnectionError), ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, Presence(serve, listening)(scope, None, None)).result()
    assert seen == [True]
    assert not listening.any_of(["abc"])


pytestmark = pytest.mark.filterwarnings("ignore:.*no_silent_downcasting")  # Gradio's own statistics


@pytest.fixture
def app(tiny_pair, monkeypatch):
    monkeypatch.setattr(job_module, "ABANDONED_AFTER", 1.0)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    async def serve():  # where no event loop runs, Gradio makes some that nobody closes
        runner = Runner(Options(target="toy", draft="toy"), load=lambda _id, _progress: tiny_pair)
        made = build(runner.options, runner)
        made.launch(server_name="127.0.0.1", server_port=port)
        return made

    # a thread of its own: after the browser tests this one has Playwright's event loop, still running
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(lambda: asyncio.run(serve())).result()
        yield made, f"http://127.0.0.1:{port}/"
        pool.submit(made.close).result()


def endless(job, _pair):
    while not job.stopped:
        time.sleep(0.002)
        yield 1


@pytest.mark.parametrize("body", [b'{"data": 1e999}', b'{"data": -1e999, "x": 7}', b"{", b"[]", b"null", b""])
def test_a_body_that_cannot_be_read_is_refused(app, body):
    """FastAPI itself answers with status 500 where the body holds an infinite number."""
    _, address = app
    answer = httpx.post(f"{address}gradio_api/call/stop", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert set(answer.json()["detail"][0]) == {"loc", "msg"}


def test_a_run_that_nobody_listens_to_ends(app, monkeypatch):
    made, address = app
    monkeypatch.setattr(made.runner, "_run", lambda job, *_: endless(job, None))
    data = values("Tell me.", RunConfig("none", max_new_tokens=8000), made.runner.default)
    body = json.dumps({"data": list(data)})
    sent = httpx.post(f"{address}gradio_api/call/run", content=body, headers={"Content-Type": "application/json"})
    assert sent.status_code == 200
    _until(lambda: made.runner.lane.size == 1)
    _until(lambda: made.runner.lane.size == 0)

    with Visitor(address) as visitor:  # who listens is not taken for gone
        news = visitor.news("run", data)
        next(news)
        began = time.monotonic()
        while time.monotonic() - began < 2.5 * job_module.ABANDONED_AFTER:
            assert made.runner.lane.size == 1
            time.sleep(0.05)
        news.close()
    _until(lambda: made.runner.lane.size == 0)


def test_more_than_can_wait_are_told_so_at_once(app, monkeypatch):
    """Nobody waits in silence, in a queue of Gradio's or elsewhere."""
    made, address = app
    monkeypatch.setattr(lane_module, "PLACES", 2)
    monkeypatch.setattr(lane_module, "SLICE", 600.0)
    monkeypatch.setattr(job_module, "ABANDONED_AFTER", 60.0)
    monkeypatch.setattr(made.runner, "_run", lambda job, *_: endless(job, None))
    data = values("Tell me.", RunConfig("none"), made.runner.default)
    with Visitor(address) as first, Visitor(address) as second, Visitor(address) as third:
        running = first.news("run", data)
        next(running)
        waiting = second.news("run", data)
        told = next(status for _, out in waiting if (status := status_of(out)))
        assert told == {"kind": "queued", "n": 1}
        with pytest.raises(Refused, match="2 runs are waiting"):
            third.ask("run", data)
        running.close()
        waiting.close()
        _until(lambda: made.runner.lane.size == 0)
        assert made.runner.lane.counts.full == 1
        monkeypatch.undo()
        third.ask("run", data)


def _until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)

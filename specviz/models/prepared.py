"""Files, and folders in the cache, that are either whole or not there.

A folder is built beside its place under a temporary name, gets a manifest of its files and is then renamed. So a
killed preparation leaves nothing that could be taken for a model, and two processes that prepare the same folder
wait for each other (file lock) instead of mixing their files.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from specviz.errors import SpecvizError

MANIFEST = "specviz-manifest.json"
Progress = Callable[..., None]
"""progress(fraction: 0..1, key: str of models.json, **values for its placeholders)"""


def no_progress(fraction: float, key: str, **values: object) -> None:
    """For callers who do not want to know."""


def put_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file in one step: whoever looks sees the old content or the new, and a failure leaves no part behind."""
    part = path.with_suffix(path.suffix + ".part")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def prepare(
    folder: Path, build: Callable[[Path], dict], progress: Progress = no_progress, thorough: bool = False
) -> Path:
    """`folder`, made by `build(empty_folder) -> facts for the manifest` unless it is there and whole.

    `build` may put temporary files beside the folder that it is given. A broken folder is replaced; `thorough` looks
    for flipped bits as well. Raises SpecvizError("errors.cache_write") where the disk is full or closed to us; what
    `build` raises passes through, and leaves no files behind.
    """
    try:
        if is_whole(folder, thorough):
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder, progress):
            if not is_whole(folder, thorough):  # another process may have finished while we waited
                _build(folder, build)
    except OSError as error:
        raise SpecvizError(
            "errors.cache_write", path=str(folder.parent), reason=error.strerror or str(error)
        ) from error
    return folder


@contextmanager
def _locked(folder: Path, progress: Progress) -> Iterator[None]:
    """Holds the lock of `folder`. The system frees it when its holder dies, so a killed preparation blocks nobody."""
    lock = FileLock(folder.parent / f".{folder.name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress(0.0, "models.waiting")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _build(folder: Path, build: Callable[[Path], dict]) -> None:
    prefix = f".{folder.name}.part-"
    for left_over in folder.parent.glob(prefix + "*"):  # we hold the lock, so whoever wrote these is gone
        shutil.rmtree(left_over, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))
    try:
        made = work / "new"
        made.mkdir()
        write_manifest(made, build(made))
        if folder.exists():
            folder.rename(work / "broken")
        made.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def write_manifest(folder: Path, facts: dict) -> None:
    """Writes down size and sha256 of every file of `folder`, with `facts` about where they came from."""
    files = {f.name: {"size": f.stat().st_size, "sha256": sha256(f)} for f in sorted(folder.iterdir()) if f.is_file()}
    text = json.dumps({**facts, "files": files}, indent=1)
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(folder: Path) -> dict:
    """What `write_manifest` wrote; {} where there is none that can be read."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def is_whole(folder: Path, thorough: bool = False) -> bool:
    """Whether all files of the manifest are there with their sizes and sound safetensors headers.

    `thorough` also hashes every file (about a second for 500 MB), which notices a flipped bit.
    """
    files = read_manifest(folder).get("files")
    if not files:
        return False
    for name, facts in files.items():
        file = folder / name
        if not file.is_file() or file.stat().st_size != facts["size"]:
            return False
        if file.suffix == ".safetensors" and not _sound_header(file):
            return False
        if thorough and sha256(file) != facts["sha256"]:
            return False
    return True


def _sound_header(file: Path) -> bool:
    """safetensors: 8 bytes little-endian header length, a JSON header, then exactly the bytes that it describes."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > size - 8:
            return False
        try:
            header = json.loads(stream.read(length))
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return False
    return 8 + length + max(ends, default=0) == size


def sha256(file: Path) -> str:
    """Hex digest of a file's content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

"""Models of the Hugging Face hub as local folders. After this, loading needs no network."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.models.prepared import Progress, sha256
from specviz.models.watch import one_line, watched

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

PATIENCE = 4.0  # seconds in which the hub must answer
SOURCE = "Hugging Face"
TEXT_FILES = (".json", ".jinja", ".txt", ".model")  # configuration and tokenizer


class SourceFailed(Exception):
    """A source cannot give the model now. Its text says why."""


def ask_hub(repo: str) -> ModelInfo:
    """What the hub says of a model, within PATIENCE seconds.

    Raises SourceFailed when it does not answer, and the hub client's own HfHubHTTPError when it says no.
    """
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError

    if constants.is_offline_mode():
        raise SourceFailed("HF_HUB_OFFLINE is set")
    answer: list = []

    def ask() -> None:
        try:
            answer.append(HfApi().model_info(repo, timeout=PATIENCE, files_metadata=True))
        except Exception as error:  # handed to the caller below
            answer.append(error)

    # In a thread, because a name server that does not answer can hold a request far longer than its timeout.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if not answer:
        raise SourceFailed(f"no answer within {PATIENCE:.0f} s")
    if isinstance(answer[0], HfHubHTTPError):
        raise answer[0]
    if isinstance(answer[0], Exception):
        raise SourceFailed(one_line(answer[0]))
    return answer[0]


def files_to_get(info: ModelInfo) -> dict[str, int]:
    """Names and sizes of the files that make a loadable model: safetensors, configuration, tokenizer. No pickles."""
    files = {f.rfilename: f.size or 0 for f in info.siblings if "/" not in f.rfilename}
    weights = {name for name in files if name.startswith("model") and name.endswith(".safetensors")}
    if "model.safetensors" in weights:
        weights = {"model.safetensors"}
    return {name: size for name, size in files.items() if name in weights or name.endswith(TEXT_FILES)}


def download(
    info: ModelInfo, progress: Progress, folder: Path | None = None, files: Mapping[str, int] | None = None
) -> Path:
    """The model's files (or `files`, {name: size}) in `folder`, or in the hub client's own cache.

    What the client raises passes through.
    """
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    files = files_to_get(info) if files is None else files
    growing = folder or Path(constants.HF_HUB_CACHE) / f"models--{info.id.replace('/', '--')}"

    def work() -> str:
        return snapshot_download(info.id, revision=info.sha, allow_patterns=list(files), local_dir=folder)

    quiet = are_progress_bars_disabled()
    disable_progress_bars()  # we show our own
    try:
        return Path(watched(work, growing, sum(files.values()), progress, SOURCE, info.id.rpartition("/")[2]))
    finally:
        if not quiet:
            enable_progress_bars()


def from_hub(repo: str, folder: Path, progress: Progress) -> dict:
    """Fills `folder` with the model, checked against the sizes and hashes that the hub states.

    Returns facts for a manifest. Raises SourceFailed, for another source may still have the model.
    """
    progress(0.0, "models.asking_hub")
    try:
        info = ask_hub(repo)
        download(info, progress, folder)
    except SourceFailed:
        raise
    except Exception as error:  # whatever the hub's client raises
        raise SourceFailed(one_line(error)) from error
    stated = {f.rfilename: f for f in info.siblings}
    for name, size in files_to_get(info).items():
        file, lfs = folder / name, stated[name].lfs
        if not file.is_file() or file.stat().st_size != size:
            raise SourceFailed(f"{name} came incomplete")
        if lfs is not None and sha256(file) != lfs.sha256:
            raise SourceFailed(f"{name} came damaged (wrong sha256)")
    if not (folder / "model.safetensors").is_file():
        raise SourceFailed("it has no model.safetensors")
    return {"source": "hub", "id": repo, "revision": info.sha}

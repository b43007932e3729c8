"""Files and folders of this machine by the name that a person gave, which may be anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from specviz.config import short
from specviz.errors import SpecvizError

LAYERS = "draft_layers.safetensors"  # in the folder of a draft that holds its layers only


def local_file(name: str) -> Path | None:
    """The file of that name, if there is one."""
    return _existing(name, Path.is_file)


def local_folder(name: str) -> Path | None:
    """The folder of that name, if there is one."""
    return _existing(name, Path.is_dir)


def model_folder(name: str) -> Path | None:
    """The folder of a model; None where `name` is a hub id. Raises SpecvizError for what can be neither."""
    folder = local_folder(name)
    if folder is None:
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils import validate_repo_id  # here, for it takes a while and most names are files

        try:
            validate_repo_id(name)
        except HFValidationError as error:
            raise SpecvizError("errors.model_folder", path=short(name, 200)) from error
    return folder


def _existing(name: str, exists: Callable[[Path], bool]) -> Path | None:
    try:
        path = Path(name).expanduser()
        return path if name and exists(path) else None
    except (OSError, RuntimeError):  # longer than a name can be; in a closed folder; ~nobody, who has no home
        return None

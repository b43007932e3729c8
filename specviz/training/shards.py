"""The corpus on disk: token ids and a line of facts for each sequence.

`name.bin` holds the ids of all sequences one after another (uint16, uint32 for vocabularies beyond 65,536 ids;
little endian); `name.jsonl` one line a sequence: `n` tokens, `prompt` tokens that were given, `temp`, `magpie`, and
the ranges that were written and not given (`spans`). The .bin is renamed into place last, so a shard is whole or not
there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specviz.errors import SpecvizError


@dataclass(frozen=True, slots=True)
class Text:
    """One sequence and what its writer (target or draft) wrote: only there does a drafter have anything to learn."""

    tokens: np.ndarray  # [n] ids
    spans: tuple[tuple[int, int], ...]  # [start, end)
    temperature: float
    magpie: bool


def write_shard(folder: Path, name: str, sequences: Sequence[Sequence[int]], facts: Sequence[dict], size: int) -> int:
    """Writes one shard for a vocabulary of `size` ids; returns its number of tokens."""
    kind = "<u2" if size <= 1 << 16 else "<u4"
    lines = "".join(json.dumps(one) + "\n" for one in facts)
    replace(folder / f"{name}.jsonl", lines.encode())
    replace(folder / f"{name}.bin", b"".join(np.asarray(s, kind).tobytes() for s in sequences))
    return sum(map(len, sequences))


def replace(path: Path, content: bytes) -> None:
    """Writes a file in one step: whoever looks sees the old content or the new, never a part."""
    part = path.with_suffix(path.suffix + ".part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def shards(folder: Path) -> list[Path]:
    """The whole shards of a corpus, in order of their names."""
    return sorted(path for path in folder.glob("*.bin") if path.with_suffix(".jsonl").is_file())


def read_shard(path: Path) -> Iterator[Text]:
    """The sequences of one shard. Raises SpecvizError("train.shard_broken") where ids and facts do not fit."""
    facts = [json.loads(line) for line in path.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    total, size = sum(one["n"] for one in facts), path.stat().st_size
    if size not in (2 * total, 4 * total):
        raise SpecvizError("train.shard_broken", path=str(path))
    ids = np.fromfile(path, "<u2" if size == 2 * total else "<u4")
    at = 0
    for one in facts:
        spans = tuple(map(tuple, one.get("spans") or [[one["prompt"], one["n"]]]))
        yield Text(ids[at : at + one["n"]], spans, one["temp"], one["magpie"])
        at += one["n"]


def read_corpus(folder: Path) -> list[Text]:
    """All sequences of a corpus. Raises SpecvizError("train.no_corpus") where there are none."""
    texts = [text for path in shards(folder) for text in read_shard(path)]
    if not texts:
        raise SpecvizError("train.no_corpus", path=str(folder))
    return texts

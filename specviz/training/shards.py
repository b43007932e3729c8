"""The corpus on disk: token ids and a line of facts for each sequence.

`name.bin` holds the ids of all sequences one after another (uint16, uint32 for vocabularies beyond 65,536 ids;
little endian); `name.jsonl` one line a sequence: `n` tokens, `prompt` tokens that were given, `temp`, `magpie`, and
the ranges that were written and not given (`spans`). The .bin is renamed into place last, so a shard is whole or not
there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specviz.training.files import put, reading


@dataclass(frozen=True, slots=True)
class Text:
    """One sequence and what its writer (target or draft) wrote: only there does a drafter have anything to learn."""

    tokens: np.ndarray  # [n] ids
    spans: tuple[tuple[int, int], ...]  # [start, end)
    temperature: float


def write_shard(folder: Path, name: str, sequences: Sequence[Sequence[int]], facts: Sequence[dict], size: int) -> int:
    """Writes one shard for a vocabulary of `size` ids; returns its number of tokens."""
    kind = "<u2" if size <= 1 << 16 else "<u4"
    lines = "".join(json.dumps(one) + "\n" for one in facts)
    replace(folder / f"{name}.jsonl", lines.encode())
    replace(folder / f"{name}.bin", b"".join(np.asarray(s, kind).tobytes() for s in sequences))
    return sum(map(len, sequences))


def replace(path: Path, content: bytes) -> None:
    """`put` for what is in memory; it is on the disk when this returns."""

    def write(part: Path) -> None:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    put(path, write)


def shards(folder: Path) -> list[Path]:
    """The whole shards of a corpus, in order of their names."""
    return sorted(path for path in folder.glob("*.bin") if path.with_suffix(".jsonl").is_file())


def read_shard(path: Path) -> list[Text]:
    """The sequences of one shard. Raises SpecvizError("train.shard_broken") where ids and facts do not fit."""
    with reading(path, "train.shard_broken"):
        facts = [json.loads(line) for line in path.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
        total, size = sum(one["n"] for one in facts), path.stat().st_size
        if size not in (2 * total, 4 * total):
            raise ValueError(f"{size} bytes for {total} tokens")
        ids = np.fromfile(path, "<u2" if size == 2 * total else "<u4")
        texts, at = [], 0
        for one in facts:
            spans = tuple((int(a), int(b)) for a, b in one.get("spans") or [[one["prompt"], one["n"]]])
            if one["n"] < 1 or not all(0 <= a <= b <= one["n"] for a, b in spans):
                raise ValueError(f"spans {spans} of {one['n']} tokens")
            texts.append(Text(ids[at : at + one["n"]], spans, float(one["temp"])))
            at += one["n"]
    return texts

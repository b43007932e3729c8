"""vLLM's counters out of its `/metrics` page, which is Prometheus text.

Several engines behind one server have a row each; their sum is what the server did. The names are those of vLLM 0.8 to
0.33. Version 0 engines (up to 0.10) counted otherwise; their page is recognised, and said to be old.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PREFIX = "vllm:spec_decode_num_"
OLD = ("vllm:spec_decode_draft_acceptance_rate", "vllm:spec_decode_efficiency")  # gauges that went with version 0
# No two repeats side by side match the same text: a line of a hostile page is read in time linear in its length.
SAMPLE = re.compile(r'([a-zA-Z_:][\w:]*)(?:\s*\{((?:[^"{}]|"(?:[^"\\]|\\.)*")*)\})?\s+(\S+)(?:\s+-?\d+)?\s*', re.ASCII)
LABEL = re.compile(r'(?<!\w)([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"', re.ASCII)
ESCAPE = re.compile(r"\\(.)")
MAX_LINE = 10_000  # characters; a longer one is none of vLLM's
LARGEST = 2.0**53  # a count beyond it is none, and a sum of them could become infinite


@dataclass(frozen=True, slots=True)
class Sample:
    """One row of the page."""

    name: str
    labels: dict[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Counters:
    """What a server has counted since it started, for one model.

    vllm          whether the page has any row of vLLM's: without, it is somebody else's, or statistics are off
    speculates    whether it has rows about speculation
    old           whether these are those of a version that is too old
    drafts        rounds in which something was drafted
    per_position  accepted at position i
    requests      requests that have ended
    """

    vllm: bool = False
    speculates: bool = False
    old: bool = False
    drafts: int = 0
    draft_tokens: int = 0
    accepted: int = 0
    per_position: tuple[int, ...] = ()
    generated: int = 0
    requests: int = 0

    def since(self, before: Counters) -> Counters:
        """What was counted after `before`. A server that was started anew in between counts from zero again."""
        names = ("drafts", "draft_tokens", "accepted", "generated", "requests")
        grown = {name: getattr(self, name) - getattr(before, name) for name in names}
        if min(grown.values()) < 0:
            return self
        width = max(len(self.per_position), len(before.per_position))
        now, then = (list(c.per_position) + [0] * (width - len(c.per_position)) for c in (self, before))
        at = tuple(max(0, a - b) for a, b in zip(now, then, strict=True))
        return Counters(self.vllm, self.speculates, self.old, **grown, per_position=at)


def counters(page: str, model: str | None = None) -> Counters:
    """The counters of `model` (None: of all models) on a page. Lines that are no samples are passed over."""
    sums: dict[str, float] = {}
    positions: dict[int, float] = {}
    vllm = old = False
    for sample in samples(page):
        if not sample.name.startswith("vllm:"):
            continue
        vllm = True
        old = old or sample.name in OLD
        if model is not None and sample.labels.get("model_name", model) != model:
            continue
        name = sample.name.removesuffix("_total")
        if name == f"{PREFIX}accepted_tokens_per_pos":
            position = sample.labels.get("position", "")
            if re.fullmatch(r"\d{1,4}", position, re.ASCII):
                positions[int(position)] = positions.get(int(position), 0) + sample.value
        else:
            sums[name] = sums.get(name, 0) + sample.value
    drafts = f"{PREFIX}drafts"
    return Counters(
        vllm,
        speculates=drafts in sums,
        old=drafts not in sums and old,
        drafts=int(sums.get(drafts, 0)),
        draft_tokens=int(sums.get(f"{PREFIX}draft_tokens", 0)),
        accepted=int(sums.get(f"{PREFIX}accepted_tokens", 0)),
        per_position=tuple(int(positions.get(i, 0)) for i in range(max(positions, default=-1) + 1)),
        generated=int(sums.get("vllm:generation_tokens", 0)),
        requests=int(sums.get("vllm:request_success", 0)),
    )


def samples(page: str) -> Iterator[Sample]:
    """The rows of a page that are samples, their values from 0 to LARGEST: nothing that is counted is less."""
    for line in page.split("\n"):
        if line.startswith("#") or len(line) > MAX_LINE:
            continue
        found = SAMPLE.fullmatch(line.strip())
        value = _number(found[3]) if found else None
        if found and value is not None:
            labels = {name: ESCAPE.sub(_unescape, text) for name, text in LABEL.findall(found[2] or "")}
            yield Sample(found[1], labels, value)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= LARGEST else None  # NaN is not


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]

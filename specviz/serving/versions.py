"""vLLM's versions, as far as they differ in what is written here. Read in the sources of 0.28 to 0.33."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specviz.config import short
from specviz.errors import SpecvizError


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """vLLM 0.33.1 is (0, 33): the keys do not change within a minor version."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def medusa(self) -> bool:
        """Whether it loads Medusa heads and MLP speculators."""
        return self <= Version(0, 32)

    @property
    def request_metrics(self) -> bool:
        """Whether a server can report the acceptance of each single request."""
        return self >= Version(0, 29)


OLDEST, NEWEST = Version(0, 28), Version(0, 33)
OFFERED = tuple(Version(0, minor) for minor in range(NEWEST.minor, OLDEST.minor - 1, -1))
FORM = re.compile(r"v?(\d{1,4})\.(\d{1,4})([.+a-z-].{0,40})?", re.ASCII)


def parse_version(text: object) -> Version | None:
    """ "0.33", "v0.32.0" or "0.32.0+cpu"; None for anything else."""
    found = FORM.fullmatch(text.strip()) if isinstance(text, str) else None
    return Version(int(found[1]), int(found[2])) if found else None


def read_version(text: object) -> Version:
    """A version to write for. Raises SpecvizError for what is none, and for one that takes other keys."""
    version = parse_version(text)
    if version is None:
        raise SpecvizError("serve.version_form", value=short(text), newest=NEWEST)
    if version < OLDEST:
        raise SpecvizError("serve.version_old", version=version, oldest=OLDEST)
    return version

"""Every string a person reads, in every language, out of `assets/locales/<language>/*.json`.

A key is `file.name`, for example `errors.range`. A missing key is a programming error and raises: a test holds
the languages against each other, so it never happens on a user's screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"
HOLE = re.compile(r"\{(\w+)\}")
LANGUAGES = {"en": "English", "zh-CN": "简体中文"}


@cache
def strings(lang: str) -> dict[str, str]:
    """All strings of a language, key -> text."""
    folder = ASSETS / "locales" / lang
    return {
        f"{file.stem}.{name}": text
        for file in sorted(folder.glob("*.json"))
        for name, text in json.loads(file.read_text(encoding="utf-8")).items()
    }


def pick_language(wanted: object) -> str:
    """The supported language nearest to the wish of a browser, a link or a script; English when in doubt."""
    return "zh-CN" if isinstance(wanted, str) and wanted.lower().startswith("zh") else "en"


def t(lang: str, key: str, **values: object) -> str:
    """The text of `key` with `{name}` filled in. Raises KeyError for an unknown key."""
    return fill(strings(lang)[key], values)


def fill(text: str, values: Mapping[str, object]) -> str:
    """`text` with `{name}` filled in, where `values` knows the name.

    In one pass, and not by str.format: values may hold braces, and unknown braces in a text are harmless.
    """
    return HOLE.sub(lambda hole: str(values.get(hole[1], hole[0])), text)


def joined(lang: str, *sentences: str) -> str:
    """The sentences that are not empty, one after the other."""
    return ("" if lang == "zh-CN" else " ").join(filter(None, sentences))


def counted(lang: str, key: str, n: int, **values: object) -> str:
    """The text of `key` for n things, `{n}` filled in too; for one of them that of `<key>_one`, if there is one."""
    one = f"{key}_one"
    return t(lang, one if n == 1 and one in strings(lang) else key, n=n, **values)

"""The one error a user may see: what went wrong, why, and what to do, in any language.

It carries a key of the locale files and the values to fill in, so that the engine, which knows nothing of
languages, can raise it and the screen can show it in the visitor's own.
"""

from __future__ import annotations


class SpecvizError(Exception):
    """A foreseen failure. `str(error)` is the English sentence; `t(lang, error.key, **error.values)` any other."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)
        self.key = key
        self.values = values

    def __str__(self) -> str:
        from specviz.i18n import t

        return t("en", self.key, **self.values)

    def __reduce__(self) -> tuple:  # so that it crosses process boundaries (pickle)
        return (_rebuild, (type(self), self.key, self.values))


def _rebuild(kind: type[SpecvizError], key: str, values: dict) -> SpecvizError:
    return kind(key, **values)

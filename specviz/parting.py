"""Where two outputs part."""

from __future__ import annotations

from collections.abc import Sequence


def parts_at(one: Sequence[int], other: Sequence[int]) -> int | None:
    """Index of the first token that differs, or where one of them has ended already; None where they are the same."""
    pairs = zip(one, other, strict=False)
    shorter, longer = sorted((len(one), len(other)))
    end = None if shorter == longer else shorter
    return next((i for i, (a, b) in enumerate(pairs) if a != b), end)


def token_at(tokens: Sequence[int], index: int) -> int | None:
    """None where the output has ended already."""
    return tokens[index] if index < len(tokens) else None

"""Numbers as they are read: two significant digits, and nothing that is not 0 or 1 is written as 0 or 1.

The browser's stage has the same rules (assets/js/stage/numbers.js).
"""

from __future__ import annotations

import math

SMALLEST = 1e-6  # recorded distributions are rounded to this


def prob(x: float | None) -> str:
    """A probability."""
    if x is None:
        return "–"
    if x in (0, 1):
        return str(int(x))
    if x < SMALLEST:
        return "< 0.000001"
    if x >= 0.995:
        return next((f"{x:.{d}f}" for d in (3, 4) if float(f"{x:.{d}f}") < 1), "≈ 1")
    if x >= 0.0995:
        return f"{x:.2f}"
    return f"{x:.{min(6, 1 - math.floor(math.log10(x)))}f}"


def ratio(p: float, q: float) -> str:
    """p/q."""
    if q == 0:
        return "∞" if p > 0 else "0"
    x = p / q
    return "> 100" if x >= 100 else prob(x) if x < 1 else "1" if x == 1 else f"{x:.2f}"


def apart(a: float, u: float) -> tuple[str, str]:
    """Two numbers that are held against each other, with digits enough to tell them apart."""
    left, right = prob(a), prob(u)
    if left != right or a == u:
        return left, right
    for digits in range(3, 10):
        left, right = f"{a:.{digits}f}", f"{u:.{digits}f}"
        if left != right:
            return left, right
    return str(a), str(u)

"""Closed forms of speculative decoding, from Leviathan et al., arXiv 2211.17192, section 3.

All of them assume that every draft is accepted with the same chance alpha, independently, and that a target pass
over k + 1 tokens takes as long as one over a single token.
"""

from __future__ import annotations


def expected_tokens(alpha: float, k: int) -> float:
    """E[tokens per round] = (1 - alpha^(k+1)) / (1 - alpha), equation 1; alpha in [0, 1], k >= 0 drafted tokens."""
    _check(alpha, k)
    return float(k + 1) if alpha == 1 else (1 - alpha ** (k + 1)) / (1 - alpha)


def speedup(alpha: float, k: int, c: float) -> float:
    """How much faster than plain decoding, theorem 3.8; c = time of a draft step / time of a target step."""
    if c < 0:
        raise ValueError(f"c must not be negative, got {c}")
    return expected_tokens(alpha, k) / (k * c + 1)


def best_k(alpha: float, c: float, highest: int = 64) -> int:
    """The k with the highest speed-up, 0 when drafting never pays (alpha <= c)."""
    return max(range(highest + 1), key=lambda k: speedup(alpha, k, c))


def _check(alpha: float, k: int) -> None:
    if not 0 <= alpha <= 1 or k < 0:
        raise ValueError(f"alpha must lie in [0, 1] and k must be at least 0, got alpha={alpha}, k={k}")

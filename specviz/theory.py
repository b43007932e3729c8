"""Closed forms of speculative decoding, from Leviathan et al., arXiv 2211.17192, section 3.

`expected_tokens`, `speedup` and `best_k` assume that every draft is accepted with the same chance alpha, independently,
and that a target pass over k + 1 tokens takes as long as one over a single token. The general forms below them assume
neither: they take what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence


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
    if alpha <= c:  # at alpha = c all k cost the same, and rounding would choose
        return 0
    return max(range(highest + 1), key=lambda k: speedup(alpha, k, c))


def expected_tokens_by_position(conditional: Sequence[float]) -> float:
    """E[tokens per round] = 1 + sum over i of conditional[0] ... conditional[i].

    conditional[i]: the chance that draft i + 1 is accepted after all before it were. In a tree, that the path goes on
    from depth i. With the same alpha at each of k positions it is `expected_tokens(alpha, k)`.
    """
    total = reached = 1.0
    for alpha in conditional:
        _check(alpha, 0)
        reached *= alpha
        total += reached
    return total


def speedup_by_position(conditional: Sequence[float], drafting: float, checking: float = 1.0) -> float:
    """How much faster than plain decoding, with both costs of a round in plain target steps.

    drafting  what all drafting of a round takes; k * c for k draft steps
    checking  what the target's pass over the drafted tokens and one more takes; theorem 3.8 assumes 1
    """
    if drafting < 0 or checking <= 0:
        raise ValueError(f"drafting must be at least 0 and checking above 0, got {drafting} and {checking}")
    return expected_tokens_by_position(conditional) / (drafting + checking)


def _check(alpha: float, k: int) -> None:
    if not 0 <= alpha <= 1 or k < 0:
        raise ValueError(f"alpha must lie in [0, 1] and k must be at least 0, got alpha={alpha}, k={k}")

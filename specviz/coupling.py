"""What becomes of one drafted token, exactly: the algebra behind "accepted + recovered = p", and that of wrong rules.

Plain numbers, no draws: distributions are sequences over the same tokens, in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Sequence

Probs = Sequence[float]

# Faults of real decoders, planted in specviz/models/faults.py; their names are part of the command line.
FAULTS = ("resample_p", "hot_q", "argmax_draft", "reuse_u", "always_accept", "stale_row")
HOTTER = 3  # "hot_q": as when somebody draws at temperature 1/3 and forgets that in the ratio


def common(p: Probs, q: Probs) -> list[float]:
    """min(p, q): how often each token is drafted and accepted. Its sum is alpha."""
    return [min(a, b) for a, b in zip(p, q, strict=True)]


def alpha(p: Probs, q: Probs) -> float:
    """The chance that a draft is accepted: sum min(p, q) = 1 - TV(p, q)."""
    return sum(common(p, q))


def residual(p: Probs, q: Probs) -> list[float]:
    """norm(max(0, p - q)); p where nothing is left over."""
    more = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
    mass = sum(more)
    return [x / mass for x in more] if mass > 1e-9 else list(p)


def hotter(q: Probs) -> list[float]:
    """The same logits at HOTTER times the temperature: norm(q^(1 / HOTTER))."""
    roots = [x ** (1 / HOTTER) for x in q]
    mass = sum(roots)
    return [x / mass for x in roots]


def law(p: Probs, q: Probs, fault: str | None = None) -> list[float]:
    """The exact distribution of the token that a draft from q turns into. Without a fault it is p.

    out(x) = drawn(x) a(x) + r(x) sum over y of drawn(y) (1 - a(y)),    a(x) = min(1, p(x) / q(x))
    """
    if fault not in (None, *FAULTS):
        raise ValueError(f"unknown fault {fault!r}")
    drawn, ratio = list(q), list(q)
    if fault == "hot_q":
        ratio = hotter(q)
    elif fault == "argmax_draft":
        drawn = [0.0] * len(q)
        drawn[max(range(len(q)), key=q.__getitem__)] = 1.0
    elif fault == "always_accept":
        return drawn
    gate = [min(1.0, a / b) if b > 0 else 1.0 for a, b in zip(p, ratio, strict=True)]
    rest = residual(p, ratio)
    accepted = [a * g for a, g in zip(drawn, gate, strict=True)]
    if fault == "reuse_u":  # u is known to lie in [a(y), 1) when it draws from the residual
        return [a + b for a, b in zip(accepted, _with_same_u(drawn, gate, rest), strict=True)]
    if fault == "resample_p":
        rest = list(p)
    refused = sum(a * (1 - g) for a, g in zip(drawn, gate, strict=True))
    return [a + refused * r for a, r in zip(accepted, rest, strict=True)]


def _with_same_u(drawn: Probs, gate: Probs, rest: Probs) -> list[float]:
    """Recovered tokens when the number that refused a draft also picks the place under the cumulated residual."""
    out, low = [], 0.0
    for share in rest:
        high = low + share
        out.append(sum(d * max(0.0, high - max(low, g)) for d, g in zip(drawn, gate, strict=True)))
        low = high
    return out

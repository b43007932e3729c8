"""How many tokens to draft in the next round, by what the run itself has shown: `k auto`.

A round with k drafts gives E(k) = 1 + a_1 + a_1 a_2 + ... tokens, a_i being how often draft i was accepted after all
before it were, and takes t(k), measured. The k with the highest E(k) / t(k) is taken, and 0 is one of them: where
drafting does not pay, the run goes on as plain decoding, with a try now and then whether that has changed.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence

from specviz.theory import expected_tokens_by_position
from specviz.trace import Kind, Round

RECENT = 9  # rounds of a k whose median time counts
FADING = 0.97  # what an acceptance is worth a round later
PLAIN_EVERY, DRAFT_EVERY = 64, 16  # rounds between two looks at plain decoding, or, while it is the best, at drafting


class Pace:
    """`k()` for the next round, `learn` from each one. most: the highest k."""

    def __init__(self, most: int, rounds: Sequence[Round] = ()) -> None:
        self.most = most
        self.tried = [0.0] * most  # how often draft i was judged, the older times counting less
        self.accepted = [0.0] * most
        self.times: dict[int, deque[float]] = {}  # k -> milliseconds of recent rounds
        self.rounds = 0
        self.last = {"plain": -1, "draft": -1}  # the latest round of each kind
        for one in rounds:
            self.learn(one)

    def learn(self, done: Round) -> None:
        """Takes note of a round: how far its chain was accepted, and how long it took."""
        k, path = len(done.draft.tokens), len(done.path)
        judged = min(k, path + (done.final is not None and done.final.kind is Kind.RECOVERED))
        self.tried = [FADING * x + (i < judged) for i, x in enumerate(self.tried)]
        self.accepted = [FADING * x + (i < path) for i, x in enumerate(self.accepted)]
        self.times.setdefault(k, deque(maxlen=RECENT)).append(done.times.total)
        self.last["draft" if k else "plain"] = self.rounds
        self.rounds += 1

    def k(self) -> int:
        """For the next round. The first two rounds measure: one drafts as usual, one not at all."""
        usual = min(4, self.most)
        if not usual or not self.times:
            return usual
        if 0 not in self.times:
            return 0
        if max(self.times) == 0:
            return usual
        best = max(range(self.most + 1), key=self._gain)
        if best and self.rounds - self.last["plain"] > PLAIN_EVERY:
            return 0
        if not best and self.rounds - self.last["draft"] > DRAFT_EVERY:
            return max(range(1, self.most + 1), key=self._gain)
        return best

    def _gain(self, k: int) -> float:
        """Tokens a millisecond."""
        return expected_tokens_by_position(self._chances(k)) / max(self._time(k), 1e-6)

    def _chances(self, k: int) -> list[float]:
        """a_1 .. a_k. A position that was never judged counts as the one before it."""
        chances: list[float] = []
        for tried, accepted in list(zip(self.tried, self.accepted, strict=True))[:k]:
            chances.append(accepted / tried if tried > 0.01 else chances[-1] if chances else 0.5)
        return chances

    def _time(self, k: int) -> float:
        """The median of the rounds with this k; else on the line through the nearest two that were measured."""
        known = {n: statistics.median(times) for n, times in self.times.items()}
        if k in known:
            return known[k]
        below = [n for n in known if n < k]
        above = [n for n in known if n > k]
        a, b = (max(below), min(above)) if above else sorted(known)[-2:]
        return max(known[a], known[a] + (known[b] - known[a]) * (k - a) / (b - a))

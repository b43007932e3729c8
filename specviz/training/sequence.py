"""One text of the corpus while it is being written: what is given, what its writer adds, when it ends."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

from specviz.training.chat import Chat
from specviz.training.prompts import Prompt, heldout, same

LEAST = 8  # tokens below which a text is not worth keeping


class Sequence:
    """Text `index` of the corpus of `seed`. Its randomness comes from (seed, index) alone.

    Given tokens wait in `given`; where it is empty, the draw of who writes is taken. `limit` is its greatest length.
    """

    def __init__(
        self,
        seed: int,
        index: int,
        prompt: Prompt,
        chat: Chat,
        encode: Callable[[str], list[int]],
        eos: frozenset[int],
        limit: int,
    ) -> None:
        self.index, self.prompt, self.chat, self.eos, self.limit = index, prompt, chat, eos, limit
        self.rng = random.Random(f"specviz-corpus/{seed}/{index}/draws")
        self.turns = deque(encode(turn) for turn in prompt.turns)
        self.tokens: list[int] = list(chat.opening)
        self.given: deque[int] = deque()
        self.spans: list[list[int]] = []  # what was written and not given
        self.answers = max(1, len(prompt.turns))
        self.asking = not prompt.turns  # the user's turn is being written, too
        self.user_turn: range | None = None  # the one it wrote
        self.done = False
        if self.turns:
            self._ask()

    @property
    def question(self) -> list[int]:
        """What the target wrote as the user's turn, without the token that ends it; empty where it was given."""
        return self.tokens[self.user_turn.start : self.user_turn.stop - 1] if self.user_turn else []

    @property
    def temperature(self) -> float:
        """A self-written question needs variety, whatever its answer is drawn at."""
        return max(self.prompt.temperature, 0.7) if self.asking else self.prompt.temperature

    def take(self, drawn: int) -> None:
        """Goes on by one token: a given one, or else the draw. Sets `done` after the last."""
        if self.given:
            self.tokens.append(self.given.popleft())
        else:
            if not self.spans or self.spans[-1][1] != len(self.tokens):
                self.spans.append([len(self.tokens)] * 2)
            self.tokens.append(drawn)
            self.spans[-1][1] += 1
            if drawn in self.eos or self._turn_is_full():
                self._end_turn(drawn in self.eos)
        self.done = self.done or len(self.tokens) >= self.limit

    def facts(self) -> dict:
        """The line about it in the shard."""
        facts = {"n": len(self.tokens), "prompt": self.spans[0][0] if self.spans else len(self.tokens)}
        facts |= {"temp": self.prompt.temperature, "magpie": self.prompt.kind == "magpie", "kind": self.prompt.kind}
        return facts | {"id": self.index, "spans": self.spans}

    def worth_keeping(self, decode: Callable[[list[int]], str]) -> bool:
        """Not next to nothing, not an endless question, and not one that drafters will be judged on."""
        if self.asking or sum(end - start for start, end in self.spans) < LEAST:
            return False
        return same(decode(self.question)) not in heldout()

    def _ask(self) -> None:
        self.given.extend([*self.turns.popleft(), *self.chat.to_answer])

    def _turn_is_full(self) -> bool:
        """With turns to come, each answer gets its share of the room, and a self-written question a third."""
        if not self.turns and not self.asking:
            return False
        share = self.limit // 3 if self.asking else self.limit // self.answers
        return self.spans[-1][1] - self.spans[-1][0] >= share

    def _end_turn(self, by_itself: bool) -> None:
        """After the last token of a question or an answer; not `by_itself`: it was cut short."""
        if self.asking:
            if not by_itself:  # it rambles: not a question
                self.done = True
                return
            self.asking = False
            self.user_turn = range(*self.spans[0])
            written = self.tokens[-1] == self.chat.to_answer[0]
            self.given.extend(self.chat.to_answer[written:])
        elif self.turns:
            self.given.extend(self.chat.to_user if by_itself else (*self.chat.close, *self.chat.to_user))
            self._ask()
        else:
            self.done = True

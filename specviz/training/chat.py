"""A tokenizer's chat template, cut into the pieces that stand around the turns."""

from __future__ import annotations

from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Chat:
    """Token ids. A conversation: opening, user's turn, to_answer, answer, close, to_user, user's turn, to_answer, ...

    close: the end-of-text ids that the target writes itself at the end of an answer.
    """

    opening: tuple[int, ...]
    to_answer: tuple[int, ...]
    close: tuple[int, ...]
    to_user: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, eos: frozenset[int]) -> Chat:
        """Read off the template. Without one, turns are paragraphs and the first id is the tokenizer's own opening."""

        def ids(text: str) -> list[int]:
            return tokenizer(text, add_special_tokens=False)["input_ids"]

        if not getattr(tokenizer, "chat_template", None):
            first = [tokenizer.bos_token_id] if tokenizer.bos_token_id is not None else ids("\n")
            return cls(tuple(first), tuple(ids("\n\n")), (), tuple(ids("\n\n")))
        marks = ["first-user-turn", "first-answer", "second-user-turn"]
        roles = ["user", "assistant", "user"]
        turns = [{"role": role, "content": mark} for role, mark in zip(roles, marks, strict=True)]
        text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        opening, rest = text.split(marks[0])
        to_answer, rest = rest.split(marks[1])
        to_user = ids(rest.split(marks[2])[0])
        ending = next((i for i, token in enumerate(to_user) if token not in eos), 0)
        return cls(tuple(ids(opening)), tuple(ids(to_answer)), tuple(to_user[:ending]), tuple(to_user[ending:]))

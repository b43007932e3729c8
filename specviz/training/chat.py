"""A tokenizer's chat template, cut into the pieces that stand around the turns."""

from __future__ import annotations

from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from specviz.errors import SpecvizError


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
        """Read off the template. Without one, turns are paragraphs and the first id is the tokenizer's own opening.

        Raises SpecvizError("train.chat") for templates that cannot be cut: they write nothing before a turn, change
        what a turn says, or know one turn only.
        """

        def ids(text: str) -> list[int]:
            return tokenizer(text, add_special_tokens=False)["input_ids"]

        if not getattr(tokenizer, "chat_template", None):
            first = [tokenizer.bos_token_id] if tokenizer.bos_token_id is not None else ids("\n")
            return cls(tuple(first), tuple(ids("\n\n")), (), tuple(ids("\n\n")))
        marks = ["first-user-turn", "first-answer", "second-user-turn"]
        roles = ["user", "assistant", "user"]
        turns = [{"role": role, "content": mark} for role, mark in zip(roles, marks, strict=True)]
        try:
            text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
            opening, rest = text.split(marks[0])
            to_answer, rest = rest.split(marks[1])
            to_user, _ = rest.split(marks[2])
        except Exception as error:  # a template is a program of the model's author and can fail in any way
            raise SpecvizError("train.chat") from error
        opening, to_answer, to_user = map(ids, (opening, to_answer, to_user))
        if not opening or not to_answer:
            raise SpecvizError("train.chat")
        ending = next((i for i, token in enumerate(to_user) if token not in eos), 0)
        return cls(tuple(opening), tuple(to_answer), tuple(to_user[:ending]), tuple(to_user[ending:]))

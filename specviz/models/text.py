"""The way from a prompt to token ids and from token ids back to text.

Text is made of whole characters: one whose last bytes are still to come is held back. Special tokens are no text,
and text that a user writes never becomes a special token, even if it spells one.
"""

from __future__ import annotations

import codecs
import threading
from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from specviz.config import is_whole
from specviz.errors import SpecvizError
from specviz.models.token_bytes import TokenBytes
from specviz.trace import Token

MAX_CHARACTERS = 200_000  # of a prompt; tokenising more would keep a shared machine busy for nothing


class TextCodec:
    """Encodes prompts and decodes tokens of one tokenizer. Safe to share between threads.

    vocab_size: rows of the models that are compared; an id from there on is no token.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, vocab_size: int) -> None:
        self.tokenizer = tokenizer
        self.vocab_size = vocab_size
        self._bytes = TokenBytes(tokenizer)
        self._lock = threading.Lock()  # encoding sets flags on the tokenizer

    @property
    def has_chat(self) -> bool:
        """Whether the tokenizer brings a chat template."""
        return bool(getattr(self.tokenizer, "chat_template", None))

    def encode(self, prompt: str, chat: bool = True) -> list[int]:
        """Token ids of `prompt`: as the user's turn of the chat template, if there is one, else as it is.

        Raw text gets a begin-of-text token only if the tokenizer adds it by itself. Raises SpecvizError for a prompt
        that asks nothing (empty or white space in a chat, no token at all in raw text), is far too long, or is not
        valid Unicode.
        """
        if len(prompt) > MAX_CHARACTERS:
            raise SpecvizError("errors.prompt_huge", size=len(prompt), limit=MAX_CHARACTERS)
        if not is_whole(prompt):
            raise SpecvizError("errors.prompt_unicode")
        if chat and self.has_chat:
            if not prompt.strip():
                raise SpecvizError("errors.prompt_empty")
            return self._encode_chat(prompt)
        with self._lock:
            ids = self.tokenizer(prompt, split_special_tokens=True)["input_ids"]
        if not ids:
            raise SpecvizError("errors.prompt_empty")
        return list(ids)

    def _encode_chat(self, prompt: str) -> list[int]:
        turn = [{"role": "user", "content": prompt}]
        try:
            with self._lock:
                # sanitize_control_tokens: what the user writes is encoded as text even if it spells a special token
                return list(
                    self.tokenizer.apply_chat_template(
                        turn, add_generation_prompt=True, return_dict=False, sanitize_control_tokens=True
                    )
                )
        except Exception as error:  # a template is a program of the model's author and can fail in any way
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            raise SpecvizError("errors.chat_template", reason=reason) from error

    def token(self, id: int) -> Token:
        """What stands on the token's chip."""
        name = self._bytes.name(id) if id < self.vocab_size else None
        if name is None:
            return Token(id, f"<{id}>", special=True)
        if id in self._bytes.special:
            return Token(id, name, special=True)
        spelled = self._bytes.of(id)
        try:
            return Token(id, spelled.decode())
        except UnicodeDecodeError:
            return Token(id, "", bytes=spelled)

    def bytes(self, id: int) -> bytes:
        """What the token adds to the text: part of a character, or many, or (a special token) nothing."""
        return self._bytes.of(id) if id < self.vocab_size else b""

    def decode(self, ids: Sequence[int], final: bool = False) -> str:
        """The text of `ids`, without special tokens.

        The bytes of a character that is not yet whole are left out; `final` shows them as U+FFFD. Bytes that can
        never become a character are shown as U+FFFD in any case.
        """
        decoder = StreamDecoder(self)
        return decoder.feed(ids) + (decoder.finish() if final else "")


class StreamDecoder:
    """Text from tokens that arrive one after another: `feed` returns what has become whole, and never takes it back."""

    def __init__(self, codec: TextCodec) -> None:
        self._codec = codec
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, ids: Sequence[int]) -> str:
        """The text that these tokens complete."""
        return self._utf8.decode(b"".join(map(self._codec.bytes, ids)))

    def finish(self) -> str:
        """U+FFFD if the text ended inside a character, else nothing."""
        return self._utf8.decode(b"", final=True)


class StopStrings:
    """Tells whether the generated text contains one of the `stop` strings, also when it is spread over tokens.

    Called with all ids generated so far; each call reads only the new ones, unless the old ones have changed.
    """

    def __init__(self, codec: TextCodec, stop: Sequence[str]) -> None:
        self._codec = codec
        self._stop = tuple(stop)
        self._reach = max(map(len, self._stop), default=1) - 1  # characters of the past that can still matter
        self._restart()

    def _restart(self) -> None:
        self._decoder = StreamDecoder(self._codec)
        self._seen: list[int] = []
        self._tail = ""
        self._found = False

    def __call__(self, generated: Sequence[int]) -> bool:
        """Whether the text of `generated` contains a stop string."""
        if list(generated[: len(self._seen)]) != self._seen:  # rolled back, or another text
            self._restart()
        new = list(generated[len(self._seen) :])
        self._seen += new
        window = self._tail + self._decoder.feed(new)
        self._found = self._found or any(stop in window for stop in self._stop)
        self._tail = window[-self._reach :] if self._reach else ""
        return self._found

    def trim(self, text: str) -> str:
        """`text` before the first stop string in it."""
        ends = [text.find(stop) for stop in self._stop]
        return text[: min((end for end in ends if end >= 0), default=len(text))]

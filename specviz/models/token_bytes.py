"""The true bytes behind each token id, for the kinds of tokenizers that causal models use.

A token need not be a whole character: "世" may be three tokens of a byte each. Asking the tokenizer to decode a
single id gives U+FFFD then, which cannot be told from a real U+FFFD, so the bytes are taken from the vocabulary.
"""

from __future__ import annotations

import json
import re
from functools import cache

from transformers import PreTrainedTokenizerBase

BYTE_FALLBACK = re.compile(r"<0x([0-9A-F]{2})>")


class TokenBytes:
    """`of(id)` gives the bytes that a token adds to the text; special tokens and unknown ids add none."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        self._added = {i: token.content for i, token in tokenizer.added_tokens_decoder.items()}
        special = {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
        self.special = frozenset(special | set(tokenizer.all_special_ids))
        self._kind = _kind(tokenizer)
        self._known: dict[int, bytes] = {}

    def name(self, id: int) -> str | None:
        """The entry of the vocabulary as it is written there; None beyond it."""
        return self._tokenizer.convert_ids_to_tokens(id) if 0 <= id < len(self._tokenizer) else None

    def of(self, id: int) -> bytes:
        """Bytes of one token."""
        found = self._known.get(id)
        if found is None:
            found = self._known[id] = self._read(id)
        return found

    def _read(self, id: int) -> bytes:
        if id in self.special:
            return b""
        if id in self._added:  # written as it is, not in the tokenizer's own spelling
            return self._added[id].encode()
        entry = self.name(id)
        if entry is None:
            return b""
        if self._kind == "byte-level":
            table = _byte_level_table()
            return b"".join(bytes([table[c]]) if c in table else c.encode() for c in entry)
        if self._kind == "sentencepiece":
            byte = BYTE_FALLBACK.fullmatch(entry)
            return bytes([int(byte[1], 16)]) if byte else entry.replace("▁", " ").encode()
        return self._tokenizer.convert_tokens_to_string([entry]).encode()


def _kind(tokenizer: PreTrainedTokenizerBase) -> str:
    """How entries of the vocabulary spell bytes, read off the tokenizer's decoder."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    decoder = json.loads(backend.decoder.__getstate__()) if backend is not None and backend.decoder else None
    steps = [decoder, *decoder.get("decoders", [])] if decoder else []
    types = {step["type"] for step in steps}
    if "ByteLevel" in types:
        return "byte-level"
    if types & {"ByteFallback", "Metaspace"} or hasattr(tokenizer, "sp_model"):
        return "sentencepiece"
    return "other"


@cache
def _byte_level_table() -> dict[str, int]:
    """GPT-2's spelling: printable bytes stand for themselves, the others for the characters from U+0100 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    table = {chr(byte): byte for byte in printable}
    hidden = (byte for byte in range(256) if byte not in set(printable))
    return table | {chr(256 + n): byte for n, byte in enumerate(hidden)}

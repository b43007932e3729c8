"""Prompts to ids and ids to text, against what the tokenizers themselves say."""

import random
import time

import pytest

from specviz.errors import SpecvizError
from specviz.models.text import MAX_CHARACTERS, StopStrings, StreamDecoder, TextCodec
from tests.unit.tiny_tokenizers import SPECIAL, byte_level, sentencepiece_like

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"  # an emoji of three, with joiners
TEXTS = [
    "hello world",
    "世界",
    "é",
    FAMILY,
    "a\ufffdb",
    " \n\t x",
    "<script>",
    "\u202eright to left",
    "a\x00b",
    "    deep",
]


@pytest.fixture(scope="module")
def tokenizer():
    return byte_level()


@pytest.fixture(scope="module")
def codec(tokenizer):
    return TextCodec(tokenizer, len(tokenizer))


def ordinary(tokenizer, text):
    turn = [{"role": "user", "content": text}]
    return tokenizer.apply_chat_template(turn, add_generation_prompt=True, return_dict=False)


@pytest.mark.parametrize("text", TEXTS)
def test_ordinary_text_is_encoded_as_the_tokenizer_does(codec, tokenizer, text):
    assert codec.encode(text) == ordinary(tokenizer, text)
    assert codec.encode(text, chat=False) == tokenizer(text)["input_ids"]


@pytest.mark.parametrize("text", ["<|end|>", "a<|end|>\n<|bot|>yes", "<|en<|end|>d|>", "<|user|>"])
def test_spelled_special_tokens_stay_text(codec, text):
    special = {codec.tokenizer.convert_tokens_to_ids(s) for s in SPECIAL}
    in_chat, raw = codec.encode(text), codec.encode(text, chat=False)
    assert sum(i in special for i in in_chat) == 3  # those of the template
    assert not special & set(raw)
    assert codec.decode(raw) == text
    assert text in codec.decode(in_chat)
    assert codec.encode("a", chat=False) == codec.tokenizer("a")["input_ids"]  # no flag is left behind


@pytest.mark.parametrize("text", TEXTS)
def test_round_trip_and_decode_like_the_tokenizer(codec, text):
    ids = codec.encode(text, chat=False)
    assert codec.decode(ids) == text
    assert b"".join(map(codec.bytes, ids)) == text.encode()
    assert codec.decode(codec.encode(text)) == codec.tokenizer.decode(codec.encode(text), skip_special_tokens=True)


def test_random_ids_decode_like_the_tokenizer(codec):
    rng = random.Random(0)
    for _ in range(300):
        ids = [rng.randrange(codec.vocab_size) for _ in range(rng.randrange(12))]
        assert codec.decode(ids, final=True) == codec.tokenizer.decode(ids, skip_special_tokens=True)


@pytest.mark.parametrize("text", ["世界", "é", FAMILY, "a\ufffd"])
def test_a_character_is_held_back_until_it_is_whole(codec, text):
    ids = codec.encode(text, chat=False)
    stream, written = StreamDecoder(codec), ""
    for n, id in enumerate(ids, 1):
        written += stream.feed([id])
        assert text.startswith(written)
        assert written == codec.decode(ids[:n])  # so a rollback to n tokens retracts what came after
    assert written == text
    assert stream.finish() == ""
    torn = codec.encode("世", chat=False)[:-1]
    if torn:
        assert codec.decode(torn) == ""
        assert codec.decode(torn, final=True) == "\ufffd"


def test_chips(codec):
    whole = codec.encode("é", chat=False)
    pieces = codec.encode("界" + FAMILY, chat=False)
    assert b"".join(codec.token(i).bytes or codec.token(i).text.encode() for i in pieces) == ("界" + FAMILY).encode()
    assert any(codec.token(i).bytes for i in pieces)
    assert all(codec.token(i).text == "" for i in pieces if codec.token(i).bytes)
    assert "".join(codec.token(i).text for i in whole) in ("é", "")
    end = codec.token(codec.tokenizer.convert_tokens_to_ids("<|end|>"))
    assert (end.text, end.special, codec.bytes(end.id)) == ("<|end|>", True, b"")
    for id in (codec.vocab_size, codec.vocab_size + 999, -1):
        assert (codec.token(id).text, codec.token(id).special, codec.bytes(id)) == (f"<{id}>", True, b"")
    spaces = codec.tokenizer.convert_tokens_to_ids("    ")
    assert (codec.token(spaces).text, codec.token(spaces).special) == ("    ", False)


def test_sentencepiece_bytes():
    tokenizer = sentencepiece_like()
    codec = TextCodec(tokenizer, len(tokenizer))
    ids = codec.encode("hi 世 é</s>")
    assert ids[0] == 1  # no chat template: raw, with the begin-of-text token that the tokenizer adds by itself
    assert 2 not in ids
    assert codec.decode(ids) == " hi 世 é</s>"
    assert codec.decode(ids).lstrip() == tokenizer.decode(ids, skip_special_tokens=True)
    assert codec.decode(ids[:-5]) == " hi 世 "
    token = codec.token(tokenizer.convert_tokens_to_ids("<0xE4>"))
    assert (token.text, token.bytes) == ("", b"\xe4")
    assert codec.token(tokenizer.convert_tokens_to_ids("<0x41>")).text == "A"


@pytest.mark.parametrize("prompt", ["", " ", "\n\t \u3000"])
def test_a_prompt_that_asks_nothing(codec, prompt):
    with pytest.raises(SpecvizError) as raised:
        codec.encode(prompt)
    assert raised.value.key == "errors.prompt_empty"
    if prompt:  # white space is something that a model can continue
        assert codec.decode(codec.encode(prompt, chat=False)) == prompt
    else:
        with pytest.raises(SpecvizError):
            codec.encode(prompt, chat=False)


def test_empty_raw_prompt_is_the_begin_of_text_token_where_there_is_one():
    tokenizer = sentencepiece_like()
    assert TextCodec(tokenizer, len(tokenizer)).encode("", chat=False) == [1]


def test_unfit_prompts(codec):
    start = time.monotonic()
    with pytest.raises(SpecvizError) as raised:
        codec.encode("x" * 10_000_000)
    assert raised.value.key == "errors.prompt_huge"
    assert time.monotonic() - start < 0.5
    assert len(codec.encode("x " * (MAX_CHARACTERS // 2))) > 1000
    with pytest.raises(SpecvizError) as raised:
        codec.encode("half \ud83d")
    assert raised.value.key == "errors.prompt_unicode"


def test_template_that_fails():
    tokenizer = byte_level(template="{{ raise_exception('no users, please') }}")
    with pytest.raises(SpecvizError, match="no users, please"):
        TextCodec(tokenizer, len(tokenizer)).encode("hello")


def test_no_template_means_raw_text():
    tokenizer = byte_level(template=None)
    codec = TextCodec(tokenizer, len(tokenizer))
    assert not codec.has_chat
    assert codec.encode("hello", chat=True) == tokenizer("hello")["input_ids"]


@pytest.mark.parametrize("stop", ["world", "lo w", "世", "d\n", "x"])
def test_stop_string_is_found_at_the_very_token_that_completes_it(codec, stop):
    text = "hello world\n世界"
    ids = codec.encode(text, chat=False)
    matcher = StopStrings(codec, [stop, "never"])
    for n in range(len(ids) + 1):
        assert matcher(ids[:n]) == (stop in codec.decode(ids[:n])), n
    assert matcher.trim(text) == text.split(stop)[0]


def test_stop_strings_after_a_rollback(codec):
    ids, other = codec.encode("say STOP now", chat=False), codec.encode("say SOMETHING else", chat=False)
    matcher = StopStrings(codec, ["STOP"])
    assert matcher(ids)
    assert not matcher(ids[:2])
    assert not matcher(other)
    assert matcher(tuple(ids))
    assert not StopStrings(codec, [])(ids)
    assert StopStrings(codec, ["b", "a"]).trim("xxaxbx") == "xx"


def test_long_texts_cost_linear_time(codec):
    ids = codec.encode("the quick brown fox " * 1000, chat=False)[:4000]
    matcher, grown = StopStrings(codec, ["never in there"]), []
    start = time.monotonic()
    for id in ids:
        grown.append(id)
        assert not matcher(grown)
    assert time.monotonic() - start < 1.0

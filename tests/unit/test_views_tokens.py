"""Tokens and numbers as they are shown: nothing unseen, nothing that breaks out of its place."""

import pytest

from specviz.trace import Token
from specviz.views import numbers, tokens


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" the", "␣the"),
        ("\n\t\r", "↵⇥␍"),
        ("\x00", "U+0000"),
        ("\u202eabc", "U+202Eabc"),
        ("\u200b", "U+200B"),
        ("a\u3164\u034f", "aU+3164U+034F"),
        ("世界", "世界"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("\u200d", "U+200D"),
        ("\ufffd", "\ufffd"),
    ],
)
def test_every_character_is_seen(text, shown):
    assert tokens.visible(text) == shown


@pytest.mark.parametrize(
    "text", ["<script>", '"><img src=x onerror=alert(1)>', "<b>x</b>", "a & b", "`${1+1}`", "%{x}"]
)
def test_labels_hold_no_markup(text):
    label = tokens.label({1: Token(1, text)}, 1)
    assert not set("<>") & set(label)
    assert "&quot;" not in label  # Plotly would show it as it is written


def test_bytes_specials_and_unknown_tokens():
    vocab = {1: Token(1, "", bytes=b"\xe4\xb8"), 2: Token(2, "<|im_end|>", special=True)}
    assert tokens.name(vocab, 1) == "E4·B8"
    assert tokens.name(vocab, 2) == "⟨im_end⟩"
    assert tokens.name(vocab, 3) == "#3"


def test_characters_are_joined_from_their_bytes():
    vocab = {
        1: Token(1, "", bytes=b"\xe4\xb8"),
        2: Token(2, "", bytes=b"\x96"),
        3: Token(3, "!"),
        4: Token(4, "<|x|>", special=True),
    }
    assert tokens.text_of(vocab, [1, 2, 4, 3]) == "世!"
    assert tokens.text_of(vocab, [1]) == "\ufffd"


def test_two_tokens_never_share_a_place_on_an_axis():
    vocab = {1: Token(1, "a" * 40), 2: Token(2, "a" * 41)}
    assert len(set(tokens.unique_labels(vocab, [1, 2]))) == 2


@pytest.mark.parametrize(
    ("x", "shown"),
    [(0, "0"), (1, "1"), (0.5, "0.50"), (0.011, "0.011"), (0.000004, "0.000004"), (1e-9, "< 0.000001"),
     (0.9999, "0.9999"), (0.99999, "≈ 1"), (0.00096, "0.00096"), (9.5e-5, "0.000095"), (None, "–"), (0.997, "0.997")],
)  # fmt: skip
def test_probabilities(x, shown):
    assert numbers.prob(x) == shown


def test_numbers_that_are_compared_can_be_told_apart():
    assert numbers.apart(0.3101, 0.3104) == ("0.3101", "0.3104")
    assert numbers.ratio(0.5, 0) == "∞"
    assert numbers.ratio(0, 0) == "0"

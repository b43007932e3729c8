"""The general forms against the closed ones, and against rounds played by chance."""

import random

import pytest

from specviz.theory import expected_tokens, expected_tokens_by_position, speedup, speedup_by_position


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("k", [0, 1, 5])
def test_with_one_alpha_it_is_the_paper_s(alpha, k):
    assert expected_tokens_by_position([alpha] * k) == pytest.approx(expected_tokens(alpha, k))
    assert speedup_by_position([alpha] * k, k * 0.1) == pytest.approx(speedup(alpha, k, 0.1))


def test_what_rounds_played_by_chance_bring():
    conditional, drafting, checking = [0.9, 0.4, 0.7, 0.2], 0.35, 1.6
    rng, tokens, rounds = random.Random(7), 0, 40_000
    for _ in range(rounds):
        tokens += 1
        for alpha in conditional:
            if rng.random() >= alpha:
                break
            tokens += 1
    # the standard error of tokens / rounds is about .005
    assert tokens / rounds == pytest.approx(expected_tokens_by_position(conditional), abs=0.03)
    seconds = rounds * (drafting + checking)  # plain decoding: one second a token
    assert tokens / seconds == pytest.approx(speedup_by_position(conditional, drafting, checking), abs=0.02)


@pytest.mark.parametrize("bad", [([1.1], 0, 1), ([-0.1], 0, 1), ([0.5], -1, 1), ([0.5], 0, 0)])
def test_nonsense_is_refused(bad):
    with pytest.raises(ValueError, match=r"alpha|drafting"):
        speedup_by_position(*bad)

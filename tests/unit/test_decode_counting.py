"""Counting and stopping: exact lengths, ends of text, one target pass a round, rows of the caches."""

import pytest

from specviz.config import Override, RunConfig
from specviz.engine.decode import Decoder, autoregressive, speculative
from specviz.engine.drafters import LookupDrafter
from specviz.errors import SpecvizError
from specviz.metrics import measure
from specviz.trace import Finish, Kind, Rows, Status

from .table_lm import TableLM, drafter, one_hot, scripted

V = 12
TEXT = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def decoder(config, target=None, draft=None, tokens=(1,), **options):
    target = target or scripted(TEXT, V)
    return Decoder(target, drafter(draft or scripted(TEXT, V)), list(tokens), config, **options)


def run(d):
    rounds = []
    while d.finish is None:
        rounds.append(d.step())
    return rounds, [t for r in rounds for t in r.emitted]


@pytest.mark.parametrize("n", [0, 1, 2, 4, 5, 6, 11])
def test_exactly_max_new_tokens(n):
    d = decoder(RunConfig(k=4, max_new_tokens=n))
    rounds, tokens = run(d)
    assert tokens == TEXT[1 : n + 1]
    assert d.finish is Finish.LENGTH
    assert sum(len(r.draft.tokens) + 1 for r in rounds) == n  # nothing drafted in vain when all is accepted


@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_draft_equal_to_target_is_always_accepted(k):
    rounds, tokens = run(decoder(RunConfig(k=k, max_new_tokens=12)))
    assert tokens == TEXT[1:13]
    assert all(v.status is Status.ACCEPTED for r in rounds for v in r.verdicts)
    assert {r.final.kind for r in rounds if r.draft.tokens} <= {Kind.BONUS}
    assert {r.final.kind for r in rounds if not r.draft.tokens} <= {Kind.TARGET}


def test_one_target_pass_a_round_and_rows():
    target, draft = scripted(TEXT, V), scripted(TEXT, V)
    d = decoder(RunConfig(k=3, max_new_tokens=20), target, draft, tokens=TEXT[:3])
    first, second = d.step(), d.step()
    assert target.passes == [2, 4, 4]  # prefill of all but the last token, then k + 1 tokens a round
    assert draft.passes == [2, 1, 1, 1, 2, 1, 1]  # after full acceptance: the last draft and the bonus
    assert (first.target_rows, first.draft_rows) == (Rows(2, 6, 6), Rows(2, 5, 5))
    assert (second.target_rows, second.draft_rows) == (Rows(6, 10, 10), Rows(5, 9, 9))


def test_rejected_rows_are_rolled_back():
    wrong = TableLM(lambda prefix: one_hot(0 if len(prefix) == 4 else TEXT[len(prefix)], V), V)
    target = scripted(TEXT, V)
    d = decoder(RunConfig(k=4, max_new_tokens=20), target, wrong, tokens=TEXT[:2])
    done = d.step()
    assert [v.status for v in done.verdicts] == ["accepted", "accepted", "rejected", "unreached"]
    assert done.emitted == (3, 4, 5)
    assert done.final.kind is Kind.RECOVERED
    assert (done.target_rows, done.draft_rows) == (Rows(1, 6, 4), Rows(1, 5, 4))
    assert (target.read, wrong.read) == (TEXT[:4], TEXT[:4])


def test_eos_inside_an_accepted_run_ends_the_text_there():
    d = decoder(RunConfig(k=4, max_new_tokens=20), eos=(4, 99))
    rounds, tokens = run(d)
    assert tokens == [2, 3, 4]
    assert d.finish is Finish.STOP
    assert rounds[-1].final is None
    assert [v.status for v in rounds[-1].verdicts] == ["accepted", "accepted", "accepted", "unreached"]
    assert rounds[-1].verdicts[3].u is None
    assert measure(rounds).emitted == 3


def test_eos_as_the_last_allowed_token_is_a_stop_not_a_length():
    d = decoder(RunConfig(k=4, max_new_tokens=3), eos=(4,))
    assert run(d)[1] == [2, 3, 4]
    assert d.finish is Finish.STOP


def test_eos_as_the_final_token_of_a_round():
    d = decoder(RunConfig(k=2, max_new_tokens=20), eos=(4,))
    rounds, tokens = run(d)
    assert tokens == [2, 3, 4]
    assert rounds[-1].final.kind is Kind.BONUS


def test_rejected_eos_does_not_stop():
    draft = TableLM(lambda prefix: one_hot(0 if len(prefix) == 2 else TEXT[len(prefix)], V), V)
    d = decoder(RunConfig(k=3, max_new_tokens=6), draft=draft, eos=(0,))
    assert run(d)[1] == TEXT[1:7]
    assert d.finish is Finish.LENGTH


@pytest.mark.parametrize(("eos", "ignore"), [((), False), ((4,), True)])
def test_no_eos_or_ignored_eos(eos, ignore):
    d = decoder(RunConfig(k=4, max_new_tokens=9, ignore_eos=ignore), eos=eos)
    assert run(d)[1] == TEXT[1:10]


def test_eos_in_the_prompt_does_not_stop():
    d = decoder(RunConfig(k=2, max_new_tokens=4), tokens=TEXT[:4], eos=(2,))
    assert run(d)[1] == TEXT[4:8]


def test_stop_sees_the_generated_text_only():
    seen = []
    d = decoder(RunConfig(k=4, max_new_tokens=20), stop=lambda new: seen.append(list(new)) or new[-2:] == [4, 5])
    assert run(d)[1] == [2, 3, 4, 5]
    assert seen == [[2], [2, 3], [2, 3, 4], [2, 3, 4, 5]]


def test_context_end():
    d = decoder(RunConfig(k=4, max_new_tokens=100), target=scripted(TEXT, V, max_context=9))
    rounds, tokens = run(d)
    assert tokens == TEXT[1:9]
    assert d.finish is Finish.CONTEXT
    assert [len(r.draft.tokens) for r in rounds] == [4, 2]  # 9 in all: 1 + (4 + 1) + (2 + 1)


def test_draft_with_a_shorter_context_stops_drafting():
    d = decoder(RunConfig(k=4, max_new_tokens=12), draft=scripted(TEXT, V, max_context=6))
    rounds, tokens = run(d)
    assert tokens == TEXT[1:13]
    assert [len(r.draft.tokens) for r in rounds[-3:]] == [0, 0, 0]


def test_prompt_longer_than_the_context_is_refused():
    with pytest.raises(SpecvizError) as error:
        decoder(RunConfig(), target=scripted(TEXT, V, max_context=3), tokens=TEXT[:4])
    assert error.value.key == "errors.prompt_long"


def test_empty_prompt_is_refused():
    with pytest.raises(SpecvizError):
        decoder(RunConfig(), tokens=[])


def test_nan_is_refused():
    with pytest.raises(SpecvizError) as error:
        decoder(RunConfig(k=1), target=TableLM(lambda _: [float("nan")] * V, V)).step()
    assert error.value.key == "errors.nan"


def test_one_token_prompt_and_autoregressive():
    rounds = list(autoregressive(scripted(TEXT, V), [1], RunConfig(k=5, max_new_tokens=5)))
    assert [r.emitted for r in rounds] == [(2,), (3,), (4,), (5,), (6,)]
    assert all(r.final.kind is Kind.TARGET and not r.draft.tokens for r in rounds)


def test_forced_token_and_forced_u():
    config = RunConfig(
        k=3, temperature=1.0, max_new_tokens=20, overrides=(Override(0, 1, token=7), Override(1, 0, u=0.125))
    )
    d = decoder(config)
    first, second = d.step(), d.step()
    assert first.draft.tokens[1] == 7
    assert first.verdicts[1].status is Status.REJECTED
    assert first.emitted == (2, 3)
    assert second.verdicts[0].u == 0.125


def test_lookup_copies_what_followed_before():
    text = [5, 6, 7, 8, 9, 5, 6]
    lookup = LookupDrafter(V, scripted(TEXT, V).device)
    assert lookup.find(text, 3) == [7, 8, 9]
    assert lookup.find([1, 2, 3], 3) == []
    assert lookup.find([1], 3) == []
    looped = [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2]
    target = TableLM(lambda prefix: one_hot(len(prefix) % 3 + 1, V), V)
    rounds = list(speculative(target, LookupDrafter(V, target.device), looped[:5], RunConfig(k=4, max_new_tokens=6)))
    assert [t for r in rounds for t in r.emitted] == [3, 1, 2, 3, 1, 2]
    assert rounds[0].draft_rows is None
    assert rounds[0].draft.q == (1.0,) * len(rounds[0].draft.tokens)


def test_hidden_states_reach_a_drafter_that_wants_them():
    class Watching(type(drafter(scripted(TEXT, V)))):
        layers = (-1,)

        def prefill(self, tokens, hidden):
            super().prefill(tokens, hidden)
            seen.append(hidden.flatten().tolist())

        def commit(self, length, hidden, path=()):
            super().commit(length, hidden, path)
            seen.append(hidden.flatten().tolist())

    seen = []
    watching = Watching(scripted(TEXT, V))
    list(speculative(scripted(TEXT, V), watching, TEXT[:3], RunConfig(k=2, max_new_tokens=6)))
    # of the prompt but its last token; then, each round, of the text's last token and of each accepted one
    assert seen == [[1, 2], [3, 4, 5], [6, 7, 8]]

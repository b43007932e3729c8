"""A tiny target writes a corpus: the batch is the model, draws follow its law, and a new start goes on."""

import json

import pytest
import torch

from specviz.errors import SpecvizError
from specviz.training.batch import Batch, draw_rows
from specviz.training.chat import Chat
from specviz.training.corpus import CorpusPlan, Writer
from specviz.training.labels import HIDDEN, TAPS, Labels
from specviz.training.prompts import Prompt, evaluation
from specviz.training.sequence import Sequence
from specviz.training.shards import read_shard, shards
from specviz.training.teacher import label_texts
from tests.tiny import tiny_model
from tests.unit.tiny_tokenizers import byte_level

PLAN = CorpusPlan(tokens=1, seed=1, rows=6, width=96, shard=5)
TOKENIZER = byte_level()
EOS = frozenset({0})


@pytest.fixture(scope="module")
def model():
    return tiny_model("llama", vocab_size=len(TOKENIZER)).requires_grad_(False)


def write(model, out, tokens, draft=None):
    from dataclasses import replace

    plan = replace(PLAN, tokens=tokens)
    return Writer(model, TOKENIZER, tuple(EOS), out, plan, draft).run(lambda *_, **__: None)


@torch.inference_mode()
def test_every_row_of_the_batch_is_a_plain_pass(model):
    """Rows at different positions, and rows that went back to the prefix."""
    prefix, torch_rng = [3, 5, 7], torch.Generator().manual_seed(0)
    batch = Batch(model, rows=3, width=40, prefix=prefix)
    texts = [list(prefix) for _ in range(3)]
    for step in range(12):
        if step == 5:
            texts[1] = list(prefix)  # a new text in this row
        new = torch.randint(1, 60, (3,), generator=torch_rng)
        logits = batch.step(new, torch.tensor([len(text) for text in texts]))
        for row, text in enumerate(texts):
            text.append(int(new[row]))
            plain = model(torch.tensor([text]), use_cache=False).logits[0, -1]
            torch.testing.assert_close(logits[row], plain, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("size", [40, 700])
def test_drawn_rows_follow_the_law(size):
    logits = 2 * torch.randn(1, size, generator=torch.Generator().manual_seed(1))
    n = 20_000
    u = (torch.arange(n, dtype=torch.float64) + 0.5) / n  # evenly spread: the inverse must give each its share
    drawn = draw_rows(logits.expand(n, -1), torch.full((n,), 0.8), u)
    law = (logits[0] / 0.8).softmax(-1)
    assert (torch.bincount(drawn, minlength=size) / n - law).abs().max() < 2e-4
    greedy = draw_rows(logits.expand(2, -1), torch.zeros(2), torch.tensor([0.0, 0.99], dtype=torch.float64))
    assert greedy.tolist() == [int(logits.argmax())] * 2


def test_the_chat_pieces_make_the_template():
    chat = Chat.of(TOKENIZER, EOS)
    ids = [*chat.opening, *TOKENIZER("hi")["input_ids"], *chat.to_answer]
    asked = TOKENIZER.apply_chat_template([{"role": "user", "content": "hi"}], add_generation_prompt=True)
    assert TOKENIZER.decode(ids).startswith(TOKENIZER.decode(asked["input_ids"])[:8])
    assert chat.close == (0,)
    assert chat.to_user[0] != 0


def test_two_turns_are_given_and_two_answers_written():
    chat = Chat((1,), (2, 3), (0,), (4,))
    text = Sequence(0, 0, Prompt("x", ("a", "b"), 0.0), chat, lambda turn: [ord(turn)], EOS, 100)
    for drawn in (50, 51, 52, 60, 0, *[70] * 4, 71, 0):  # draws in the place of given tokens are not taken
        text.take(drawn)
    assert text.tokens == [1, 97, 2, 3, 60, 0, 4, 98, 2, 3, 71, 0]
    assert text.spans == [[4, 6], [10, 12]]
    assert text.done


def test_a_self_written_evaluation_prompt_is_thrown_away():
    asked = evaluation()["explain"][0]
    chat = Chat((1,), (0, 3), (0,), (4,))
    text = Sequence(0, 0, Prompt("magpie", (), 0.0), chat, lambda turn: [], EOS, 100)
    for drawn in (10, 11, 0, 99, *range(20, 40), 0):
        text.take(drawn)
    assert text.user_turn == range(1, 4)
    assert text.question == [10, 11]  # without what ends it: as text that would be more letters
    assert text.spans == [[1, 4], [5, 26]]
    assert text.worth_keeping(lambda ids: "Something else?")
    assert not text.worth_keeping(lambda ids: asked.upper() + "  ")


def test_a_new_start_goes_on_and_makes_the_same_texts(model, tmp_path):
    report = write(model, tmp_path / "whole", 1200)
    assert report["tokens"] >= 1200
    for tokens in (1, 600, 1200):  # three starts
        write(model, tmp_path / "parts", tokens)
    whole, parts = shards(tmp_path / "whole"), shards(tmp_path / "parts")
    assert len(whole) >= 3
    for a, b in zip(whole, parts, strict=False):
        assert a.name == b.name
        assert a.read_bytes() == b.read_bytes()
        assert a.with_suffix(".jsonl").read_text() == b.with_suffix(".jsonl").read_text()
    assert json.loads((tmp_path / "parts" / "corpus.json").read_text())["plan"]["seed"] == 1


def test_the_labels_made_on_the_way_are_those_of_reading_again(model, tmp_path):
    write(model, tmp_path, 1)
    for path in shards(tmp_path):
        texts, labels = read_shard(path), Labels(path)
        again, at = label_texts(model, texts), 0
        for text in texts:
            end = at + len(text.tokens) - 1  # after the last token there is nothing to label
            assert torch.equal(labels.read("ids", at, end)[:, :4], again["ids"][at:end, :4])
            torch.testing.assert_close(labels.read("probs", at, end), again["probs"][at:end], atol=1e-3, rtol=1e-2)
            for name in (HIDDEN, TAPS):
                torch.testing.assert_close(labels.read(name, at, end), again[name][at:end], atol=0.06, rtol=0.02)
            at = end + 1


def test_what_a_draft_wrote_is_told_apart(model, tmp_path):
    own = write(model, tmp_path, 1)
    assert own["writer"] == own["target"]
    assert own["tokens_by_writer"]["draft"] == 0
    both = write(model, tmp_path, own["tokens"] + 1, draft="mine")
    assert both["writer"] == "mine"
    assert both["tokens_by_writer"]["target"] == own["tokens_by_writer"]["target"]
    assert both["tokens_by_writer"]["draft"] > 0
    names = [path.stem for path in shards(tmp_path)]
    assert [name for name in names if name.startswith("seed1-")]
    assert [name for name in names if name.startswith("draft-seed1-")]
    labelled = {path.stem for path in (tmp_path / "teacher").iterdir()}
    assert labelled == {name for name in names if name.startswith("seed1-")}  # the target has yet to judge the others


def test_a_corpus_that_is_whole_stays_as_it_is(model, tmp_path):
    own = write(model, tmp_path, 1)
    before = (tmp_path / "corpus.json").read_bytes()
    assert write(model, tmp_path, own["tokens"]) == json.loads(before)
    with pytest.raises(SpecvizError, match=f"holds {own['tokens']} tokens already"):
        write(model, tmp_path, 1, draft="mine")
    assert (tmp_path / "corpus.json").read_bytes() == before
    write(model, tmp_path, own["tokens"] + 1, draft="mine")
    both = json.loads((tmp_path / "corpus.json").read_text())
    assert write(model, tmp_path, 1, draft="mine") == both  # begun again with the same words


def test_texts_are_read_as_they_were_written(model, tmp_path):
    write(model, tmp_path, 1)
    texts = [text for path in shards(tmp_path) for text in read_shard(path)]
    assert texts
    for text in texts:
        assert 0 < len(text.tokens) <= PLAN.width
        assert all(0 <= a < b <= len(text.tokens) for a, b in text.spans)


def test_a_broken_corpus_is_refused(model, tmp_path):
    write(model, tmp_path, 1)
    path = shards(tmp_path)[0]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SpecvizError, match="does not fit"):
        read_shard(path)

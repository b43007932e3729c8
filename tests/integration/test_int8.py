"""The bundled target in 8 bits: a model of its own, decoded as exactly as the whole one."""

import pytest
import torch

from specviz.config import RunConfig
from specviz.errors import SpecvizError
from specviz.models.check import check_identity
from specviz.models.load import load_pair
from specviz.models.run import run
from specviz.models.subject import fresh
from tests.tiny import tiny_model

PROMPT = "Explain why the sky is blue."


@pytest.fixture(scope="module")
def rounded():
    return load_pair(device="cpu", dtype="int8")


@pytest.mark.pair
@pytest.mark.parametrize("method", ["skip", "eagle"])
def test_drafting_changes_nothing(rounded, method):
    found = check_identity(rounded, RunConfig(method=method, k=4), prompts=[PROMPT], tokens=24)
    assert found.passed
    assert found.tokens > 10


@pytest.mark.pair
def test_it_is_near_the_whole_model_and_says_what_it_is(rounded, pair):
    ids = pair.codec.encode(PROMPT)
    p, q = (torch.softmax(fresh(one, ids), -1) for one in (pair, rounded))
    assert 0 < (p - q).abs().sum() < 0.5
    assert run(rounded, PROMPT, RunConfig(method="none", max_new_tokens=2)).models.dtype == "int8"


def test_other_architectures_are_refused(tmp_path, pair):
    tiny_model("gpt2", vocab_size=pair.vocab_size).save_pretrained(tmp_path)
    pair.codec.tokenizer.save_pretrained(tmp_path)
    with pytest.raises(SpecvizError, match="int8"):
        load_pair(target=str(tmp_path), method="none", device="cpu", dtype="int8")

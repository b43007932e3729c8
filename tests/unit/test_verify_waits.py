"""Nothing between the draft and the verdicts asks the device for a number: on a GPU each such question is a wait."""

from collections import Counter

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from specviz.config import RunConfig
from specviz.engine.decode import Decoder
from specviz.engine.drafters import ModelDrafter
from specviz.engine.medusa import MedusaHeads
from specviz.engine.model import CachedLM
from specviz.engine.tree import Tree
from specviz.engine.verify_block import walk_block
from specviz.engine.verify_tree import Siblings, walk_tree
from specviz.engine.verify_typical import walk_typical
from tests import tiny

from .tiny_drafters import TREES, decoder, noisy, prompt, tiny_target

ASKING = {"_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "unique_dim", "_unique2"}
SHAPES = [(), (-1,), (-1, 0, 1), (-1, -1, 0, 0, 1, 2)]
V = 7


class Questions(TorchDispatchMode):
    """Counts the operations whose result has to come to the host."""

    def __init__(self):
        super().__init__()
        self.seen = Counter()

    def __torch_dispatch__(self, call, types, args=(), kwargs=None):
        name = call._schema.name.removeprefix("aten::")
        if name in ASKING:
            self.seen[name] += 1
        return call(*args, **(kwargs or {}))


def walks(device):
    """Each rule on each shape it judges; final draws as a number of the device."""
    u = torch.rand(9, dtype=torch.float64, device=device)
    for parents in SHAPES:
        tree, n = Tree(parents), len(parents)
        p = torch.rand(n + 1, V, device=device).softmax(-1)
        q, drafted = torch.rand(n, V, device=device).softmax(-1), torch.zeros(n, dtype=torch.long, device=device)
        for siblings in Siblings:
            yield lambda: walk_tree(p, q, tree.on(p.device).contexts, drafted, tree, siblings, u[:n], u[-1])  # noqa: B023
        yield lambda: walk_typical(p, q, tree.on(p.device).contexts, drafted, tree, 0.09, 0.3, u[-1])  # noqa: B023
        if tree.is_chain:
            yield lambda: walk_block(p, q, drafted, u[:n], u[-1])  # noqa: B023


def test_the_rules_ask_nothing():
    with Questions() as questions:
        for walk in walks("cpu"):
            walk()
    assert not questions.seen


def test_the_rules_work_where_there_is_nothing_to_ask():
    """On the device that knows shapes only, a question is an error."""
    for walk in walks("meta"):
        assert walk().token.device.type == "meta"


def test_the_count_sees_an_index_on_the_device():
    """Plant: a row by its number, as it would be written without a thought."""
    with Questions() as questions:
        torch.rand(3, V)[torch.tensor(1)]
    assert questions.seen["_local_scalar_dense"] == 1


@pytest.fixture(scope="module")
def model():
    return tiny_target()


@pytest.mark.parametrize("verify", ["lossless", "greedy", "block", "typical"])
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_round_with_a_chain_asks_nothing(verify, temperature, model):
    """But for its records, which come to the host all at once."""
    config = RunConfig(k=4, temperature=temperature, top_k=20, verify=verify, max_new_tokens=30)
    run = Decoder(CachedLM(model), ModelDrafter(CachedLM(noisy(model))), prompt(), config)
    with Questions() as questions:
        while run.finish is None:
            run.step()
    assert not questions.seen


def test_a_round_with_a_chain_waits_once(model, monkeypatch):
    config = RunConfig(k=4, temperature=0.8, max_new_tokens=30)
    run = Decoder(CachedLM(model), ModelDrafter(CachedLM(noisy(model))), prompt(), config)
    rounds, waits, to_list = 0, [], torch.Tensor.tolist
    monkeypatch.setattr(torch.Tensor, "tolist", lambda self: waits.append(1) or to_list(self))
    while run.finish is None:
        run.step()
        rounds += 1
    assert len(waits) == rounds


@pytest.mark.parametrize("chain", [False, True])
@pytest.mark.parametrize("name", TREES)
def test_rounds_of_all_drafters_ask_nothing(name, chain, model):
    shape = {"tree": (), "nodes": 0} if chain else {}
    run = decoder(name, model, prompt(), prompt(), max_new_tokens=20, temperature=1.0, **shape)
    if name == "medusa":
        run.drafter.heads = MedusaHeads(4, 32, tiny.V, lm_head=model.get_output_embeddings())
    with Questions() as questions:
        while run.finish is None:
            run.step()
    assert not questions.seen

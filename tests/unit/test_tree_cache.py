"""Trees in the KV cache: every node's logits against a chain of its path, and the cache after a path was kept."""

import pytest
import torch
from transformers import Llama4TextConfig, StaticCache
from transformers.cache_utils import DummyLayer

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.decode import Decoder
from specviz.engine.model import CachedLM, sliding_window
from specviz.engine.sampling import round_draws
from specviz.engine.tree import Branches, Tree
from specviz.engine.tree_drafter import TreeDrafter
from specviz.errors import SpecvizError
from tests.tiny import CONFIGS, V, tiny_model

TREE = Tree((-1, -1, -1, 0, 0, 1, 2, 3, 3, 5, 7, 4, 10))
PATHS = [(), (2,), (1, 5), (0, 4, 11), (1, 5, 9), (0, 3, 7, 10, 12), (0, 3, 8)]
CHOICES = ((0,), (1,), (2,), (0, 0), (0, 1), (1, 0), (1, 1), (0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 0, 0, 0))
WINDOW = {"sliding": {"sliding_window": 40}}  # wide enough for text and tree


def text(length, seed=0):
    return torch.randint(V, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


def fresh(model, tokens, rows=1):
    """The logits of one full forward without any cache: the truth."""
    with torch.inference_mode():
        return model(torch.tensor([tokens]), use_cache=False).logits[0, -rows:]


def close(a, b):
    torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


@pytest.fixture(
    scope="module", params=[(family, kind) for family in CONFIGS for kind in ("eager", "sdpa")], ids="-".join
)
def model(request):
    family, attention = request.param
    made = tiny_model(family, **WINDOW.get(family, {}))
    made.set_attn_implementation(attention)
    made.family = family
    return made


@pytest.fixture(params=["dynamic", "static"])
def lm(request, model):
    static = StaticCache(config=model.config, max_cache_len=40) if request.param == "static" else None
    return CachedLM(model, cache=static)


def read(lm, tokens, drafted, tree=TREE):
    """The text but its last token; then that and the nodes of the tree in one pass. Logits [n + 1, V]."""
    lm.prefill(torch.tensor(tokens[:-1], dtype=torch.long))
    branches = Branches.of(tree, len(tokens), 1)
    return lm.forward(torch.tensor([tokens[-1], *drafted]), len(tree) + 1, branches=branches).logits


@pytest.mark.parametrize("length", [1, 9])
def test_every_node_as_in_a_chain_of_its_path(lm, model, length):
    tokens, drafted = text(length), text(len(TREE), seed=1)
    logits = read(lm, tokens, drafted)
    close(logits[0], fresh(model, tokens)[0])
    for node in range(len(TREE)):
        close(logits[node + 1], fresh(model, [*tokens, *(drafted[i] for i in TREE.path(node))])[0])


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_next_logits_after_a_path_was_kept(lm, model, path):
    tokens, drafted = text(9), text(len(TREE), seed=1)
    read(lm, tokens, drafted)
    lm.keep(9, [9 + node for node in path])
    assert lm.length == 9 + len(path)
    now, more = tokens + [drafted[node] for node in path], text(3, seed=2)
    close(lm.forward(torch.tensor(more), rows=3).logits, fresh(model, now + more, 3))
    lm.rollback(len(now))  # and another tree behind it
    small = Tree((-1, -1, 0, 1))
    logits = lm.forward(torch.tensor([more[0], 5, 6, 7, 8]), 5, branches=Branches.of(small, len(now) + 1, 1)).logits
    close(logits[4], fresh(model, [*now, more[0], 6, 8])[0])


def test_the_drafts_cache_after_every_path(model):
    """The draft reads a tree level by level; after the commit its next logits are those of the kept text."""
    config = RunConfig(tree=CHOICES, siblings="distinct", temperature=1.0)
    for seed in range(3):
        for end in range(-1, len(CHOICES)):
            drafter, tokens = TreeDrafter(CachedLM(model)), text(9, seed)
            drafter.prefill(tokens, None)
            draws = round_draws(seed, 0, len(CHOICES))
            drafted = drafter.propose(tokens, config.depth, draws, {}, config, Clock(drafter.lm.device, False))
            path = drafted.tree.path(end)
            q = drafted.q[drafted.source]
            for node in path:  # q of each node is that of a chain
                before = [*tokens, *(int(drafted.tokens[i]) for i in drafted.tree.path(node)[:-1])]
                close(q[node], fresh(model, before)[0].softmax(-1))
            drafter.commit(9 + len(path), None, path)
            now = [*tokens, *(int(drafted.tokens[i]) for i in path)]
            assert 9 + max(0, len(path) - 1) <= drafter.rows <= len(now)
            more = [*now[drafter.rows :], 3]
            close(drafter.lm.forward(torch.tensor(more)).logits, fresh(model, [*now, 3]))


def test_both_caches_through_a_sampled_run(model):
    """After every round the target's holds exactly the text without its last token, the draft's a part of it."""
    config = RunConfig(tree=CHOICES, siblings="iid", temperature=1.0, seed=2, max_new_tokens=20)
    draft = tiny_model(model.family, **WINDOW.get(model.family, {}))
    with torch.no_grad():
        for weight in draft.parameters():
            weight += 0.01 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(5))
    big, small = CachedLM(model), CachedLM(draft)
    run = Decoder(big, TreeDrafter(small), text(6), config)
    lengths = set()
    while run.finish is None:
        done = run.step()
        lengths.add((len(done.path), done.path == tuple(range(len(done.path)))))
        assert big.length == len(run.tokens) - 1
        assert small.length <= len(run.tokens) - 1
        close(probe(model, big, run.tokens[-1:]), fresh(model, run.tokens))
        close(probe(draft, small, run.tokens[small.length :]), fresh(draft, run.tokens))
    assert any(not contiguous for _, contiguous in lengths)  # the run has seen rows being gathered


def probe(model, lm, tokens):
    """The logits after some more tokens, which are taken back."""
    other = CachedLM(model, cache=lm.cache)
    other.length = lm.length
    logits = other.forward(torch.tensor(tokens)).logits
    other.rollback(lm.length)
    return logits


# ---- planted faults: each moves the logits, so the comparisons above would catch it ----


@pytest.mark.parametrize("fault", ["positions of a chain", "mask of a chain", "mask of bools", "rows not gathered"])
def test_planted_faults_move_the_logits(fault, monkeypatch):
    model = tiny_model()
    model.set_attn_implementation("eager")
    tokens, drafted, path = text(9), text(len(TREE), seed=1), (1, 5, 9)
    right = Branches.of
    if fault == "positions of a chain":
        branches = Branches(right(TREE, 9, 1).sees, torch.arange(8, 9 + len(TREE)))
        monkeypatch.setattr(Branches, "of", lambda *_: branches)
    elif fault == "mask of a chain":
        branches = Branches(torch.ones(14, 14, dtype=torch.bool).tril(), right(TREE, 9, 1).position)
        monkeypatch.setattr(Branches, "of", lambda *_: branches)
    elif fault == "mask of bools":
        monkeypatch.setattr(Branches, "mask", lambda self, before, *_: self.whole(before)[None, None])
    lm = CachedLM(model)
    logits = read(lm, tokens, drafted)
    now = tokens + [drafted[i] for i in path]
    if fault == "rows not gathered":
        lm.rollback(12)
        assert (lm.forward(torch.tensor([3])).logits - fresh(model, [*now, 3])).abs().max() > 0.05
    else:
        assert (logits[10] - fresh(model, now)[0]).abs().max() > 0.05


# ---- limits ----


def test_a_tree_beyond_a_sliding_window_is_refused():
    """A window of 8: text and tree of 8 rows are right, one more is refused, and a chain still works."""
    model = tiny_model("sliding")
    tree, tokens, drafted = Tree((-1, -1, 0, 1)), text(4), [5, 6, 7, 8]
    lm = CachedLM(model)
    logits = read(lm, tokens, drafted, tree)
    close(logits[4], fresh(model, [*tokens, 6, 8])[0])
    lm.keep(4, [5, 7])
    close(lm.forward(torch.tensor([9, 10, 11]), 3).logits, fresh(model, [*tokens, 6, 8, 9, 10, 11], 3))
    with pytest.raises(SpecvizError, match="8") as error:
        read(CachedLM(model), text(5), drafted, tree)
    assert error.value.key == "errors.tree_window"
    assert error.value.values == {"tokens": 9, "window": 8}


def test_windows_of_some_layers_and_chunks_count_too():
    assert sliding_window(tiny_model("llama").config) is None
    assert sliding_window(tiny_model("qwen2").config) is None
    assert sliding_window(tiny_model("sliding").config) == 8
    assert sliding_window(Llama4TextConfig(attention_chunk_size=32, num_hidden_layers=4)) == 32


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_positions_end_where_the_context_does_and_rows_need_not(family):
    """A context of 128: a tree of three levels behind 125 tokens fits however many nodes it has, behind 126 not."""
    model = tiny_model(family)
    tree = Tree((-1, -1, 0, 0, 1, 2, 3, 4))
    tokens, drafted = text(125), text(8, seed=1)
    logits = read(CachedLM(model), tokens, drafted, tree)
    close(logits[8], fresh(model, [*tokens, drafted[1], drafted[4], drafted[7]])[0])
    with pytest.raises(SpecvizError) as error:
        read(CachedLM(model), text(126), drafted, tree)
    assert error.value.key == "errors.prompt_long"


def test_more_rows_than_a_static_cache_has_are_refused():
    model = tiny_model()
    lm = CachedLM(model, cache=StaticCache(config=model.config, max_cache_len=12))
    lm.forward(torch.tensor(text(10)))
    with pytest.raises(SpecvizError):
        lm.forward(torch.tensor([1, 2, 3]))
    assert lm.length == 10


def test_layers_without_rows_of_their_own():
    """Some models' last layers read the keys and values of an earlier one."""
    model = tiny_model()
    lm, tokens, drafted = CachedLM(model), text(9), text(len(TREE), seed=1)
    read(lm, tokens, drafted)
    lm.cache.layers.append(DummyLayer())
    lm.keep(9, [10, 14])
    now = [*tokens, drafted[1], drafted[5], 3]
    close(lm.forward(torch.tensor([3])).logits, fresh(model, now))

"""A drafter of each kind of tree for a tiny target: heads, a draft model, an EAGLE layer. Often right, often wrong."""

from dataclasses import replace

import torch

from specviz.config import RunConfig
from specviz.engine.clock import Clock
from specviz.engine.decode import Decoder
from specviz.engine.eagle_layer import EagleLayer, EagleSizes
from specviz.engine.eagle_tree import EagleTreeDrafter
from specviz.engine.medusa_drafter import MedusaDrafter
from specviz.engine.model import CachedLM
from specviz.engine.sampling import round_draws
from specviz.engine.tree_drafter import TreeDrafter
from specviz.trace import Models, Prompt, Token, Trace, ids_of
from tests.tiny import V, tiny_model

CHOICES = ((0,), (1,), (2,), (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 0, 0, 0))
# name -> (settings, the kind of drafter)
TREES = {
    "medusa": ({"method": "medusa", "tree": CHOICES}, "medusa"),
    "fixed": ({"method": "draft", "tree": CHOICES, "siblings": "fixed"}, "draft"),
    "iid": ({"method": "draft", "tree": CHOICES, "siblings": "iid"}, "draft"),
    "distinct": ({"method": "draft", "tree": CHOICES, "siblings": "distinct"}, "draft"),
    "eagle": ({"method": "eagle", "k": 3, "nodes": 40, "branch": 16}, "eagle"),
}


def prompt(length=7, seed=3):
    return torch.randint(1, V, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


TOKENS = prompt(9)


def greedy(model, tokens, n):
    """What transformers itself writes."""
    ids = torch.tensor([tokens])
    out = model.generate(ids, max_new_tokens=n, do_sample=False, eos_token_id=None, pad_token_id=0)
    return out[0, len(tokens) :].tolist()


class KnowingHeads:
    """Medusa heads that look the later tokens of one known text up, by the target's hidden state.

    The right token has one of the ranks `ranks` in turn. shift: how far beside the right token they look.
    """

    def __init__(self, model, text, count=4, ranks=(0,), shift=0):
        with torch.inference_mode():
            states = model(torch.tensor([text]), output_hidden_states=True, use_cache=False).hidden_states
        self.known, self.text, self.count, self.ranks, self.shift = states[-1][0], text, count, ranks, shift

    def __len__(self):
        return self.count

    def __call__(self, hidden, count):
        at = int((self.known - hidden).norm(dim=-1).argmin())
        logits = torch.linspace(1, 0, V).repeat(count, 1).roll(at, -1)  # ranks of all others
        for i in range(count):
            later = at + 2 + i + self.shift
            right = self.text[later] if later < len(self.text) else 0
            before = [token for token in logits[i].argsort(descending=True).tolist() if token != right]
            before.insert(self.ranks[(at + i) % len(self.ranks)], right)
            logits[i, before] = torch.linspace(4, 0, V)
        return logits


def make_drafter(kind, model, text=(), **options):
    """A fresh drafter. `text`: what heads know; they put the right token first, second or third."""
    if kind == "medusa":
        return MedusaDrafter(KnowingHeads(model, list(text), **{"ranks": (0, 1, 0, 2)} | options), V)
    if kind == "draft":
        return TreeDrafter(CachedLM(noisy(model)))
    layer = EagleLayer(EagleSizes(hidden=32, heads=4, kv_heads=2, head_dim=8, inner=64, theta=1e4, eps=1e-6))
    rng = torch.Generator().manual_seed(8)
    with torch.no_grad():
        for weight in layer.parameters():
            if weight.dim() > 1:
                weight.normal_(std=0.3, generator=rng)
    layer.eval().requires_grad_(False)
    return EagleTreeDrafter(layer, model.get_input_embeddings(), model.get_output_embeddings(), V)


def propose(kind, model, forced=None, k=4, seed=1, **settings):
    """What a fresh drafter proposes after TOKENS."""
    drafter = make_drafter(kind, model, TOKENS)
    with torch.inference_mode():
        states = model(torch.tensor([TOKENS[:-1]]), output_hidden_states=True).hidden_states[-1][0]
    drafter.prefill(TOKENS, states)
    config = RunConfig(method=kind, k=k, **settings)
    draws = round_draws(seed, 0, max(k, len(config.tree), config.nodes))
    return drafter.propose(TOKENS, k, draws, forced or {}, config, Clock(torch.device("cpu"), False))


def path_tokens(proposal, node):
    return [int(proposal.tokens[i]) for i in proposal.shape.path(node)]


def noisy(model):
    """Nearly the same model."""
    copy = tiny_model(model.family)
    copy.load_state_dict(model.state_dict())
    with torch.no_grad():
        for weight in copy.parameters():
            weight += 0.02 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(5))
    return copy.requires_grad_(False)


def tiny_target(family="llama"):
    model = tiny_model(family, seed=5).requires_grad_(False)
    model.family = family
    return model


def decoder(name, model, tokens, known=(), generated=0, index=0, **changes):
    """A run over `tokens` with the tree of that name; the rest are settings and options of `Decoder`."""
    settings, kind = TREES[name]
    options = {key: changes.pop(key) for key in ("eos", "stop", "detail") if key in changes}
    config = RunConfig(**settings | changes)
    drafter = make_drafter(kind, model, known)
    return Decoder(CachedLM(model), drafter, tokens, config, generated=generated, index=index, **options)


def finished(run):
    rounds = []
    while run.finish is None:
        rounds.append(run.step())
    return rounds, [token for r in rounds for token in r.emitted]


def begin(name, known, length=40, **changes):
    """A run after `prompt()`; known: the target and what it writes there."""
    model, text = known
    return decoder(name, model, prompt(), prompt() + text, **{"max_new_tokens": length} | changes)


def as_trace(run, rounds):
    """The trace of a run."""
    asked = Prompt("x", tuple(run.tokens[: run.prompt_length]))
    made = Trace(run.config, Models("custom", "t", "d", "cpu", "float32"), asked, tuple(rounds))
    return replace(made, finish=run.finish, vocab=tuple(Token(i, f"t{i}") for i in sorted(ids_of(made))))

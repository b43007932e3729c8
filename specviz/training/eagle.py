"""(b) Training of the EAGLE-style layer, with its own guesses fed back ("training-time test", arXiv 2503.01840).

Pass 1 reads the target's true states. Pass j reads at each row the guess of pass j - 1 one row before, as drafting
the j-th token will, and attends to what it will find in its cache then: true rows up to where the draft began, and
one row of each later pass.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from specviz.engine.eagle_layer import WEIGHTS, EagleLayer, EagleSizes, save_config
from specviz.engine.reduced import ReducedHead
from specviz.errors import SpecvizError
from specviz.models.heads import fitting
from specviz.training.data import Labelled
from specviz.training.files import put
from specviz.training.labels import taps
from specviz.training.losses import Fit, Vocabulary, fit, judged
from specviz.training.target import Parts

PASSES = 4  # drafted positions that are trained
DEEP = 3  # every so many steps all of them, else the first alone: half of the time, and what is learned serves all
DECAY = 0.8  # weight of each position, relative to the one before


class EagleTask:
    """One layer for `target`, putting out the ids `chosen`. Begins as a copy of the target's last layer."""

    name = "eagle"

    def __init__(self, target: PreTrainedModel, name: str, chosen: Tensor, weights: Path | None) -> None:
        parts = Parts.of(target, name)
        self.target_name = name
        self.embedding = parts.embedding
        self.head = ReducedHead(parts.head, chosen)
        self.vocabulary = Vocabulary(chosen, len(parts.head))
        self.module: nn.Module = from_last_layer(parts, taps(target))
        if weights is not None:
            with fitting(weights, name):
                begun = load_file(weights / WEIGHTS)
                begun.pop("draft_vocab_ids", None)
                fresh = self.module.state_dict()  # a layer without taps gets some that add nothing yet
                self.module.load_state_dict(fresh | {name: tensor.float() for name, tensor in begun.items()})

    def fits(self, batch: Labelled, step: int | None) -> list[tuple[float, Fit]]:
        embedded = nn.functional.embedding(batch.tokens[:, 1:], self.embedding.to(batch.tokens.device))
        states = torch.cat([batch.taps, batch.hidden], -1)[:, :-1]  # row t: token t's states with token t + 1
        state = self.module.hidden(states)
        keys, values, fits = [], [], []
        for j in range(PASSES if step is None or step % DEEP == 0 else 1):
            x = self.module.join(state, embedded)
            guess, k, v = attend(self.module, x, keys, values)
            keys.append(k)
            values.append(v)
            fits.append((DECAY**j, self._fit(guess, batch, first=j, step=step)))
            state = shift(guess, 1, dim=1)
        return fits

    def save(self, out: Path) -> dict:
        tensors = {n: p.detach().to("cpu", torch.bfloat16).contiguous() for n, p in self.module.state_dict().items()}
        tensors["draft_vocab_ids"] = self.vocabulary.chosen.int()
        put(out / WEIGHTS, lambda part: save_file(tensors, part))
        facts = {"target": self.target_name, "output_vocabulary": len(self.vocabulary.chosen), "passes": PASSES}
        put(out / "config.json", lambda part: save_config(part, self.module.sizes, facts))
        return {"parameters": sum(p.numel() for p in self.module.parameters())}

    def _fit(self, guess: Tensor, batch: Labelled, first: int, step: int | None) -> Fit:
        """Row t's guess against the target's p after token t + 1. Rows before `first` never occur in this pass."""
        wanted = judged(batch.counts[:, 1:], step) & (torch.arange(guess.shape[1]) >= first).to(guess.device)
        places, probs = self.vocabulary.soft_targets(batch.ids[:, 1:][wanted], batch.probs[:, 1:][wanted])
        return fit(self.head.small(guess[wanted]), places, probs)


def attend(layer: EagleLayer, x: Tensor, keys: list[Tensor], values: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """One pass over all rows. x [B, S, d]; keys, values [B, heads, S, D] of the passes before.

    Returns the guesses [B, S, d] and this pass's keys and values.
    """
    j, rows = len(keys), x.shape[1]
    q, k, v = layer.attention_inputs(x, torch.arange(rows))
    group = layer.sizes.heads // layer.sizes.kv_heads
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    if j == 0:
        return layer.finish(x, nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)), k, v
    scale = q.shape[-1] ** -0.5
    seen = torch.ones(rows, rows, dtype=torch.bool, device=x.device).tril(-j)  # true rows up to t - j
    scores = [(scale * q @ keys[0].transpose(2, 3)).masked_fill(~seen, -torch.inf)]  # [B, heads, S, S]
    passes = list(enumerate(zip(keys, values, strict=True)))[1:]
    later = [*((shift(a, j - i), shift(b, j - i)) for i, (a, b) in passes), (k, v)]
    scores += [scale * (q * a).sum(-1, keepdim=True) for a, _ in later]  # pass i: its row t - (j - i) alone
    weights = torch.cat(scores, -1).softmax(-1)
    attended = weights[..., :rows] @ values[0]
    for i, (_, b) in enumerate(later):
        attended = attended + weights[..., rows + i, None] * b
    return layer.finish(x, attended), k, v


def shift(x: Tensor, n: int, dim: int = 2) -> Tensor:
    """Row t gets row t - n; the first rows get zeros."""
    if n == 0:
        return x
    n = min(n, x.shape[dim])  # texts of very few tokens
    kept = x.narrow(dim, 0, x.shape[dim] - n)
    return torch.cat([torch.zeros_like(x.narrow(dim, 0, n)), kept], dim)


def from_last_layer(parts: Parts, taps: tuple[int, ...] = ()) -> EagleLayer:
    """A layer of the target's sizes that begins near what it is given: the target's state and a third of the embedding.

    What its parts add begins as a tenth of what the target's last layer adds: the whole of it would be noise, for that
    layer knows other inputs. What the taps add begins as nothing.
    """
    last, norm, config = parts.layers[-1], parts.norm, parts.config
    try:
        attention, mlp = last.self_attn, last.mlp
        pairs = {"q": attention.q_proj, "k": attention.k_proj, "v": attention.v_proj, "o": attention.o_proj}
        pairs |= {"gate": mlp.gate_proj, "up": mlp.up_proj, "down": mlp.down_proj, "norm": norm}
        pairs |= {"input_norm": last.input_layernorm, "mlp_norm": last.post_attention_layernorm}
    except AttributeError as error:  # Phi-3 joins q, k and v, Mixtral has many MLPs
        raise SpecvizError("train.architecture", model=parts.name) from error
    sizes = EagleSizes(
        hidden=config.hidden_size,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        head_dim=attention.head_dim,
        inner=config.intermediate_size,
        theta=float(config.rope_parameters["rope_theta"]),
        eps=config.rms_norm_eps,
        taps=taps,
    )
    layer = EagleLayer(sizes)
    with torch.no_grad():
        if taps:
            layer.fuse.weight.zero_()
        for name, module in pairs.items():
            getattr(layer, name).weight.copy_(module.weight)
        layer.o.weight.mul_(0.1)
        layer.down.weight.mul_(0.1)
        scale = torch.where(norm.weight.abs() > 0.05, norm.weight, 1.0)
        layer.hidden_norm.weight.copy_(1 / scale)  # the states come scaled by the target's norm
        layer.fc.weight.copy_(torch.cat([torch.eye(sizes.hidden), 0.3 * torch.eye(sizes.hidden)], 1))
    return layer

"""The layer of an EAGLE-style drafter, and its files.

Li et al., "EAGLE", arXiv 2401.15077, and "EAGLE-3", arXiv 2503.01840. Row t reads the hidden state after token t and
the embedding of token t + 1, and gives a guess of the hidden state after token t + 1, which the target's LM head
turns into q for token t + 2. Where the target has been, its own states are read, those of some earlier layers joined
in as in EAGLE-3; further on, the layer's guesses.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from specviz.config import short
from specviz.engine.reduced import ReducedHead

WEIGHTS = "eagle.safetensors"


LARGEST = 1 << 20  # of what a layer may measure: more is a damaged file


@dataclass(frozen=True, slots=True)
class EagleSizes:
    """What a layer measures; `taps`: which of the target's hidden states it reads beside the last.

    Raises ValueError for what no layer can.
    """

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    inner: int
    theta: float
    eps: float
    taps: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("hidden", "heads", "kv_heads", "head_dim", "inner"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= LARGEST:
                raise ValueError(f"{name} is {short(value)}, not a whole number from 1 to {LARGEST}")
        for name in ("theta", "eps"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 < value < math.inf:
                raise ValueError(f"{name} is {short(value)}, not a number above 0")
        if type(self.taps) is not tuple or not all(type(i) is int and 0 <= i <= LARGEST for i in self.taps):
            raise ValueError(f"taps is {short(self.taps)}, not a list of whole numbers from 0 to {LARGEST}")
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.kv_heads} heads of keys and values")
        if self.head_dim % 2:
            raise ValueError(f"head_dim is {self.head_dim}, which cannot be rotated in halves")


class Norm(nn.Module):
    """Root mean square norm, in the precision of its input (torch's own warns when weights are kept in another)."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), self.eps)


class EagleLayer(nn.Module):
    """fc([norm(hidden); norm(embedding)]), then one Llama decoder layer and a norm.

    hidden is the guess of the row before, or the target's last state + fuse([norm(tap); ...]).
    """

    def __init__(self, sizes: EagleSizes) -> None:
        super().__init__()
        s = self.sizes = sizes
        self.hidden_norm = Norm(s.hidden, s.eps)
        self.embed_norm = Norm(s.hidden, s.eps)
        self.fc = nn.Linear(2 * s.hidden, s.hidden, bias=False)
        self.input_norm = Norm(s.hidden, s.eps)
        self.q = nn.Linear(s.hidden, s.heads * s.head_dim, bias=False)
        self.k = nn.Linear(s.hidden, s.kv_heads * s.head_dim, bias=False)
        self.v = nn.Linear(s.hidden, s.kv_heads * s.head_dim, bias=False)
        self.o = nn.Linear(s.heads * s.head_dim, s.hidden, bias=False)
        self.mlp_norm = Norm(s.hidden, s.eps)
        self.gate = nn.Linear(s.hidden, s.inner, bias=False)
        self.up = nn.Linear(s.hidden, s.inner, bias=False)
        self.down = nn.Linear(s.inner, s.hidden, bias=False)
        self.norm = Norm(s.hidden, s.eps)
        if s.taps:
            self.tap_norms = nn.ModuleList(Norm(s.hidden, s.eps) for _ in s.taps)
            self.fuse = nn.Linear(len(s.taps) * s.hidden, s.hidden, bias=False)

    @property
    def layers(self) -> tuple[int, ...]:
        """Whose hidden states it reads, in the order that `hidden` takes them."""
        return (*self.sizes.taps, -1)

    def hidden(self, states: Tensor) -> Tensor:
        """The target's states of `layers`, side by side [..., len(layers) * d] -> [..., d]."""
        if not self.sizes.taps:
            return states
        *taps, last = states.split(self.sizes.hidden, -1)
        normed = [norm(tap) for norm, tap in zip(self.tap_norms, taps, strict=True)]
        return last + self.fuse(torch.cat(normed, -1)).to(last.dtype)

    def join(self, hidden: Tensor, embedding: Tensor) -> Tensor:
        """[..., d], [..., d] -> the layer's input [..., d]."""
        joined = self.fc(torch.cat([self.hidden_norm(hidden), self.embed_norm(embedding)], -1))
        return joined.to(hidden.dtype)  # under autocast the residual stream stays in fp32

    def attention_inputs(self, x: Tensor, position: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [B, S, d] at positions [S] -> queries [B, heads, S, D]; keys and values [B, KV heads, S, D]."""
        s, y = self.sizes, self.input_norm(x)
        q, k, v = (
            linear(y).unflatten(-1, (n, s.head_dim)).transpose(1, 2)
            for linear, n in ((self.q, s.heads), (self.k, s.kv_heads), (self.v, s.kv_heads))
        )
        return rotate(q, position, s.theta), rotate(k, position, s.theta), v

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """The layer's input x [B, S, d], what it attended to [B, heads, S, D] -> guessed hidden states [B, S, d]."""
        x = x + self.o(attended.transpose(1, 2).flatten(-2))
        y = self.mlp_norm(x)
        return self.norm(x + self.down(nn.functional.silu(self.gate(y)) * self.up(y)))


def rotate(x: Tensor, position: Tensor, theta: float) -> Tensor:
    """Rotary positions, in Llama's layout of halves: x [B, heads, S, D] at positions [S]."""
    half = x.shape[-1] // 2
    rates = theta ** (-torch.arange(half, dtype=torch.float32, device=x.device) / half)
    angles = position.to(x.device, torch.float32)[:, None] * rates  # [S, D/2]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def save_config(file: Path, sizes: EagleSizes, facts: dict) -> None:
    file.write_text(json.dumps(facts | {"sizes": asdict(sizes)}, indent=1) + "\n", encoding="utf-8")


def load_eagle(folder: Path, lm_head: nn.Module) -> tuple[EagleLayer, nn.Module]:
    """The layer of `folder` and the LM head that reads it, for the target with this LM head (weight [V, d]).

    Raises ValueError that says what does not fit, or what json and safetensors raise on a damaged file.
    """
    sizes = read_sizes(folder / "config.json")
    if sizes.hidden != lm_head.weight.shape[1]:
        raise ValueError(
            f"hidden is {sizes.hidden}, and the target's hidden states have {lm_head.weight.shape[1]} numbers"
        )
    tensors = load_file(folder / WEIGHTS)
    chosen = tensors.pop("draft_vocab_ids", None)
    with torch.device("meta"):  # no memory is taken for weights that are replaced at once
        layer = EagleLayer(sizes)
    check_tensors(tensors, layer.state_dict())
    like = {"device": lm_head.weight.device, "dtype": lm_head.weight.dtype}
    layer.load_state_dict({name: tensor.to(**like) for name, tensor in tensors.items()}, assign=True)
    return layer.eval().requires_grad_(False), lm_head if chosen is None else ReducedHead(lm_head.weight, chosen)


def read_sizes(file: Path) -> EagleSizes:
    about = json.loads(file.read_text(encoding="utf-8"))
    sizes = about.get("sizes") if isinstance(about, dict) else None
    names = EagleSizes.__dataclass_fields__.keys()
    if not isinstance(sizes, dict) or sizes.keys() | {"taps"} != names:
        raise ValueError(f'{file.name} must have "sizes" with {", ".join(names)}')
    taps = sizes.get("taps", [])
    return EagleSizes(**sizes | {"taps": tuple(taps) if isinstance(taps, list) else taps})


def check_tensors(found: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Raises ValueError that names the first tensor that is missing, too many, not of numbers, or of another shape."""
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            raise ValueError(f"the tensor {name} is missing")
        if name not in expected:
            raise ValueError(f"there is no place for the tensor {short(name)}")
        if not found[name].is_floating_point():
            raise ValueError(f"the tensor {name} is of {str(found[name].dtype).removeprefix('torch.')}")
        if found[name].shape != expected[name].shape:
            shapes = list(found[name].shape), list(expected[name].shape)
            raise ValueError(f"the tensor {name} has the shape {shapes[0]} instead of {shapes[1]}")

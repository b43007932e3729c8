"""Products with the same weights again and again, in the form that the processor takes them fastest.

On a CPU the weights are put once into the order in which its kernels read them ("prepacked"): a pass over a few tokens
then costs hardly more than one over a single token, and that is where speculation gains.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from specviz.engine.reduced import ReducedHead

Product = Callable[[Tensor], Tensor]  # [n, inputs] -> [n, outputs]
Form = Callable[[Tensor, Tensor | None], Product]  # of a weight [outputs, inputs] and a bias [outputs]: one of these


def plain(weight: Tensor, bias: Tensor | None = None) -> Product:
    """x W^T + b, W [outputs, inputs] as it is."""
    return lambda x: linear(x, weight, bias)


def packed(weight: Tensor, bias: Tensor | None = None) -> Product:
    """The same by oneDNN, from a copy of the weights in its own order. CPU only: see `can_pack`."""
    own = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
    run = torch.ops.mkldnn._linear_pointwise
    return lambda x: run(x, own, bias, "none", [], "")


class Packed(nn.Module):
    """A linear layer that has been prepacked; for running only. `weight` stays what it was."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight, self.product = linear.weight, packed(linear.weight, linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.product(x)


def prepacked(module: nn.Module) -> nn.Module:
    """`module` with all its linear layers replaced by prepacked ones, in place; of a linear layer itself a new one."""
    if type(module) is nn.Linear:
        return Packed(module)
    if isinstance(module, ReducedHead):
        module.product = packed(module.weight)
    for name, child in module.named_children():
        setattr(module, name, prepacked(child))
    return module


def int8(weight: Tensor, bias: Tensor | None = None) -> Product:
    """x Q^T * scale, Q the weights rounded to 8 bits, a scale for each output; x in bf16. CPU only.

    This is another model than the one with whole weights, with outputs of its own; a row's result does not depend on
    how many rows there are, so checking several tokens at once says what one at a time would.
    """
    whole = weight.detach().float()
    scale = (whole.abs().amax(1, keepdim=True) / 127).clamp_min(1e-12).bfloat16()  # [outputs, 1]
    rounded = (whole / scale.float()).round().clamp(-127, 127).to(torch.int8)
    scale = scale.flatten()

    def product(x: Tensor) -> Tensor:
        y = torch.ops.aten._weight_int8pack_mm(x.contiguous(), rounded, scale)
        return y if bias is None else y + bias

    return product


def can_pack(weight: Tensor) -> bool:
    """Whether oneDNN has kernels here for weights of this precision."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    if weight.dtype is torch.bfloat16:
        return torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return weight.dtype is torch.float32

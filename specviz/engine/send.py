"""From the host to the device, without waiting for what the device is at."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def send(numbers: Sequence | Tensor, device: torch.device, dtype: torch.dtype = torch.long) -> Tensor:
    """A tensor of `numbers` on `device`. An ordinary copy waits until a GPU has done all that it was asked before."""
    # CUDA has read ordinary memory when the call returns; others may still read it when it is gone
    return torch.as_tensor(numbers, dtype=dtype).to(device, non_blocking=device.type == "cuda")

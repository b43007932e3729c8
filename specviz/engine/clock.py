"""A stopwatch for the stages of a round."""

from __future__ import annotations

import time

import torch


class Clock:
    """Laps in milliseconds. With `exact`, a CUDA device is waited for at each lap, which costs a little speed."""

    def __init__(self, device: torch.device, exact: bool) -> None:
        self.wait = torch.cuda.synchronize if exact and device.type == "cuda" else None
        self.last = time.perf_counter()

    def lap(self) -> float:
        """Milliseconds since the last lap, to the microsecond."""
        if self.wait:
            self.wait()
        now = time.perf_counter()
        passed, self.last = round(1000 * (now - self.last), 3), now
        return passed

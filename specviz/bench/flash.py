"""flashspec as a contender, where it is installed (requirements-bench.txt). It runs the same two models as we do.

Its CUDA-graph path needs CUDA and Triton; elsewhere it runs eagerly, and its own README advises against a CPU.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from importlib.util import find_spec

import torch

from specviz.bench.runs import Run
from specviz.errors import SpecvizError
from specviz.models.device import dtype_name
from specviz.models.pair import Pair


class FlashSpec:
    """own: its default (prompt lookup where something is found, else 2 drafts); otherwise k drafts a round."""

    pid = None

    def __init__(self, key: str, pair: Pair, k: int, own: bool, ignore_eos: bool = False) -> None:
        self.key, self.pair, self.k, self.own = key, pair, k, own
        self.eos = () if ignore_eos else pair.eos
        self.settings: dict[str, object] = {} if own else {"k": k}
        self.precision = dtype_name(pair.dtype)

    def open(self) -> None:
        if find_spec("flashspec") is None:
            raise SpecvizError("bench.not_installed", package="flashspec")
        draft = self.pair.drafter_model("draft")
        from flashspec import BanditConfig, FlashSpecConfig, SamplingConfig, SpeculativeEngine
        from flashspec.engine import HuggingFaceDrafter, TargetModel

        logging.getLogger("flashspec").setLevel(logging.ERROR)  # it tells every choice on stderr
        device, dtype = self.pair.device, self.pair.dtype
        target = TargetModel("target", device, dtype, model=self.pair.target)
        drafter = HuggingFaceDrafter("draft", device, dtype, temperature=0.0, model=draft)
        fixed = {} if self.own else {"drafter_strategy": "bandit", "bandit": BanditConfig(n_arms=1)}
        sampling = SamplingConfig(temperature=0.0, gamma=self.k)
        config = FlashSpecConfig(device=str(device), dtype=dtype_name(dtype), sampling=sampling, **fixed)
        self.engine = SpeculativeEngine(config, [drafter], target)
        self.settings |= {"strategy": self.engine.drafter_strategy} if self.own else {}

    def run(self, tokens: Sequence[int], limit: int) -> Run:
        prompt = torch.tensor([tokens], device=self.pair.device)
        began = time.perf_counter()
        result = self.engine.generate(prompt, max_new_tokens=limit, eos_token_ids=self.eos)
        written = tuple(result.output_ids[0, : result.n_tokens_generated].tolist())
        seconds = time.perf_counter() - began
        first, *later = result.arm_steps
        return Run(written, seconds, seconds - sum(step.seconds for step in later), first.emitted)

    def close(self) -> None:
        """Nothing to give back: the pair belongs to the caller."""

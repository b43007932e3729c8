"""The lean pass as CUDA graphs: on a GPU a small pass takes less time than Python needs to ask for it.

A graph is recorded once and then replayed as a whole, so all its shapes and addresses are fixed: it reads its tokens,
positions and mask from buffers of its own, writes to given rows of the cache, and looks at a span of them that is a
multiple of `STEP`; what is not there yet is masked. A graph is recorded for each number of tokens (k + 1 of a draft,
the nodes of a tree) when it is first wanted. Method: CUDA graphs as in gpt-fast and vLLM.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specviz.engine.lean import LeanLM, LeanModel, Memory
from specviz.engine.model import Pass
from specviz.engine.send import send
from specviz.engine.tree import Branches

STEP = 256  # rows; a longer text needs a new graph so often
LONGEST = 128  # tokens; a longer pass keeps the GPU busy without a graph
KEPT = 16  # graphs of a memory; the longest unused goes first

Run = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Step:
    """A recorded pass, the buffers it reads and those it writes."""

    tokens: Tensor  # [n]
    position: Tensor  # [n]
    at: Tensor  # [n]
    mask: Tensor  # [n, span] bool
    out: list[Tensor | None]  # logits [rows, V], hidden states [n, layers * d] or None
    run: Run


def record(work: Run) -> Run:
    """`work` as a CUDA graph. It is run beforehand, on a side stream, as recording demands."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        work()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


class GraphedLM(LeanLM):
    """A `LeanLM` that replays.

    spare: memory, with its graphs, of runs that are over; this run takes one and gives it back when it is dropped.
    recorded: turns work into what can be run again and again (tests bring their own).
    """

    def __init__(
        self,
        weights: LeanModel,
        vocab_size: int | None = None,
        spare: list[Memory] | None = None,
        recorded: Callable[[Run], Run] = record,
    ) -> None:
        super().__init__(weights, vocab_size)
        self.recorded, self.spare = recorded, [] if spare is None else spare
        if self.spare:
            self.memory = self.spare.pop()
        self.end = weakref.finalize(self, self.spare.append, self.memory)

    @torch.inference_mode()
    def forward(
        self, tokens: Tensor, rows: int = 1, layers: Sequence[int] = (), branches: Branches | None = None
    ) -> Pass:
        n, begin = len(tokens), self.length
        if n > LONGEST:
            return super().forward(tokens, rows, layers, branches)
        end = self._admit(n, branches)
        self._make_room(end)
        span = min(-(-end // STEP) * STEP, self.memory.rows)
        step = self._step(n, span, rows, tuple(layers))
        step.tokens.copy_(tokens, non_blocking=True)
        step.at.copy_(torch.arange(begin, end, device=self.device))
        step.position.copy_(step.at if branches is None else send(branches.position, self.device))
        step.mask.zero_()
        if branches is None:
            step.mask[:, :end] = torch.ones(n, end, dtype=torch.bool, device=self.device).tril(begin)
        else:
            sees = send(branches.sees, self.device, torch.bool)
            step.mask[:, :end] = Branches(sees, branches.position).whole(begin)
        step.run()
        self.length = end
        logits, hidden = step.out
        return Pass(logits.clone(), None if hidden is None else hidden.clone())  # the next replay overwrites them

    def _step(self, n: int, span: int, rows: int, layers: tuple[int, ...]) -> Step:
        key, steps = (n, span, rows, layers), self.memory.steps
        if key not in steps:
            new = torch.zeros(3, n, dtype=torch.long, device=self.device)
            mask = torch.ones(n, span, dtype=torch.bool, device=self.device)
            new[2] = torch.arange(self.length, self.length + n)  # recording runs the pass: not over rows that are kept
            out: list[Tensor | None] = [None, None]

            def work() -> None:
                out[:] = self._through(new[0], new[1], new[2], span, {"attn_mask": mask}, rows, layers)

            steps[key] = Step(new[0], new[1], new[2], mask, out, self.recorded(work))
            if len(steps) > KEPT:
                steps.popitem(last=False)
        steps.move_to_end(key)
        return steps[key]

    def _make_room(self, rows: int) -> None:
        """Larger memory is at other addresses: it begins without graphs."""
        had = self.memory
        super()._make_room(rows)
        if self.memory is not had:
            self.end.detach()
            self.end = weakref.finalize(self, self.spare.append, self.memory)

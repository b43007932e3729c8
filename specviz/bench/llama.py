"""llama.cpp as a contender, where llama-cpp-python is installed: what a CPU user would otherwise run.

It has the same model in 4 bits, so it reads an eighth of the memory that fp32 weights take and may write another text;
it is shown with its precision and is no part of the check that outputs agree.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from specviz.bench.runs import Run
from specviz.errors import SpecvizError

PATIENCE = 5  # seconds for the worker to go by itself


class LlamaCpp:
    """k: tokens that its prompt lookup drafts; 0: without. `find_gguf` gives the file, or says why there is none."""

    def __init__(
        self,
        key: str,
        find_gguf: Callable[[], Path],
        k: int,
        threads: int,
        context: int,
        eos: Sequence[int],
        gpu: bool = False,
    ) -> None:
        self.key, self.find_gguf, self.k = key, find_gguf, k
        self.threads, self.context, self.eos, self.gpu = threads, context, list(eos), gpu
        self.settings: dict[str, object] = {"k": k} if k else {}
        self.precision = "GGUF"
        self.worker: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int | None:
        return None if self.worker is None else self.worker.pid

    def open(self) -> None:
        if find_spec("llama_cpp") is None:
            raise SpecvizError("bench.not_installed", package="llama-cpp-python")
        file = self.find_gguf()
        self.precision = precision_of(file)
        self.said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 closed with it
        self.worker = subprocess.Popen(
            [sys.executable, "-m", "specviz.bench.llama_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            cwd=Path(__file__).parents[2],
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for us: we end it
        )
        self._ask(gguf=str(file), threads=self.threads, context=self.context, k=self.k, gpu=self.gpu)

    def run(self, tokens: Sequence[int], limit: int) -> Run:
        done = self._ask(tokens=list(tokens), limit=limit, eos=self.eos)
        return Run(tuple(done["tokens"]), done["seconds"], done["first_seconds"], done["first_tokens"])

    def close(self) -> None:
        if self.worker is None:
            return
        with contextlib.suppress(OSError):
            self.worker.stdin.close()
        try:
            self.worker.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.worker.kill()
            self.worker.wait()
        self.worker.stdout.close()
        self.said.close()
        self.worker = None

    def _ask(self, **what: object) -> dict:
        with contextlib.suppress(OSError):  # if it is dead, there is no answer either
            self.worker.stdin.write(json.dumps(what) + "\n")
            self.worker.stdin.flush()
        line = self.worker.stdout.readline()
        if not line:
            raise SpecvizError("bench.died", program="llama.cpp", reason=self._last_words(self.worker.wait()))
        return json.loads(line)

    def _last_words(self, status: int) -> str:
        if status < 0:
            return signal.Signals(-status).name
        self.said.seek(0)
        lines = [line.strip() for line in self.said if line.strip()]
        return lines[-1][:200] if lines else str(status)


def precision_of(file: Path) -> str:
    """ "Q4_1": the type that most of the file's weights have."""
    from gguf import GGUFReader

    counts: dict[str, int] = {}
    for tensor in GGUFReader(file).tensors:
        name = tensor.tensor_type.name
        counts[name] = counts.get(name, 0) + int(tensor.n_elements)
    return max(counts, key=lambda name: counts[name])

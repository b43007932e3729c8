"""What the person who starts the app decides, and what a public page refuses. No Gradio here."""

from __future__ import annotations

import os
from dataclasses import dataclass

from specviz.choices import MAX_NODES
from specviz.config import RunConfig
from specviz.errors import SpecvizError
from specviz.models.lab import MOST_RUNS
from specviz.serving.client import server_url
from specviz.trace import Trace
from specviz.trace_json import MAX_BYTES

PUBLIC_NODES = 64  # of a tree
PUBLIC_LIMITS = {"k": 16, "max_new_tokens": 128, "nodes": PUBLIC_NODES, "branch": 8}
PUBLIC_PROMPT = 2_000  # characters
PUBLIC_ROUNDS = 128  # of one trace
PUBLIC_SWEEP, OWN_SWEEP = 48, 1024  # tokens of each run of a sweep
PUBLIC_RUNS = 4_000  # of a check
PUBLIC_KEPT, OWN_KEPT = 1_500, 20_000  # rounds of a visitor's past races, all together
PUBLIC_BYTES = 2 * 2**20  # of a trace from outside
DRAWING = 4  # visitors whose panels of a tree are drawn at once; each takes some milliseconds of a processor


def on_space() -> bool:
    """Whether this is a Hugging Face Space, where everybody is a stranger."""
    return bool(os.environ.get("SPACE_ID"))


@dataclass(frozen=True, slots=True)
class Options:
    """How the app was started.

    pair           id of a preset; None: the bundled one
    target, draft  hub id or folder instead of a preset; both None: the preset
    heads          folder or hub id of EAGLE-style or Medusa weights for the target that the app is started with; None:
                   those that come with it, if any
    public         strangers use it: tighter limits, and no pair but the one it was started with
    vllm_url       a vLLM server to compare runs with; None: none
    """

    pair: str | None = None
    target: str | None = None
    draft: str | None = None
    heads: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    public: bool = False
    vllm_url: str | None = None

    def __post_init__(self) -> None:
        if self.vllm_url is not None:
            object.__setattr__(self, "vllm_url", server_url(self.vllm_url))

    def check(self, prompt: str, config: RunConfig) -> None:
        """Raises SpecvizError for what a public page does not run."""
        if not self.public:
            return
        for name, limit in PUBLIC_LIMITS.items():
            counts = name != "branch" or config.nodes  # what nobody asks for may stand in its field
            if counts and getattr(config, name) > limit:
                raise SpecvizError("ui.public_limit", name=name, limit=limit)
        if len(config.tree) > PUBLIC_NODES:
            raise SpecvizError("ui.public_tree", limit=PUBLIC_NODES, nodes=len(config.tree))
        if len(prompt) > PUBLIC_PROMPT:
            raise SpecvizError("ui.public_prompt", limit=PUBLIC_PROMPT)

    def check_trace(self, trace: Trace) -> None:
        """Raises SpecvizError for a trace from outside that is not taken in: no run drafts so much, or not here."""
        nodes = max((len(r.draft.tokens) for r in trace.rounds), default=0)
        limit = PUBLIC_NODES if self.public else MAX_NODES
        if nodes > limit:
            raise SpecvizError("errors.tree_size", nodes=nodes, limit=limit)
        if not self.public:
            return
        self.check(trace.prompt.text, trace.config)
        for name, size, limit in (
            ("rounds", len(trace.rounds), PUBLIC_ROUNDS),
            ("prompt.tokens", len(trace.prompt.tokens), PUBLIC_PROMPT),
        ):
            if size > limit:
                raise SpecvizError("ui.public_limit", name=name, limit=limit)

    @property
    def max_trace_bytes(self) -> int:
        """Size of a trace from outside."""
        return PUBLIC_BYTES if self.public else MAX_BYTES

    @property
    def max_rounds(self) -> int | None:
        """Rounds of one trace; None: as many as it takes."""
        return PUBLIC_ROUNDS if self.public else None

    @property
    def max_runs(self) -> int:
        """Runs of a check of exactness."""
        return PUBLIC_RUNS if self.public else MOST_RUNS

    @property
    def kept_rounds(self) -> int:
        """Rounds of a visitor's past races, all together."""
        return PUBLIC_KEPT if self.public else OWN_KEPT

    @property
    def sweep_tokens(self) -> int:
        """Tokens of each run of a sweep: there are dozens."""
        return PUBLIC_SWEEP if self.public else OWN_SWEEP

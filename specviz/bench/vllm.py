"""A running vLLM server as a contender: the same prompts, greedily, as many tokens; its own model, its own machine.

It tells text and counts, no token ids: so it is no part of the check that outputs agree, and it must be said what it
serves. How fast it is includes the way there and back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specviz.bench.runs import Run
from specviz.config import RunConfig
from specviz.errors import SpecvizError
from specviz.metrics import mean_acceptance_length
from specviz.serving.client import Server
from specviz.serving.compare import Measured, measure_server
from specviz.serving.note import texts

SAID = (
    "metrics_off",
    "metrics_unread",
    "no_vllm_metrics",
    "old_metrics",
    "not_speculating",
    "others_too",
    "server_old",
)


class Vllm:
    """prompts: token ids -> the text that they are of, which is what the server is sent."""

    key, pid = "vllm", None
    precision = "?"  # a server does not tell

    def __init__(self, url: str, target: str, prompts: Mapping[tuple[int, ...], str], ignore_eos: bool = False) -> None:
        self.server, self.target, self.prompts, self.ignore_eos = Server(url), target, prompts, ignore_eos
        self.settings: dict[str, object] = {}
        self.measured: list[Measured] = []

    def open(self) -> None:
        """Raises SpecvizError where no server answers, and where none of its models is the target."""
        version, served = self.server.version(), self.server.models()
        same = next((model for model in served if model.looks_like(self.target)), None)
        if same is None:
            names = ", ".join(model.name for model in served)[:200]
            raise SpecvizError("bench.vllm_model", served=names or "–", target=self.target)
        self.model = same.name
        self.settings = {"version": str(version)} if version else {}

    def run(self, tokens: Sequence[int], limit: int) -> Run:
        """For what is no whole prompt, as when warming up, the first one is sent."""
        known = self.prompts.get(tuple(tokens))
        config = RunConfig("none", temperature=0.0, max_new_tokens=limit, ignore_eos=self.ignore_eos)
        found = measure_server(self.server, known or next(iter(self.prompts.values())), config, model=self.model)
        if known is not None:
            self.measured.append(found)
        counted = found.counted
        # the pass that reads the prompt gives one token
        return Run((), counted.seconds, counted.first_token_seconds or counted.seconds, 1, count=counted.tokens)

    def close(self) -> None:
        """The server belongs to somebody else."""

    def figures(self, lang: str) -> dict:
        """What it counted over all prompts, and what is to be known of that."""
        counted = [one.counted for one in self.measured if one.counted.drafts is not None]
        drafts, accepted = (sum(getattr(c, name) or 0 for c in counted) for name in ("drafts", "accepted"))
        notes = [n for one in self.measured for n in one.notes if n.key.removeprefix("serve.") in SAID]
        return {"mean_acceptance_length": mean_acceptance_length(accepted, drafts), "said": texts(notes, lang)}

"""Who takes part, and with which settings: the same draft and the same k for all who draft with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from specviz.bench.flash import FlashSpec
from specviz.bench.gguf_file import find_gguf
from specviz.bench.hugging import Generate
from specviz.bench.llama import LlamaCpp
from specviz.bench.names import KEYS, OTHERS, OURS, VLLM
from specviz.bench.ours import Ours
from specviz.bench.runs import Contender
from specviz.bench.vllm import Vllm
from specviz.config import AUTO, MOST, RunConfig, check_choice, check_number, short
from specviz.errors import SpecvizError
from specviz.i18n import ASSETS
from specviz.models import tree_presets
from specviz.models.pair import Pair
from specviz.models.prepared import Progress, no_progress

PROMPTS = ASSETS / "evaluation" / "prompts.json"
SETTINGS = ("k", "tree", "nodes", "branch", "siblings")  # what may differ from drafter to drafter
MEDUSA_TREE = "best-8"  # a small one: on a CPU in fp32 a pass over 17 tokens costs more than two over one


@dataclass(frozen=True)
class Plan:
    """What is to be measured.

    prompts   texts, put into the target's chat template; () leaves the race out
    changes   method -> settings of its own, such as {"eagle": {"nodes": 16}}
    only      keys of the contenders; () takes all
    gguf      the target as a GGUF file, for llama.cpp; None: looked for
    vllm_url  of a running server, which takes part then
    """

    prompts: tuple[str, ...]
    max_new_tokens: int = 128
    repeats: int = 1
    k: int = 4
    ignore_eos: bool = False
    changes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    gguf: Path | None = None
    vllm_url: str | None = None

    def config(self, method: str, **more: object) -> RunConfig:
        """The settings of one of our drafters; raises SpecvizError where they cannot be."""
        settings: dict[str, object] = {"k": self.k} | dict(self.changes.get(method, {})) | more
        if settings["k"] == AUTO:
            settings |= {"k": MOST, "adapt": True}
        if method == "medusa":
            known = tree_presets.presets()
            settings.setdefault("tree", MEDUSA_TREE if MEDUSA_TREE in known else tree_presets.DEFAULT)
        if isinstance(settings.get("tree"), str):
            settings["tree"] = tree_presets.tree_of_option(str(settings["tree"]))
        return RunConfig(
            method=method,
            **{"max_new_tokens": self.max_new_tokens, "ignore_eos": self.ignore_eos} | settings,
        )

    def k_of(self, method: str) -> int:
        """How many tokens a chain of this drafter has, for others who draft the same way."""
        k = self.changes.get(method, {}).get("k", self.k)
        return k if isinstance(k, int) else self.k


def choose_prompts(n: int) -> tuple[str, ...]:
    """n held-out prompts, the kinds in turn. Raises SpecvizError where there are not so many."""
    kinds = json.loads(PROMPTS.read_text(encoding="utf-8")).values()
    total = sum(map(len, kinds))
    n = int(check_number("prompts", n, int, 0, total))
    turns = [text for row in zip(*kinds, strict=True) for text in row]
    return tuple(turns[:n])


def parse_change(text: str) -> tuple[str, str, object]:
    """ "eagle.nodes=16" -> ("eagle", "nodes", 16). Raises SpecvizError for anything else."""
    place, equals, value = text.partition("=")
    method, _, name = place.partition(".")
    methods = [method for method in OURS.values() if method != "none"]
    if not equals or method not in methods or name not in SETTINGS:
        raise SpecvizError("bench.change", value=short(text), methods=", ".join(methods), settings=", ".join(SETTINGS))
    return method, name, int(value) if value.lstrip("-").isascii() and value.lstrip("-").isdigit() else value


def line_up(plan: Plan, pair: Pair, longest: int, progress: Progress = no_progress) -> list[Contender]:
    """The contenders of a race. longest: tokens of the longest text, prompt and output."""
    wanted = plan.only or KEYS
    made: list[Contender] = [ours(key, plan, pair) for key in OURS if key in wanted]
    draft_k, lookup_k, eos = plan.k_of("draft"), plan.k_of("lookup"), () if plan.ignore_eos else pair.eos
    cuda = pair.device.type == "cuda"

    def gguf() -> Path:
        return find_gguf(plan.gguf, pair.target_name, progress)

    def llama(key: str, k: int) -> LlamaCpp:
        return LlamaCpp(key, gguf, k, torch.get_num_threads(), longest + k + 1, eos, cuda)

    others = {
        "hf_generate": lambda key: Generate(key, pair, "plain", 0, plan.ignore_eos),
        "hf_assisted": lambda key: Generate(key, pair, "assisted", draft_k, plan.ignore_eos),
        "hf_lookup": lambda key: Generate(key, pair, "lookup", lookup_k, plan.ignore_eos),
        "flashspec": lambda key: FlashSpec(key, pair, draft_k, own=False, ignore_eos=plan.ignore_eos),
        "flashspec_own": lambda key: FlashSpec(key, pair, draft_k, own=True, ignore_eos=plan.ignore_eos),
        "llama_cpp": lambda key: llama(key, 0),
        "llama_cpp_lookup": lambda key: llama(key, lookup_k),
    }
    served = []
    if plan.vllm_url is not None and (not plan.only or VLLM in plan.only):
        texts = {tuple(pair.codec.encode(text)): text for text in plan.prompts}
        served.append(Vllm(plan.vllm_url, pair.target_name, texts, plan.ignore_eos))
    return [*made, *(others[key](key) for key in OTHERS if key in wanted), *served]


def ours(key: str, plan: Plan, pair: Pair, **more: object) -> Ours:
    """One of our own, `more` settings on top of the plan's."""
    config = plan.config(OURS[key], **more)
    return Ours(key, pair, config, shown(config))


def shown(config: RunConfig) -> dict[str, object]:
    """What tells this run from others by the same drafter."""
    if config.method == "none":
        return {}
    if config.tree:
        return {"nodes": len(config.tree), "depth": config.depth}
    if config.nodes:
        return {"nodes": config.nodes, "depth": config.k}
    return {"k": AUTO if config.adapt else config.k}


def check_only(names: Sequence[str]) -> tuple[str, ...]:
    """Raises SpecvizError for a contender that is unknown."""
    for name in names:
        check_choice("only", name, (*KEYS, VLLM))
    return tuple(names)

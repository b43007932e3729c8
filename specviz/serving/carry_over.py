"""The settings of a run, written for vLLM: what carries over, and a sentence for each thing that does not."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.config import RunConfig, check_number
from specviz.serving import snippet
from specviz.serving.known import facts
from specviz.serving.note import Note, note
from specviz.serving.versions import NEWEST, Version

MAX_GPUS = 64
LOOKUP_MAX, LOOKUP_MIN = 3, 1  # tokens that our own prompt lookup compares (engine/drafters.py)


@dataclass(frozen=True, slots=True)
class Served:
    """What vLLM is to load: hub ids or folders.

    draft            None: no draft model is known for the target
    bundled          the draft is the one that comes with specviz (`draft` None: its folder is not known)
    heads            Medusa heads; None: not known where they are
    tensor_parallel  GPUs that share each layer
    """

    target: str
    draft: str | None = None
    bundled: bool = False
    heads: str | None = None
    tensor_parallel: int = 1

    def __post_init__(self) -> None:
        gpus = check_number("tensor_parallel", self.tensor_parallel, int, 1, MAX_GPUS)
        object.__setattr__(self, "tensor_parallel", gpus)


@dataclass(frozen=True, slots=True)
class Export:
    """One set of settings for one version of vLLM.

    speculative  the `speculative_config`; None: vLLM decodes plainly
    sampling     arguments of `SamplingParams`
    notes        what does not carry over, and what to know
    """

    version: Version
    served: Served
    speculative: dict[str, object] | None
    sampling: dict[str, object]
    chat: bool
    notes: tuple[Note, ...]

    @property
    def args(self) -> dict[str, object]:
        """Keyword arguments of `vllm.LLM`."""
        found: dict[str, object] = {"model": self.served.target}
        if self.served.tensor_parallel > 1:
            found["tensor_parallel_size"] = self.served.tensor_parallel
        if self.speculative is not None:
            found["speculative_config"] = self.speculative
        return found

    def python(self, prompt: str) -> str:
        """A program that runs as it is."""
        return snippet.python(self.args, self.sampling, prompt, self.chat)

    @property
    def command(self) -> str:
        """The server, for a shell."""
        detailed = self.speculative is not None and self.version.request_metrics
        return snippet.command(self.args, ["--per-request-spec-decode-metrics", "detailed"] if detailed else [])

    @property
    def json(self) -> str:
        """The `speculative_config` alone."""
        return snippet.pretty(self.speculative)


def export(config: RunConfig, served: Served, version: Version) -> Export:
    """`config` for vLLM. Raises SpecvizError where `served` cannot be."""
    speculative, notes = _speculative(config, served, version)
    if speculative is not None:
        notes += [*_verifier(config, speculative), *_tree(config)]
    sampling, more = sampling_of(config, speculative is not None)
    notes += [*more, *_gpus(served, speculative)]
    if config.adapt and speculative is not None:
        notes.append(note("no_adapt", k=config.depth))
    if config.overrides:
        notes.append(note("no_overrides"))
    if version > NEWEST:
        notes.append(note("newer", version=version, newest=NEWEST))
    if speculative is not None:
        notes.append(note("detailed" if version.request_metrics else "totals"))
    notes.append(note("counts_only"))
    return Export(version, served, speculative, sampling, config.chat, tuple(notes))


def _speculative(config: RunConfig, served: Served, version: Version) -> tuple[dict[str, object] | None, list[Note]]:
    """Who drafts."""
    method, depth = config.method, config.depth
    if method == "none" or depth == 0:
        return None, [note("plain")]
    if method == "lookup":
        words = {"prompt_lookup_max": LOOKUP_MAX, "prompt_lookup_min": LOOKUP_MIN}
        return {"method": "ngram", "num_speculative_tokens": depth, **words}, [note("lookup")]
    if method == "medusa":
        if not version.medusa:
            return None, [note("no_medusa", version=version)]
        heads = {"method": "medusa", "model": served.heads or "path/to/medusa-heads", "num_speculative_tokens": depth}
        return heads, [note("medusa_chain"), *([] if served.heads else [note("name_heads")])]
    notes = []
    if method in ("skip", "eagle"):
        notes = [note(f"no_{method}")]
        if served.draft is None and not served.bundled:
            return None, [*notes, note("plain")]
        notes.append(note("instead"))
    return _draft_model(served, depth, notes), notes


def _draft_model(served: Served, k: int, notes: list[Note]) -> dict[str, object]:
    """A draft model, as the pair has one; what is to be known about it goes into `notes`."""
    found: dict[str, object] = {"method": "draft_model", "model": served.draft or "path/to/draft-model"}
    found["num_speculative_tokens"] = k
    if served.draft is None:
        notes.append(note("bundled_folder" if served.bundled else "name_draft"))
    if served.tensor_parallel > 1:
        found["draft_tensor_parallel_size"] = served.tensor_parallel
    ours, theirs = facts(served.target), facts(served.draft)
    if ours and theirs and ours.rows != theirs.rows:
        notes.append(note("rows_differ", target=ours.rows, draft=theirs.rows))
        return found | {"draft_sample_method": "greedy", "use_heterogeneous_vocab": True}
    if served.bundled:
        notes.append(note("bundled_head"))
    elif not (ours and theirs):
        notes.append(note("same_rows"))
    notes.append(note("probabilistic"))
    return found | {"draft_sample_method": "probabilistic"}


def _verifier(config: RunConfig, speculative: dict[str, object]) -> list[Note]:
    """The rule of acceptance: writes it into `speculative`."""
    block = config.verify == "block"
    speculative["rejection_sample_method"] = "block" if block else "standard"
    if block:
        return [note("block")]
    return [note("no_typical")] if config.verify == "typical" else []


def _tree(config: RunConfig) -> list[Note]:
    if not config.is_tree:
        return []
    return [note("no_tree", depth=config.depth, nodes=len(config.tree) or config.nodes)]


def sampling_of(config: RunConfig, speculates: bool) -> tuple[dict[str, object], list[Note]]:
    """Arguments of `SamplingParams`, which are also fields of a request to a server, and what is lost in them."""
    notes: list[Note] = []
    temperature, top_k, top_p = config.temperature, config.top_k, config.top_p
    if config.verify == "greedy" and temperature > 0 and config.method != "none":
        temperature = 0.0
        notes.append(note("greedy_rule"))
    if top_p == 0:  # ours keeps one token then; vLLM wants a top_p above 0
        top_k, top_p = 1, 1.0
        notes.append(note("top_p_zero"))
    found: dict[str, object] = {"temperature": temperature}
    if temperature > 0:
        filters = {"top_k": top_k or None, "top_p": top_p if top_p < 1 else None}
        found |= {name: value for name, value in filters.items() if value is not None}
        notes += _filters(config, speculates, found)
    found["max_tokens"] = max(1, config.max_new_tokens)
    if config.max_new_tokens == 0:
        notes.append(note("one_token"))
    if temperature > 0:
        found["seed"] = config.seed
        notes.append(note("other_draws"))
    if config.stop:
        found["stop"] = list(config.stop)
    if config.ignore_eos:
        found["ignore_eos"] = True
    return found, notes


def _filters(config: RunConfig, speculates: bool, found: dict[str, object]) -> list[Note]:
    """Min-p, which is written only where vLLM takes it; and what top-k and top-p do beside a draft model."""
    notes: list[Note] = []
    if config.min_p and speculates:
        notes.append(note("no_min_p", value=config.min_p))
    elif config.min_p:
        found["min_p"] = config.min_p
    if speculates and config.method not in ("lookup", "medusa") and found.keys() & {"top_k", "top_p"}:
        notes.append(note("draft_unfiltered"))
    return notes


def _gpus(served: Served, speculative: dict[str, object] | None) -> list[Note]:
    """A number of GPUs that the models cannot be shared by."""
    models = [served.target, *([served.draft] if speculative and speculative.get("model") == served.draft else [])]
    gpus, notes = served.tensor_parallel, []
    for model in models:
        about = facts(model)
        if about and about.heads % gpus:
            fitting = ", ".join(str(n) for n in range(1, 17) if about.heads % n == 0)
            notes.append(note("heads_shared", model=model, heads=about.heads, gpus=gpus, fitting=fitting))
    if gpus > 1 and speculative and speculative.get("method") == "draft_model":
        notes.append(note("draft_gpus"))
    return notes

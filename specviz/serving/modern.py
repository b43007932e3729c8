"""Old arguments of vLLM in, today's out, and a sentence for each change. Knows no Python syntax and no shell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specviz.config import short
from specviz.errors import SpecvizError
from specviz.serving.literal import Value, known
from specviz.serving.note import Note, note
from specviz.serving.old_names import GONE, GONE_ELSEWHERE, KEYS, MOVED, SINCE_33
from specviz.serving.versions import NEWEST, Version

METHODS = ("draft_model", "ngram", "ngram_gpu", "suffix", "eagle", "eagle3", "mtp", "dflash", "dspark")
OTHER_METHODS = ("extract_hidden_states", "custom_class")
LEFT = ("medusa", "mlp_speculator")  # with vLLM 0.33
# what the name of weights says about the method; the first that fits
NAMED = {
    "medusa": "medusa",
    "eagle3": "eagle3",
    "eagle": "eagle",
    "mlp": "mlp_speculator",
    "accelerator": "mlp_speculator",
}
FIRST = ("method", "model", "num_speculative_tokens")  # in a speculative_config, as people write it


@dataclass(frozen=True, slots=True)
class Change:
    """`old` and `new` as code; `new` is empty for what has gone, `old` for what is added."""

    old: str
    new: str
    why: Note


@dataclass(slots=True)
class Modern:
    """Today's arguments. `spec` None: no speculation is asked for."""

    args: dict[str, Value] = field(default_factory=dict)
    spec: dict[str, Value] | None = None
    changes: list[Change] = field(default_factory=list)

    def say(self, old: str, new: str, why: str, **values: object) -> None:
        self.changes.append(Change(cut(old), cut(new), note(why, **values)))


def modernise(given: Mapping[str, Value], config: Mapping[str, Value] | None, version: Version) -> Modern:
    """Arguments of a call, and the entries of its `speculative_config` where it has one, for `version`.

    Raises SpecvizError for what no vLLM could have taken.
    """
    made = Modern()
    spec = _dict_form(config or {}, made, version)
    drafts = "speculative_model" in given and not _is_none(given["speculative_model"])
    if drafts:
        _draft(given["speculative_model"], spec, made)
    old_form = _arguments(given, spec, made)
    if old_form and not drafts and config is None:
        raise SpecvizError("serve.no_model", name=old_form)
    if not spec:
        return made
    _method(spec, made, version)
    if spec:
        _fill_in(spec, made, bool(old_form or "speculative_model" in given))
        _check(spec)
        rest = [name for name in spec if name not in FIRST]
        made.spec = {name: spec[name] for name in (*FIRST, *rest) if name in spec}
    return made


def _arguments(given: Mapping[str, Value], spec: dict[str, Value], made: Modern) -> str:
    """Sorts the arguments of the call. Returns the name of one that belongs to speculation, if any."""
    found = ""
    for name, value in given.items():
        old = f"{name}={value.code}"
        if name == "speculative_model":
            if _is_none(value):
                made.say(old, "", "was_none")
        elif name in MOVED and _is_none(value):
            made.say(old, "", "was_none")
        elif name in MOVED:
            found = found or (name if not name.startswith("ngram") else "")
            spec[MOVED[name]] = value
            made.say(old, f'speculative_config["{MOVED[name]}"]', "moved" if MOVED[name] == name else "moved_renamed")
        elif name in GONE:
            made.say(old, "", f"gone_{GONE[name]}")
        elif name in GONE_ELSEWHERE:
            made.say(old, "", "gone_elsewhere")
        else:
            made.args[name] = value
    return found


def _dict_form(config: Mapping[str, Value], made: Modern, version: Version) -> dict[str, Value]:
    """The entries of a `speculative_config`, which had other keys some versions ago."""
    spec: dict[str, Value] = {}
    for name, value in config.items():
        old = f'speculative_config["{name}"]={value.code}'
        if name in GONE:
            made.say(old, "", f"gone_{GONE[name]}")
        elif name == "tensor_parallel_size":
            spec["draft_tensor_parallel_size"] = value
            made.say(old, 'speculative_config["draft_tensor_parallel_size"]', "renamed")
        elif name == "rejection_sample_method" and value.value in ("strict", "probabilistic"):
            drawn = "probabilistic" if value.value == "probabilistic" else "greedy"
            spec |= {"rejection_sample_method": known("standard"), "draft_sample_method": known(drawn)}
            made.say(old, f'"standard", "draft_sample_method": "{drawn}"', "rejection_renamed")
        elif name in KEYS or (name in SINCE_33 and version >= NEWEST):
            spec[name] = value
        else:
            made.say(old, "", "unknown_key", name=cut(name, 40))
    return spec


def _draft(model: Value, spec: dict[str, Value], made: Modern) -> None:
    """`speculative_model=`: one argument for many methods, told apart by its name."""
    old, name = f"speculative_model={model.code}", str(model.value).lower() if model.known else ""
    if name in ("ngram", "[ngram]"):
        spec["method"] = known("ngram")
        made.say(old, 'speculative_config["method"] = "ngram"', "ngram_method")
        return
    method = next((method for part, method in NAMED.items() if part in name), "draft_model")
    spec["model"] = model
    new = 'speculative_config["model"]'
    if "method" in spec:
        made.say(old, new, "moved_renamed")
        return
    spec["method"] = known(method)
    why = "model_method" if method == "draft_model" else "model_named"
    made.say(old, f'{new}, "method": "{method}"', why, method=method)


def _method(spec: dict[str, Value], made: Modern, version: Version) -> None:
    """Which method it is; empties `spec` where this version has none of that kind."""
    given = spec.get("method")
    if given is None or _is_none(given):
        model = spec.get("model")
        if model is None:
            raise SpecvizError("serve.no_model", name="speculative_config")
        spec.pop("method", None)
        _draft(model, spec, made)
        if spec["method"].value == "ngram":
            spec.pop("model", None)
        return
    if not given.known:
        return
    name = given.value
    if name == "[ngram]":
        spec["method"] = known("ngram")
        made.say('"[ngram]"', '"ngram"', "renamed")
    elif isinstance(name, str) and name.endswith("_mtp"):
        spec["method"] = known("mtp")
        made.say(f'"{name}"', '"mtp"', "mtp")
    elif name in LEFT and not version.medusa:
        made.say(f'"method": "{name}"', "", "left", name=name)
        spec.clear()
    elif name not in (*METHODS, *OTHER_METHODS, *LEFT):
        raise SpecvizError("serve.method_unknown", value=short(name), methods=", ".join(METHODS))


def _fill_in(spec: dict[str, Value], made: Modern, old_form: bool) -> None:
    """What the old call did by itself and today's does only when told, and what no longer goes together."""
    method = spec["method"].value
    if method == "ngram":
        if old_form and "prompt_lookup_max" in spec and "prompt_lookup_min" not in spec:
            spec["prompt_lookup_min"] = known(1)
            made.say("", '"prompt_lookup_min": 1', "lookup_min")
        return
    for name in ("prompt_lookup_max", "prompt_lookup_min"):
        if method != "ngram_gpu" and spec["method"].known and name in spec:
            made.say(f'"{name}": {spec.pop(name).code}', "", "lookup_unused")
    if method != "draft_model":
        return
    draft, target = spec.get("draft_tensor_parallel_size"), made.args.get("tensor_parallel_size", known(1))
    if draft is not None and draft.known and target.known and draft.value != target.value:
        made.say(f'"draft_tensor_parallel_size": {draft.source}', "", "same_gpus")
        del spec["draft_tensor_parallel_size"]
    if old_form and "draft_sample_method" not in spec:
        spec["draft_sample_method"] = known("probabilistic")
        made.say("", '"draft_sample_method": "probabilistic"', "sampling_added")


def _check(spec: Mapping[str, Value]) -> None:
    """Values that vLLM would refuse."""
    method = spec["method"].value
    if "num_speculative_tokens" not in spec and method in ("draft_model", "ngram", "ngram_gpu"):
        raise SpecvizError("serve.tokens_missing")
    for name in ("num_speculative_tokens", "prompt_lookup_max", "prompt_lookup_min", "draft_tensor_parallel_size"):
        value = spec.get(name)
        if value is None or not value.known or _is_none(value):
            continue
        whole = isinstance(value.value, int) and not isinstance(value.value, bool)
        if not whole or value.value < 1:
            raise SpecvizError("serve.positive", name=name, value=short(value.value))
    low, high = spec.get("prompt_lookup_min"), spec.get("prompt_lookup_max")
    if low and high and isinstance(low.value, int) and isinstance(high.value, int) and low.value > high.value:
        raise SpecvizError("serve.lookup_order", low=low.value, high=high.value)


def _is_none(value: Value) -> bool:
    return value.known and value.value is None


def cut(text: str, limit: int = 160) -> str:
    """Code as it may stand in a list of changes."""
    return text if len(text) <= limit else text[: limit - 1] + "…"

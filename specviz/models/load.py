"""Loads a pair: a target, what drafts for it, and the codec for its text. Unfit pairs are refused with the reason."""

from __future__ import annotations

from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from specviz.config import METHODS, check_choice
from specviz.engine.lean import fits
from specviz.errors import SpecvizError
from specviz.models.compose import DRAFT_WEIGHTS, compose_draft, with_small_head
from specviz.models.device import INT8, check_memory, choose_device, choose_dtype
from specviz.models.fetch import HUB_ID
from specviz.models.fit import check_context, check_rollback, check_vocabularies, logit_rows, vocabulary_rows
from specviz.models.heads import BUNDLED, fitting, heads_in
from specviz.models.local import LAYERS, local_folder
from specviz.models.open import locate, read_config, read_model, read_tokenizer, weight_bytes
from specviz.models.pair import Pair
from specviz.models.prepared import Progress, no_progress
from specviz.models.presets import CUSTOM, DEFAULT, PRESETS
from specviz.models.skip import check_layers, default_layers, layer_count, parse_layers
from specviz.models.text import TextCodec

BUNDLED_DRAFT = "SmolLM2-135M draft"


def load_pair(
    pair: str | None = None,
    *,
    target: str | None = None,
    draft: str | None = None,
    method: str = "draft",
    device: str = "auto",
    dtype: str = "auto",
    skip: str | tuple[int, ...] | None = None,
    heads: str | Path | None = None,
    progress: Progress | None = None,
) -> Pair:
    """A preset by its id, or any `target` and `draft`: hub ids or local folders. With nothing given, the bundled pair.

    The draft model is loaded for method "draft" only; such a pair can run every method. `skip` names the layers that
    method "skip" leaves out ("14-17,20"); `heads` is a folder or a hub id of EAGLE-style or Medusa weights. Raises
    SpecvizError, in a sentence, for everything that can be foreseen.
    """
    progress = progress or no_progress
    check_choice("method", method, METHODS)
    folders = heads_in(heads, progress) if heads is not None else None
    where = choose_device(device)
    precision = choose_dtype(dtype, where)
    id, target, draft, bundled = _wanted(pair, target, draft, method)

    folder, name = locate(target, _up_to(0.8, progress)), _short_name(target)
    config = read_config(folder, name)
    beside = DRAFT_WEIGHTS if bundled else locate(draft, progress) if draft is not None else None
    shares = beside is not None and (beside / LAYERS).is_file()  # embeddings and LM head are the target's
    if beside is not None and not shares:  # both must fit together, and it is better to know before the first is read
        needed = weight_bytes(config, name, precision)
        if beside.resolve() != folder.resolve():
            needed += weight_bytes(read_config(beside, draft), draft, precision)
        check_memory(needed, where, f"{name} + {_short_name(draft)}")
    progress(0.85, "models.loading", model=name)
    tokenizer = read_tokenizer(folder, name)
    model = read_model(folder, config, name, where, precision)
    if dtype == INT8 and not fits(model):
        raise SpecvizError("errors.int8_model", model=name, kind=type(model).__name__)
    check_context(model, name)
    if target != HUB_ID:  # a plain Llama, and every second counts when the app starts; a test holds it to the same
        check_rollback(model, name)
    rows = vocabulary_rows(tokenizer, model)
    total = layer_count(model)
    if isinstance(skip, str):
        layers = parse_layers(skip, total)
    else:
        layers = check_layers(skip, total) if skip else default_layers(total) if total > 1 else ()

    drafter, draft_name = None, None
    if beside is not None and shares:
        draft_name = BUNDLED_DRAFT if draft is None else _short_name(draft)
        draft_folder = compose_draft(beside, folder)
        config = read_config(draft_folder, draft_name)
        draft_name += f" ({config.num_hidden_layers} layers)"
        drafter = read_model(draft_folder, config, draft_name, where, precision)
        with fitting(beside, name):
            drafter = with_small_head(drafter, beside)
    elif draft is not None:
        draft_name = _short_name(draft)
        drafter = _draft_of(draft, folder, model, tokenizer, rows, (name, draft_name), progress)
    if folders is None:
        folders = BUNDLED if target == HUB_ID else {}
    codec = TextCodec(tokenizer, rows)
    progress(1.0, "models.ready", model=name)
    eos = _eos(model, tokenizer)
    return Pair(
        id, model, drafter, name, draft_name, codec, eos, where, precision, rows, layers, folders, method, dtype == INT8
    )


def _wanted(pair: str | None, target: str | None, draft: str | None, method: str) -> tuple[str, str, str | None, bool]:
    """Pair id, target, draft (None: none, or the bundled one) and whether the bundled draft is to be used."""
    if pair is not None and (target is not None or draft is not None):
        raise SpecvizError("errors.pair_or_models")
    if target is None and draft is None:
        pair = check_choice("pair", pair or DEFAULT, PRESETS)
        preset = PRESETS[pair]
        return pair, preset.target, preset.draft if method == "draft" else None, preset.bundled and method == "draft"
    if method != "draft":
        return CUSTOM, HUB_ID if target is None else target, None, False
    if draft is None:
        raise SpecvizError("errors.no_draft", target=_short_name(target))
    return CUSTOM, HUB_ID if target is None else target, draft, False


def _draft_of(
    draft: str,
    target_folder: Path,
    target: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: int,
    names: tuple[str, str],
    progress: Progress,
) -> PreTrainedModel:
    """A draft of one's own choice, held against the target. The target itself is taken as it is, not loaded twice."""
    folder = locate(draft, _up_to(0.9, progress))
    if folder.resolve() == target_folder.resolve():
        return target
    progress(0.95, "models.loading", model=names[1])
    config = read_config(folder, names[1])
    draft_tokenizer = read_tokenizer(folder, names[1])
    stated = config.get_text_config(decoder=True).vocab_size
    check_vocabularies(tokenizer, draft_tokenizer, rows, stated, names)  # before the weights: it costs less
    model = read_model(folder, config, names[1], target.device, target.dtype)
    check_vocabularies(tokenizer, draft_tokenizer, rows, logit_rows(model), names)
    check_context(model, names[1])
    check_rollback(model, names[1])
    return model


def _up_to(share: float, progress: Progress) -> Progress:
    """The same progress, but for the first `share` of the whole: fetching is not yet loading."""
    return lambda fraction, key, **values: progress(share * fraction, key, **values)


def _short_name(model: str) -> str:
    """ "HuggingFaceTB/SmolLM2-135M-Instruct" or "~/models/SmolLM2-135M-Instruct/" -> "SmolLM2-135M-Instruct"."""
    folder = local_folder(model)
    return model.rpartition("/")[2] if folder is None else folder.resolve().name


def _eos(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """From the generation config, as model.generate does; where it says nothing, from the config or the tokenizer."""
    for source in (model.generation_config, model.config, tokenizer):
        found = getattr(source, "eos_token_id", None)
        if found is not None:
            return tuple(found) if isinstance(found, list | tuple) else (int(found),)
    return ()

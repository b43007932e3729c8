"""Opens one model: by a hub id or a local folder, always as plain weights, never as somebody's code.

Every foreseeable failure ends as one SpecvizError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from huggingface_hub import ModelInfo, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from specviz.errors import SpecvizError
from specviz.models.device import check_memory
from specviz.models.fetch import HUB_ID, fetch_target
from specviz.models.hub import SourceFailed, ask_hub, download, files_to_get
from specviz.models.local import model_folder
from specviz.models.prepared import Progress
from specviz.models.quiet import no_bars
from specviz.models.watch import one_line

Wanted = Callable[[ModelInfo], dict[str, int]]


def locate(name: str, progress: Progress, wanted: Wanted | None = None) -> Path:
    """The folder of a model named by a hub id or a path; downloaded if it must be.

    wanted: which of the files on the hub, {name: size}; None: those of a model.
    """
    if name == HUB_ID:
        return fetch_target(progress)
    return model_folder(name) or _from_hub(name, progress, wanted or _model_files)


def _model_files(info: ModelInfo) -> dict[str, int]:
    files = files_to_get(info)
    if not any(file.endswith(".safetensors") for file in files):
        raise SpecvizError("errors.model_pickle", model=info.id)
    return files


def _from_hub(name: str, progress: Progress, wanted: Wanted) -> Path:
    progress(0.0, "models.asking_hub")
    try:
        info = ask_hub(name)
        return download(info, progress, files=wanted(info))
    except GatedRepoError as error:
        raise SpecvizError("errors.model_gated", model=name) from error
    except RepositoryNotFoundError as error:
        raise SpecvizError("errors.model_unknown", model=name) from error
    except (SourceFailed, HfHubHTTPError, OSError) as error:
        try:
            return Path(snapshot_download(name, local_files_only=True))  # an earlier download, as far as it came
        except (LocalEntryNotFoundError, OSError):
            reason = str(error) if isinstance(error, SourceFailed) else one_line(error)
            raise SpecvizError("errors.model_offline", model=name, reason=reason) from error


def read_config(folder: Path, name: str) -> PreTrainedConfig:
    """The model's configuration; refuses what cannot be a target or a draft, before any weights are read."""
    with _explained(name):
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    if config.is_encoder_decoder:
        raise SpecvizError("errors.model_encoder_decoder", model=name)
    return config


def read_tokenizer(folder: Path, name: str) -> PreTrainedTokenizerBase:
    """The model's tokenizer, exactly as its tokenizer.json says.

    AutoTokenizer rebuilds some tokenizers by their class name and loses what that class does not know, for example
    that SmolLM2 splits off every digit; so it is asked only where there is no tokenizer.json.
    """
    kind = PreTrainedTokenizerFast if (folder / "tokenizer.json").is_file() else AutoTokenizer
    try:
        return kind.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # missing, broken or unknown: the libraries raise many kinds
        raise SpecvizError("errors.tokenizer", model=name, reason=one_line(error)) from error


def read_model(
    folder: Path, config: PreTrainedConfig, name: str, device: torch.device, dtype: torch.dtype
) -> PreTrainedModel:
    """The model on its device, in eval mode, no gradients. Refused before loading if it does not fit."""
    check_memory(weight_bytes(config, name, dtype), device, name)
    with _explained(name), no_bars():
        model, found = AutoModelForCausalLM.from_pretrained(
            folder,
            output_loading_info=True,
            config=config,
            dtype=dtype,
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=True,
            attn_implementation="sdpa" if _has_sdpa(config) else None,
        )
    if found["missing_keys"]:  # transformers would fill them with random numbers
        some = sorted(found["missing_keys"])
        raise SpecvizError("errors.model_holes", model=name, count=len(some), example=some[0])
    return model.to(device).eval().requires_grad_(False)


def weight_bytes(config: PreTrainedConfig, name: str, dtype: torch.dtype) -> int:
    """How much memory the model's weights take, counted on its empty shell."""
    with _explained(name), torch.device("meta"):
        return sum(p.numel() for p in AutoModelForCausalLM.from_config(config).parameters()) * dtype.itemsize


def _has_sdpa(config: PreTrainedConfig) -> bool:
    kind = AutoModelForCausalLM._model_mapping[type(config)]
    return bool(getattr(kind, "_supports_sdpa", False))


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turns what transformers raises on an unusable model into one sentence."""
    try:
        yield
    except Exception as error:  # it raises OSError, ValueError, KeyError, RuntimeError and more
        text = str(error)
        if "trust_remote_code" in text:
            raise SpecvizError("errors.model_code", model=name) from error
        if isinstance(error, OSError) and ("safetensors" in text or "pytorch_model" in text):
            raise SpecvizError("errors.model_pickle", model=name) from error
        if "Unrecognized configuration class" in text:
            raise SpecvizError("errors.model_kind", model=name) from error
        if isinstance(error, torch.OutOfMemoryError):
            raise SpecvizError("errors.memory_run_out", model=name) from error
        raise SpecvizError("errors.model_broken", model=name, reason=one_line(error)) from error

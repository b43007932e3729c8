"""A loaded pair: a target, what drafts for it, and the codec for its text. Loading is in `load.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from transformers import PreTrainedModel

from specviz.config import LEARNED, check_choice
from specviz.engine.drafters import Drafter
from specviz.engine.graphs import GraphedLM
from specviz.engine.lean import LeanLM, LeanModel, Memory
from specviz.engine.model import CachedLM
from specviz.errors import SpecvizError
from specviz.models.device import INT8, dtype_name
from specviz.models.fast import fast
from specviz.models.heads import About, describe, drafter_maker
from specviz.models.skip import format_layers, skip_layers
from specviz.models.text import TextCodec
from specviz.trace import Models


@dataclass(eq=False)
class Pair:
    """A target and its drafters, ready to run. Shared by all visitors: nothing of a run is kept in it.

    id           of the preset, or "custom"
    draft        None when the pair was loaded for a method that needs none
    eos          ids that end a text: none, one or several
    vocab_size   rows of the logits that are compared; what lies above is padding
    skip         layers that the "skip" drafter leaves out
    heads        folders of weights for "eagle" and "medusa"
    method       the one it was loaded for
    int8         the target's weights are rounded to 8 bits when it runs; `target` itself keeps them whole
    """

    id: str
    target: PreTrainedModel
    draft: PreTrainedModel | None
    target_name: str
    draft_name: str | None
    codec: TextCodec
    eos: tuple[int, ...]
    device: torch.device
    dtype: torch.dtype
    vocab_size: int
    skip: tuple[int, ...]
    heads: Mapping[str, Path]
    method: str = "draft"
    int8: bool = False
    _skipped: PreTrainedModel | None = field(default=None, repr=False)
    _fast: dict[str, LeanModel | None] = field(default_factory=dict, repr=False)
    _spare: dict[str, list[Memory]] = field(default_factory=dict, repr=False)
    _learned: dict[str, Callable[[], Drafter]] = field(default_factory=dict, repr=False)
    _about: dict[str, About] = field(default_factory=dict, repr=False)

    def drafter_model(self, method: str) -> PreTrainedModel:
        """The model that drafts in `method` "draft" or "skip". Raises SpecvizError where the pair has none."""
        if method == "draft":
            if self.draft is None:
                raise SpecvizError("errors.no_draft", target=self.target_name)
            return self.draft
        check_choice("method", method, ("draft", "skip"))
        if self._skipped is None:
            if not self.skip:
                raise SpecvizError("errors.skip_model", model=self.target_name)
            self._skipped = skip_layers(self.target, self.skip)
        return self._skipped

    @property
    def max_context(self) -> int | None:
        """How many tokens the target can read; None where its config does not say."""
        return getattr(self.target.config.get_text_config(decoder=True), "max_position_embeddings", None)

    def opened(self, role: str) -> CachedLM:
        """The "target", or the model that drafts in method "draft" or "skip", an empty cache, the fastest pass."""
        model = self.target if role == "target" else self.drafter_model(role)
        weights = self._weights(role, model)
        if weights is None:
            return CachedLM(model, self.vocab_size)
        if self.device.type == "cuda":
            return GraphedLM(weights, self.vocab_size, self._spare.setdefault(role, []))
        return LeanLM(weights, self.vocab_size)

    def _weights(self, role: str, model: PreTrainedModel) -> LeanModel | None:
        """Made once for each model: the target may draft for itself, whole or without some layers."""
        if model is self.target:
            role = "target"
        if role not in self._fast:
            whole = self._weights("target", self.target) if role == "skip" else None
            self._fast[role] = whole.without(self.skip, model) if whole else fast(model, self.int8 and role != "draft")
        return self._fast[role]

    def learned(self, method: str) -> Drafter:
        """A drafter of `method` "eagle" or "medusa", fresh. Raises SpecvizError where there is none."""
        if method not in self._learned:
            self._learned[method] = drafter_maker(self.target, self.vocab_size, method, self.heads)
        return self._learned[method]()

    def about(self, method: str) -> About:
        """The weights of "eagle" or "medusa", which are read through when they are first asked about."""
        if method not in self._about:
            self._about[method] = describe(method, self.heads, self.target_name)
        return self._about[method]

    def models_info(self, method: str) -> Models:
        """What runs in `method`, by names a person knows."""
        if method in LEARNED:
            draft = self.about(method).name
        else:
            draft = {
                "draft": self.draft_name or "no draft",
                "skip": f"{self.target_name} without layers {format_layers(self.skip)}",
                "lookup": "prompt lookup",
                "none": "no draft",
            }[method]
        return Models(self.id, self.target_name, draft, str(self.device), self.dtype_name)

    @property
    def dtype_name(self) -> str:
        """The precision that the target runs in."""
        return INT8 if self.int8 else dtype_name(self.dtype)

"""Pairs that are known to fit together, from one that comes with specviz to some that need a big machine."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.models.fetch import HUB_ID

DEFAULT = "smollm2-135m"
CUSTOM = "custom"  # the id of a pair of one's own choice


@dataclass(frozen=True, slots=True)
class Preset:
    """A target and a draft for it.

    draft      hub id; None: the bundled draft, composed with the target's embeddings
    memory_gb  both models' weights in the dtype that "auto" picks where they should run (fp32 for the bundled pair
               on a CPU, 16 bits for the others), with the room that `check_memory` asks for
    gated      the hub gives the weights only to accounts that have accepted the licence
    note       key of a sentence about the pair
    """

    id: str
    target: str
    draft: str | None
    memory_gb: float
    gated: bool
    note: str

    @property
    def bundled(self) -> bool:
        """Whether it can be had without the model hub."""
        return self.draft is None


_ALL = (
    Preset(DEFAULT, HUB_ID, None, 0.8, False, "models.note_smollm2_135m"),
    Preset("smollm2-1.7b", "HuggingFaceTB/SmolLM2-1.7B-Instruct", HUB_ID, 4.3, False, "models.note_smollm2_1_7b"),
    Preset(
        id="qwen2.5-7b",
        target="Qwen/Qwen2.5-7B-Instruct",
        draft="Qwen/Qwen2.5-0.5B-Instruct",
        memory_gb=18.7,
        gated=False,
        note="models.note_qwen2_5_7b",
    ),
    Preset(
        id="llama3.1-8b",
        target="meta-llama/Llama-3.1-8B-Instruct",
        draft="meta-llama/Llama-3.2-1B-Instruct",
        memory_gb=21.3,
        gated=True,
        note="models.note_llama3_1_8b",
    ),
)
PRESETS = {preset.id: preset for preset in _ALL}

"""Names of devices and precisions: who checks them need not wait for torch."""

from __future__ import annotations

from specviz.config import check_choice, short
from specviz.errors import SpecvizError

DEVICES = ("auto", "cpu", "cuda", "mps")
INT8 = "int8"  # the target's weights in 8 bits
SHORT = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
PRECISIONS = ("auto", *SHORT.values(), INT8)


def check_device(name: str) -> tuple[str, str]:
    """(kind, number or ""). Raises SpecvizError for what names no device."""
    kind, _, index = name.partition(":")
    if kind not in DEVICES or (index and (kind != "cuda" or not index.isdigit())):
        raise SpecvizError("errors.choice", name="device", value=short(name), choices=", ".join(DEVICES))
    return kind, index


def check_dtype(name: str) -> str:
    """The precision by its long name. Raises SpecvizError for what names none."""
    return check_choice("dtype", SHORT.get(name, name), PRECISIONS)

"""Devices, precisions and memory."""

import pytest
import torch

from specviz.errors import SpecvizError
from specviz.models.device import check_memory, choose_device, choose_dtype, dtype_name, free_memory

CPU = torch.device("cpu")


def test_auto_takes_the_best_there_is():
    chosen = choose_device("auto")
    best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    assert chosen.type == best
    assert choose_device("cpu") == CPU


@pytest.mark.parametrize("name", ["gpu", "", "cpu:1", "cuda:", "cuda:x", "cuda:-1", "meta", "CPU", "x" * 9999])
def test_unknown_device(name):
    with pytest.raises(SpecvizError) as raised:
        choose_device(name)
    assert raised.value.key in ("errors.choice", "errors.device_missing")
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("name", ["cuda", "cuda:7", "mps"])
def test_missing_device(name):
    if (name == "cuda" and torch.cuda.is_available()) or (name == "mps" and torch.backends.mps.is_available()):
        pytest.skip("it is there")
    with pytest.raises(SpecvizError, match="not available"):
        choose_device(name)


def test_dtypes():
    assert choose_dtype("auto", CPU) is torch.float32
    assert choose_dtype("auto", torch.device("mps")) is torch.float16
    assert choose_dtype("bf16", CPU) is torch.bfloat16
    assert dtype_name(choose_dtype("float16", CPU)) == "float16"
    with pytest.raises(SpecvizError, match="dtype"):
        choose_dtype("int3", CPU)


def test_memory():
    free = free_memory(CPU)
    assert free is None or free > 1e8
    check_memory(1000, CPU, "tiny")
    with pytest.raises(SpecvizError, match=r"huge needs about 115000\.0 GB on cpu, but only [\d.]+ GB are free"):
        check_memory(10**14, CPU, "huge")

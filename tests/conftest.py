"""What tests share: the bundled pair, loaded once."""

import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two workers share the processor, and their children inherit it

import specviz  # noqa: F401 before torch: it sets how idle threads wait


@pytest.fixture(scope="session")
def pair():
    """SmolLM2-135M-Instruct with the bundled draft, in float32 on the CPU; fetched on a machine's first test run."""
    from specviz.models.load import load_pair

    return load_pair(device="cpu", dtype="float32")

"""Handlers are tested as functions, with a runner of their own; the HTTP API on the served app."""

import pytest

from specviz.ui import samples, settings
from specviz.ui.options import Options
from specviz.ui.runner import Runner
from tests.served import served


@pytest.fixture(scope="session")
def address():
    return served()


@pytest.fixture(scope="session")
def runner(pair):
    return Runner(Options(), load=lambda _id, _progress: pair)


@pytest.fixture
def sample():
    return samples.sample(samples.FIRST)


@pytest.fixture
def values(sample):
    """The controls as a new visitor finds them, but for a short run."""
    filled = dict(zip(settings.FIELDS, settings.of_trace(sample, "smollm2-135m").values(), strict=True))
    filled |= {"prompt": "Name three colours.", "k": 3, "max_new_tokens": 8}
    return filled

"""Handlers are tested as functions, with a runner of their own; the HTTP API on the served app."""

import pytest

from specviz.ui import samples, settings
from specviz.ui.options import Options
from specviz.ui.runner import Runner
from tests.served import served
from tests.unit.bench_pair import save_pair


def loaded(loader):
    """The pair of a loader, or the SpecvizError that its loading ended with."""
    loader.begin()
    assert loader.over(60)
    return loader.loaded()


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


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A tiny target and its draft, as a user has them: a round takes a millisecond."""
    return save_pair(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="session")
def tiny_pair(folders):
    from specviz.models.load import load_pair

    target, draft = map(str, folders)
    return load_pair(target=target, draft=draft, device="cpu", dtype="float32")

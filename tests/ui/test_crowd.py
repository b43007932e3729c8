"""The app on a tiny pair, asked over HTTP by many at once, by nonsense, and by clients who leave. The full ones:
python -m benchmarks.crowd, python -m benchmarks.fuzz.
"""

import time

import httpx
import pytest

from benchmarks.crowd import crowd
from benchmarks.fuzz import fuzz, usable
from benchmarks.visitor import Refused, Visitor, app, metrics, values
from specviz.config import RunConfig
from specviz.models.presets import CUSTOM
from tests.unit.bench_pair import save_pair

LONG = RunConfig("none", max_new_tokens=8000)  # at temperature 0 the tiny target goes on for ever
PATIENCE = 60  # seconds; a busy machine is slow, and slow is no fault here


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """(address, file with what the app has said)."""
    target, draft = map(str, save_pair(tmp_path_factory.mktemp("toy"), context=16_384))
    said = tmp_path_factory.mktemp("log") / "app.txt"
    flags = ("--target", target, "--draft", draft, "--device", "cpu", "--dtype", "float32")
    with said.open("w", encoding="utf-8") as log, app(*flags, log=log) as address:
        yield address, said


def idle(address):
    deadline = time.monotonic() + PATIENCE
    while metrics(address)["specviz_jobs"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_many_at_once_get_their_own_runs_and_every_step_its_turn(toy):
    address, _ = toy
    seen, _ = crowd(address, clients=6, seconds=4, pair=CUSTOM)
    assert (seen.errors, seen.mixed) == ([], [])
    assert seen.runs >= 6
    assert seen.steps == 3 * seen.runs
    assert metrics(address)["specviz_jobs"] == 0


def test_nonsense_is_answered_and_the_app_goes_on(toy):
    address, said = toy
    seen = fuzz(address, 25, CUSTOM, PATIENCE)
    assert seen.wrong == []
    assert seen.requests == 25
    assert usable(address, CUSTOM)
    idle(address)
    assert [line for line in said.read_text(encoding="utf-8").splitlines() if "/specviz/" in line] == []


@pytest.mark.parametrize("where", ["alone", "beside another"])
def test_a_client_who_leaves_in_the_middle_ends_the_run_and_no_other(toy, where):
    address, _ = toy
    with Visitor(address) as other, Visitor(address) as leaver:
        news = leaver.news("run", values("Tell me.", LONG, CUSTOM))
        for _ in range(3):
            next(news)
        assert metrics(address)["specviz_jobs"] == 1
        if where == "beside another":  # the step is let in between two rounds of the long run
            other.ask("step", values("Name a river.", RunConfig("draft", k=2, seed=4), CUSTOM))
            assert metrics(address)["specviz_jobs"] == 1
        news.close()
        idle(address)
        mine = leaver.trace()  # what was reached is still there, and goes on
        assert mine.rounds
        assert mine.can_go_on
        leaver.ask("step", values("Tell me.", LONG, CUSTOM))
        assert len(leaver.trace().rounds) == len(mine.rounds) + 1
        if where == "beside another":
            assert len(other.trace().rounds) == 1


def test_stop_ends_a_run_within_rounds_and_keeps_it(toy):
    address, _ = toy
    with Visitor(address) as visitor, httpx.Client() as client:
        for n, _ in enumerate(visitor.news("run", values("Tell me.", LONG, CUSTOM))):
            if n == 3:
                # not `call/stop`: its answer would come in the run's own stream, which belongs to the session
                client.post(f"{address}gradio_api/run/stop", json={"data": [], "session_hash": visitor.session})
        assert visitor.trace().finish == "cancelled"
    idle(address)


@pytest.mark.parametrize(("name", "value"), [("k", 10**9), ("prompt", "x" * 10_000_000), ("pair", "../../etc/passwd")])
def test_a_hostile_value_is_refused_while_the_lane_is_busy(toy, name, value):
    address, _ = toy
    with Visitor(address) as busy, Visitor(address) as visitor:
        news = busy.news("run", values("Tell me.", LONG, CUSTOM))
        next(news)
        data = list(values("Tell me.", LONG, CUSTOM))
        data[{"prompt": 0, "k": 2, "pair": 11}[name]] = value
        with pytest.raises(Refused):
            visitor.ask("run", data)
        assert metrics(address)["specviz_jobs"] == 1
        news.close()
    idle(address)

"""What a measurement may choose, and how it is remembered. The times themselves belong to a machine, not to a test."""

import json
import os
import random
import subprocess
import sys

import pytest

from specviz import tuned
from specviz.models.device import choose_device, choose_dtype
from specviz.models.tune import SPINS, Timing, choose, trial
from specviz.tuned import Tuned, forget, remember, remembered


def timing(spin=1000, threads=2, busy=False, fp32=10.0, bf16=None):
    times = {"float32": fp32} | ({"bfloat16": bf16} if bf16 else {})
    return Timing(spin, threads, busy, times, times)


def timings(usual=10.0, sleepy=10.0, eager=10.0, fewer=15.0, loaded=20.0, loaded_eager=20.0, bf16=None):
    return [
        *(timing(spin, 1, fp32=fewer) for spin in SPINS),
        timing(0, fp32=sleepy, bf16=bf16),
        timing(fp32=usual, bf16=bf16),
        timing(SPINS[-1], fp32=eager, bf16=bf16),
        timing(0, busy=True, fp32=loaded),
        timing(busy=True, fp32=loaded),
        timing(SPINS[-1], busy=True, fp32=loaded_eager),
    ]


@pytest.mark.parametrize(
    ("measured", "chosen"),
    [
        ({}, Tuned()),
        ({"eager": 9.8}, Tuned()),  # noise
        ({"eager": 8.0}, Tuned(SPINS[-1])),
        ({"sleepy": 8.0}, Tuned(0)),
        ({"eager": 8.0, "loaded_eager": 300.0}, Tuned()),  # fast alone, a disaster beside others
        ({"fewer": 8.0}, Tuned(threads=1)),
        ({"sleepy": 9.6, "eager": 9.3}, Tuned(SPINS[-1])),  # the fastest, not the first that is a little faster
        ({"sleepy": 9.4, "eager": 9.3, "usual": 9.7}, Tuned()),
        ({"bf16": 9.0}, Tuned()),
        ({"bf16": 6.0}, Tuned(dtype="bfloat16")),
    ],
)
def test_choice(measured, chosen):
    """In whatever order they were measured."""
    listed = timings(**measured)
    rng = random.Random(1)
    for _ in range(20):
        assert choose(listed) == chosen
        rng.shuffle(listed)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot say which cores a process may use")
def test_only_the_cores_that_may_be_used_count():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); import specviz.tuned as tuned; "
    code += "print(tuned.usable_cores())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tuned_root())
    assert done.stdout.split() == ["1"]


def test_remembered_and_forgotten(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    assert remembered() == Tuned()
    file = remember(Tuned(7, 1, "bfloat16"))
    assert remembered() == Tuned(7, 1, "bfloat16")
    assert str(choose_dtype("auto", choose_device("cpu"))) == "torch.bfloat16"
    assert str(choose_dtype("float32", choose_device("cpu"))) == "torch.float32"
    whole = file.read_text(encoding="utf-8")
    for wrong in (
        "{",
        "[]",
        whole.replace(": 7,", ': "lazy",'),
        whole.replace(": 1,", ": -1,"),
        whole.replace("bfloat16", "int3"),
        json.dumps(json.loads(whole) | {"machine": "another"}),
    ):
        file.write_text(wrong, encoding="utf-8")
        assert remembered() == Tuned()
    forget()
    forget()
    assert not file.exists()


@pytest.mark.parametrize("given", [{}, {"OMP_WAIT_POLICY": "active", "OMP_NUM_THREADS": "2"}])
def test_it_holds_from_the_start_and_the_environment_stands_above_it(given, tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    remember(Tuned(7, 1))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    code = "import os, specviz, torch; print(os.environ.get('GOMP_SPINCOUNT'), torch.get_num_threads())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean | given, capture_output=True, text=True, check=True, cwd=tuned_root()
    )
    assert done.stdout.split() == (["None", "2"] if given else ["7", "1"])


def test_a_trial_times_what_this_processor_can():
    times = json.loads(trial())
    assert "float32" in times["one"]
    assert times["one"].keys() == times["five"].keys()
    assert all(ms > 0 for each in times.values() for ms in each.values())


def tuned_root():
    return os.path.dirname(os.path.dirname(tuned.__file__))

"""What is wrong with how the app is started ends it, with one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from specviz.errors import SpecvizError
from specviz.ui.options import Options, on_space
from specviz.ui.startup import check_start

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"pair": "nope"}, "pair is 'nope', but must be one of: smollm2-135m"),
        ({"device": "tpu"}, "device is 'tpu', but must be one of: auto, cpu, cuda, mps"),
        ({"device": "cpu:1"}, "device is 'cpu:1'"),
        ({"device": "cuda:99"}, "not available"),
        ({"dtype": "int3"}, "dtype is 'int3', but must be one of: auto, float32"),
        ({"dtype": ""}, "dtype is"),
        ({"target": "/no/such"}, "no model folder '/no/such'"),
        ({"draft": "./nor/this"}, "no model folder './nor/this'"),
        ({"heads": "~/nor that"}, "no model folder"),
        ({"target": ""}, "no model folder"),
    ],
)
def test_refused_at_once(wrong, said):
    with pytest.raises(SpecvizError) as raised:
        check_start(Options(**wrong))
    assert said in str(raised.value)
    assert len(str(raised.value)) < 300


def test_what_can_be_is_taken(tmp_path):
    check_start(Options())
    check_start(Options(pair="smollm2-1.7b", device="cpu", dtype="bf16"))
    check_start(Options(target=str(tmp_path), draft="nobody/nothing", heads="hub-id", dtype="int8"))


def test_the_app_ends_with_status_2():
    command = [sys.executable, "app.py", "--pair", "nope"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("app.py: error: pair is 'nope'")
    assert "Traceback" not in done.stderr


def test_on_a_space_everybody_is_a_stranger(monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert not on_space()
    monkeypatch.setenv("SPACE_ID", "somebody/specviz")
    assert on_space()

"""The README's Python example runs as it is printed there."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.mark.pair
def test_example_runs(pair, monkeypatch, capsys):
    import specviz

    example = re.search(r"```python\n(import specviz.*?)```", README, re.DOTALL)[1]
    assert len(example.strip().splitlines()) <= 20
    monkeypatch.setattr(specviz, "load_pair", lambda: pair, raising=False)  # the same pair, loaded once for all tests
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "accepted:" in printed
    assert float(re.search(r"([\d.]+) tokens per target pass", printed)[1]) >= 1

"""`train` with what it cannot use: exit status 2, one sentence, and what was there stays."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from specviz import cli, console
from specviz.models.load import load_pair
from specviz.training import evaluations
from specviz.training.files import alone
from specviz.training.shards import shards, write_shard
from tests.integration.test_training_commands import corpus, run, target  # noqa: F401 fixtures

NOWHERE = "no-such-target"  # numbers are checked before a target is looked for
BAD = {
    "rate": "inf nan 0 -1",
    "tv": "nan -1 2",
    "steps": "0 -1",
    "vocabulary": "0 -1 1",
    "k": "0 -1",
    "prompts": "0 -1",
    "batch": "0 -1 1000000000",
    "seed": f"-1 {10**30}",
    "rows": "0 -1",
    "width": "0 -1 1",
    "tokens": "0",
}
OPTIONS = ["--steps", 2, "--batch", 8, "--prompts", 1, "--layers", "0,2", "--vocabulary", 100]


def said(capsys, key_words, status):
    told = capsys.readouterr().err.strip().splitlines()
    assert status == 2
    assert key_words in told[-1]
    return told[-1]


@pytest.mark.parametrize("name", BAD)
def test_numbers_that_make_no_sense(name, capsys, tmp_path):
    for value in BAD[name].split():
        words = ["train", "draft", "--target", NOWHERE, "--out", str(tmp_path / "x"), f"--{name}", value]
        said(capsys, f"{name} is ", cli.main(words))
    assert not (tmp_path / "x").exists()


def test_a_width_that_the_template_fills(target, capsys, tmp_path):  # noqa: F811
    said(capsys, "--width must be at least", run("corpus", target, "--out", tmp_path, "--width", 16))


def test_a_folder_that_is_a_file(target, corpus, capsys, tmp_path):  # noqa: F811
    file = tmp_path / "file"
    file.write_text("")
    for what in ("corpus", "draft"):
        said(capsys, str(file), run(what, target, "--out", file, "--corpus", corpus, *OPTIONS))


def test_two_runs_in_one_folder(target, corpus, capsys, tmp_path):  # noqa: F811
    with alone(tmp_path):
        for what in ("corpus", "draft"):
            said(capsys, "Another run", run(what, target, "--out", tmp_path, "--corpus", corpus, *OPTIONS))


def test_a_refused_run_leaves_no_list_of_shards(target, corpus, capsys, tmp_path):  # noqa: F811
    said(capsys, "no list of layers", run("draft", target, "--out", tmp_path, "--corpus", corpus, "--layers", "0,9"))
    said(
        capsys, "batch of 1024", run("draft", target, "--out", tmp_path, "--corpus", corpus, *OPTIONS, "--batch", 1024)
    )
    assert not (tmp_path / "shards.json").exists()


def test_a_corpus_of_another_target(target, corpus, capsys, tmp_path):  # noqa: F811
    for path in shards(corpus):
        for file in (path, path.with_suffix(".jsonl")):
            (tmp_path / file.name).symlink_to(file)
    (tmp_path / "teacher").symlink_to(corpus / "teacher")
    out = tmp_path / "out"
    assert run("medusa", target, "--out", out, "--corpus", tmp_path, *OPTIONS) == 0  # shards alone will do
    (tmp_path / "corpus.json").write_text(json.dumps({"target": "another"}))
    capsys.readouterr()
    said(capsys, "another", run("medusa", target, "--out", out, "--corpus", tmp_path, *OPTIONS))
    said(capsys, "another", run("corpus", target, "--out", tmp_path))
    (tmp_path / "corpus.json").unlink()
    (out / "shards.json").write_text('["gone.bin"]')
    said(capsys, "the shard gone.bin", run("medusa", target, "--out", out, "--corpus", tmp_path, *OPTIONS))
    (out / "shards.json").write_text("[")
    said(capsys, "shards.json", run("medusa", target, "--out", out, "--corpus", tmp_path, *OPTIONS))


def test_an_evaluation_reads_its_file_first(target, capsys, tmp_path):  # noqa: F811
    out = tmp_path / "e.json"
    for content in ("{", '{"target": "x"}'):
        out.write_text(content)
        said(capsys, "name another file", run("evaluate", target, "--method", "lookup", "--out", out))
        assert out.read_text() == content
    said(capsys, str(tmp_path), run("evaluate", target, "--method", "lookup", "--out", tmp_path))


def test_the_figures_are_printed_though_they_cannot_be_kept(target, capsys, monkeypatch, tmp_path):  # noqa: F811
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(evaluations, "write_report", full)
    words = ["--method", "lookup", "--prompts", 1, "--out", tmp_path / "e.json"]
    status = run("evaluate", target, *words)
    told = capsys.readouterr()
    assert status == 2
    assert "e.json cannot be read or written: No space left" in told.err
    assert json.loads(told.out)["method"] == "lookup"


def test_an_evaluation_without_a_file_is_printed(target, capsys):  # noqa: F811
    assert cli.main(["train", "evaluate", "--target", str(target), "--method", "lookup", "--prompts", "1"]) == 0
    told = capsys.readouterr()
    assert "| `lookup` | 0.7 | **" in told.out
    assert "None" not in told.out
    assert "prompt 1 of 12" in told.err


def test_a_log_has_a_line_for_each_thing_and_minute(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 59.0, 60.0, 61.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    bar = console.Bar(cli.parser().parse_args(["train", "draft"]), logged=True)
    for step in range(1, 5):
        bar(step / 9, "train.training", step=step, total=9, loss="1.000")
    bar(0.1, "train.evaluating", done=1, total=6)
    told = capsys.readouterr().err.splitlines()
    assert told == ["step 1 of 9, loss 1.000", "step 4 of 9, loss 1.000", "prompt 1 of 6"]


def test_interrupted_it_says_how_to_go_on(target, corpus, tmp_path):  # noqa: F811
    words = ["draft", "--target", target, "--corpus", corpus, "--out", tmp_path, "--device", "cpu", "--steps", 10**6]
    command = [sys.executable, "-m", "specviz", "train", *map(str, words), "--layers", "0,2", "--batch", "8"]
    # a shell starts what runs in the background deaf to Ctrl-C, and children inherit that
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"SPECVIZ_LANG": "en"}) as done:
        signal.signal(signal.SIGINT, before)
        while "step 1 of" not in (line := done.stderr.readline()):
            assert line, "it ended before the first step"
        time.sleep(0.2)
        done.send_signal(signal.SIGINT)
        try:
            assert "the same command goes on" in done.communicate(timeout=120)[1]
        finally:
            done.kill()
    assert done.returncode == 130


def test_the_curve_refuses_in_a_sentence(capsys, monkeypatch, tmp_path):
    from benchmarks import draft_curve

    for words, told in (
        ([tmp_path, tmp_path / "out"], "no corpus"),
        ([tmp_path, tmp_path / "out", "--layers", "0,x"], "layers must be"),
        ([tmp_path, tmp_path / "out", "--steps", "0"], "steps is 0"),
    ):
        monkeypatch.setattr(sys, "argv", ["draft_curve", *map(str, words)])
        said(capsys, told, draft_curve.main())


def test_the_curve_is_of_the_targets_own_corpus(target, corpus, capsys, monkeypatch, tmp_path):  # noqa: F811
    from benchmarks import draft_curve

    def load(**options):
        return load_pair(target=str(target), **options)

    monkeypatch.setattr(draft_curve, "load_pair", load)
    monkeypatch.setattr(sys, "argv", ["draft_curve", str(tmp_path), str(tmp_path / "out"), "--layers", "0,9"])
    for path in shards(corpus):
        for file in (path, path.with_suffix(".jsonl")):
            (tmp_path / file.name).symlink_to(file)
    (tmp_path / "corpus.json").write_text(json.dumps({"target": "another"}))
    said(capsys, "of the target another", draft_curve.main())
    (tmp_path / "corpus.json").unlink()
    said(capsys, "no list of layers", draft_curve.main())
    same = [{"n": 12, "prompt": 4, "temp": 0.0, "magpie": False}] * 120
    for path in [*shards(tmp_path), *tmp_path.glob("*.jsonl")]:
        path.unlink()
    write_shard(tmp_path, "same", [[5] * 12] * 120, same, 1000)
    sys.argv[-1] = "0,2"
    said(capsys, "kept back", draft_curve.main())

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(draft_curve, "load_pair", interrupted)
    assert draft_curve.main() == 130
    assert "the same command goes on" in capsys.readouterr().err

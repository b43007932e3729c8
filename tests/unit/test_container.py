"""The Dockerfile by the rules that matter (those of hadolint), what goes into the image, and the lock file."""

import fnmatch
import json
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCK = "requirements-cpu.lock"


def instructions(text: str) -> list[tuple[str, str]]:
    """(instruction, its arguments), with continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", "".join(line for line in text.splitlines(True) if not line.startswith("#")))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def faults(text: str) -> list[str]:
    """What is wrong with a Dockerfile."""
    found, steps = [], instructions(text)
    names = [name for name, _ in steps]
    for name, rest in steps:
        if name == "FROM" and not re.search(r":[\w.-]*\d|@sha256:", rest):
            found.append(f"base without a version: {rest}")
        if name == "FROM" and rest.split()[0].endswith(":latest"):
            found.append("latest")
        if name == "ADD":
            found.append("ADD")
        if name == "RUN" and "apt-get install" in rest and "rm -rf /var/lib/apt/lists" not in rest:
            found.append("apt lists stay")
        if name == "RUN" and re.search(r"\bsudo\b|curl[^|]*\|", rest):
            found.append("sudo, or a script from the net")
        if name in ("CMD", "ENTRYPOINT") and not rest.startswith("["):
            found.append(f"{name} in a shell")
        if name == "HEALTHCHECK" and not re.search(r"CMD \[.*\]$", rest):
            found.append("HEALTHCHECK in a shell")
        if name == "WORKDIR" and not rest.startswith("/"):
            found.append("relative WORKDIR")
    users = [rest for name, rest in steps if name == "USER"]
    if not users or users[-1] in ("root", "0"):
        found.append("root")
    if "USER" in names and "CMD" in names and names.index("USER") > names.index("CMD"):
        found.append("USER after CMD")
    found += [f"no {name}" for name in ("HEALTHCHECK", "CMD", "EXPOSE") if names.count(name) != 1]
    return found


GOOD = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_dockerfile_keeps_the_rules():
    assert faults(GOOD) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FROM python:3.11.14-slim-bookworm", "FROM python"),
        ("FROM python:3.11.14-slim-bookworm", "FROM python:latest"),
        ("USER specviz", "USER root"),
        ("USER specviz\n", ""),
        ("COPY --chown=specviz:specviz . .", "ADD https://example.org/x ."),
        ("WORKDIR /app", "RUN apt-get update && apt-get install -y git"),
        ('CMD ["python", "app.py"', 'CMD python app.py #"'),
        ("HEALTHCHECK", "LABEL x="),
    ],
)
def test_the_rules_see_what_breaks_them(old, new):
    assert old in GOOD
    assert faults(GOOD.replace(old, new))


def test_the_app_is_asked_where_it_listens_and_writes_where_it_may():
    steps = instructions(GOOD)
    command = json.loads(dict(steps)["CMD"])
    port = command[command.index("--port") + 1]
    assert f"127.0.0.1:{port}/healthz" in dict(steps)["HEALTHCHECK"]
    assert dict(steps)["EXPOSE"] == port
    assert "SPECVIZ_CACHE=/cache" in GOOD
    assert dict(steps)["VOLUME"] == "/cache"
    made = next(rest for name, rest in steps if name == "RUN" and "install -d" in rest)
    assert "/cache" in shlex.split(made)  # by the user that runs it, before it becomes a volume


def ignored(path: str) -> bool:
    """Whether a path stays out of the image; the last rule that speaks of it counts."""
    out = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        rule, keeps = line.strip().removeprefix("!"), line.startswith("!")
        parts = [path, *(str(parent) for parent in Path(path).parents)]
        if rule and not rule.startswith("#") and any(fnmatch.fnmatch(p, rule.removeprefix("**/")) for p in parts):
            out = not keeps
    return out


def test_only_what_the_app_needs_goes_into_the_image():
    needed = ["app.py", "specviz/ui/build.py", "assets/js/app/main.js", "assets/traces/sky.json", LOCK]
    needed += ["assets/weights/draft/draft_layers.safetensors", "requirements.txt", "LICENSE", "NOTICE"]
    for path in needed:
        assert (ROOT / path).exists(), path
        assert not ignored(path), path
    for path in (".git/config", "tests/unit/test_container.py", ".env", "specviz/__pycache__/x.pyc", "secret.json"):
        assert ignored(path), path


def pinned(text: str) -> dict[str, str]:
    """Package -> version, of lines such as `torch==2.13.0`."""
    found = re.findall(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_every_requirement_is_locked():
    wanted = pinned((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    locked = pinned((ROOT / LOCK).read_text(encoding="utf-8"))
    lines = [line for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(wanted) == len(lines)
    assert {name: locked.get(name, "").partition("+")[0] for name in wanted} == wanted
    assert len(locked) > len(wanted)


def test_every_locked_package_has_its_hash():
    blocks = re.split(r"^(?=\S)", (ROOT / LOCK).read_text(encoding="utf-8"), flags=re.MULTILINE)
    packages = [block for block in blocks if block.strip() and not block.startswith("#")]
    assert len(packages) == len(pinned("".join(packages)))
    for block in packages:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", block), block.splitlines()[0]


def test_what_is_known_of_weaknesses_is_told():
    import runpy

    verdict = runpy.run_path(str(ROOT / ".ci" / "audit.py"))["verdict"]
    safe = {"name": "a", "version": "1", "vulns": []}
    weak = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}
    unknown = {"name": "c", "skip_reason": "not found"}

    def told(*packages):
        return verdict(json.dumps({"dependencies": packages, "fixes": []}))

    assert told(safe, unknown) == (0, "audit: no known weakness in 1 of 2 packages")
    status, text = told(safe, weak)
    assert status == 1
    assert "b 2: CVE-1" in text
    for status, text in (told(unknown), verdict(""), verdict("Traceback")):
        assert status == 0
        assert text.startswith("audit skipped: ")

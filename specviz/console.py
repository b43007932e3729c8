"""What every command says, and how: a text in the user's language, a progress bar, one JSON object, a file."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from specviz.errors import SpecvizError
from specviz.i18n import pick_language, t

LANG = pick_language(os.environ.get("SPECVIZ_LANG"))
PAUSE = 60.0  # seconds between two lines of a log


def say(key: str, **values: object) -> str:
    """A text of the command line in the user's language."""
    return t(LANG, f"cli.{key}", **values)


class Bar:
    """A progress bar on stderr, where someone is watching it: called with (fraction, key, values).

    logged: where nobody is, each thing that begins is a line, and so is every minute of it, for the log of a long run.
    """

    def __init__(self, args: argparse.Namespace, logged: bool = False) -> None:
        self.on = sys.stderr.isatty() and not args.json
        self.logged = logged and not sys.stderr.isatty()
        self.bar = None
        self.last = ("", 0.0)  # what the last line was about, and when

    def __enter__(self) -> Bar:
        return self

    def __call__(self, fraction: float, key: str, **values: object) -> None:
        if self.on:
            from tqdm import tqdm

            self.bar = self.bar or tqdm(total=100, bar_format="{desc} {bar} {percentage:3.0f} %", leave=False)
            self.bar.set_description_str(t(LANG, key, **values))
            self.bar.n = round(100 * fraction)
            self.bar.refresh()
        about, when = self.last
        now = time.monotonic()
        if self.logged and (key != about or now - when >= PAUSE):
            print(t(LANG, key, **values), file=sys.stderr, flush=True)
            self.last = (key, now)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def out(args: argparse.Namespace, figures: dict, text: str) -> None:
    """The figures as JSON, where it is asked for, else the text. JSON stays JSON where the console lacks characters."""
    escaped = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(figures, ensure_ascii=escaped) if args.json else text)


def whole_file(text: str) -> None:
    """A file on stdout: the same bytes as on disk, whatever the console's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SpecvizError("errors.write", path=path, reason=error.strerror or error) from error


def figure(value: object) -> str:
    """A number for people."""
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)

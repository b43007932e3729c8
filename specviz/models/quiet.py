"""Keeps transformers from drawing progress bars of its own: a terminal or a page shows ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from transformers.utils import logging


@contextmanager
def no_bars() -> Iterator[None]:
    """No bar for reading or writing weights inside the block; afterwards as before."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()

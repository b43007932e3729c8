"""Freed memory stays with the process.

glibc gives large blocks back to the system as soon as they are freed and then takes them again, each page by a fault:
a quarter of the time of writing a corpus on two cores.
"""

from __future__ import annotations

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # malloc.h


def keep_freed_memory() -> None:
    """Asks glibc not to map large blocks of their own and not to trim; elsewhere nothing."""
    if sys.platform.startswith("linux"):
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(M_MMAP_MAX, 0)
            mallopt(M_TRIM_THRESHOLD, 2**31 - 1)

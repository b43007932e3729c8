"""The connection of one request, which can be cut from outside: a read that waits for a server hears nothing else."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

LOOK_EVERY = 0.1  # seconds
OPENED = ("connect_tcp.complete", "start_tls.complete")  # events of httpcore that bring a connection


class Line:
    """Is cut once it is `unwanted`, or after so many seconds, whatever the server sends until then. `cut` says so."""

    def __init__(self, seconds: float, unwanted: Callable[[], bool]) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._unwanted = unwanted
        self._socket: socket.socket | None = None
        self._over = threading.Event()
        self.cut = False

    def __enter__(self) -> Line:
        threading.Thread(target=self._watch, name="specviz-line", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """What httpx tells of a request, as its extension "trace"."""
        if event.endswith(OPENED):
            self._socket = info["return_value"].get_extra_info("socket")

    def _watch(self) -> None:
        while not self._over.wait(LOOK_EVERY):
            if self._socket is not None and (time.monotonic() > self._end or self._unwanted()):
                self.cut = True
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
                except OSError:  # it is closed already
                    return

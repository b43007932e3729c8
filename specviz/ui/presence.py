"""Who is listening: which visitors hold a stream open in which a run's news arrive.

Gradio runs an event to its end though nobody reads it, for example one that was asked for over the API by somebody who
has left. Here the open streams are counted as they come and go, so that such a run can be ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs


class Listening:
    """Open streams, by the session or by the event that they belong to. Written in the server's thread alone."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def any_of(self, names: Iterable[str]) -> bool:
        """Whether somebody listens to one of these sessions or events."""
        return any(self._open[name] > 0 for name in names)

    def begin(self, name: str) -> None:
        self._open[name] += 1

    def end(self, name: str) -> None:
        self._open[name] -= 1
        if self._open[name] <= 0:
            del self._open[name]


class Presence:
    """ASGI middleware: notes each stream of events in `listening` for as long as it is open."""

    def __init__(self, app: Callable, listening: Listening) -> None:
        self.app, self.listening = app, listening

    async def __call__(self, scope: dict[str, Any], receive: Callable, send: Callable) -> None:
        name = stream_of(scope) if scope["type"] == "http" else None
        if name is None:
            return await self.app(scope, receive, send)
        self.listening.begin(name)
        try:
            return await self.app(scope, receive, send)
        finally:
            self.listening.end(name)


def stream_of(scope: dict[str, Any]) -> str | None:
    """The session or the event whose news a request asks for; None for any other request."""
    path, method = scope["path"], scope["method"]
    if method != "GET":
        return None
    if path.endswith("/queue/data"):
        return parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [None])[0]
    head, _, event = path.rpartition("/")
    return event if "/call/" in head + "/" and event else None

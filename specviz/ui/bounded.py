"""Requests with more in them than our page ever sends: not read, for the server would hold all of it in memory, and
Gradio stumbles over long addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

ADDRESS = 60_000  # bytes; more than a link with the longest prompt and tree needs
TRACES = 4  # a body may be as large as so many traces from outside: as a text in JSON one grows by its escapes


class Bounded:
    """ASGI middleware: a body of more than `limit` bytes is refused, or cut off where its size was not said; an address
    of more than ADDRESS bytes is refused.
    """

    def __init__(self, app: Callable, limit: int) -> None:
        self.app, self.limit = app, limit

    async def __call__(self, scope: dict[str, Any], receive: Callable, send: Callable) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        if len(scope["path"]) + len(scope["query_string"]) > ADDRESS:
            return await PlainTextResponse("The address is too long", 414)(scope, receive, send)
        said = Headers(scope=scope).get("content-length", "")
        if said.isdecimal() and (len(said) > 18 or int(said) > self.limit):
            return await PlainTextResponse("Too large", 413)(scope, receive, send)
        left = self.limit

        async def bounded() -> dict[str, Any]:
            nonlocal left
            event = await receive()
            left -= len(event.get("body", b""))
            return event if left >= 0 else {"type": "http.disconnect"}

        return await self.app(scope, bounded, send)

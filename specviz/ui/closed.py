"""Doors of Gradio's that this page does not use: shut, so that nothing a visitor sent in can be fetched by another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import PlainTextResponse

# files that were sent in, other hosts' pages through this server, a visitor's fields written down for a link
DOORS = ("/gradio_api/file", "/gradio_api/proxy", "/gradio_api/deep_link", "/gradio_api/process_recording")


class Closed:
    """ASGI middleware: such an address is not found."""

    def __init__(self, app: Callable) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Callable, send: Callable) -> None:
        shut = scope["type"] == "http" and any(door in scope["path"] for door in DOORS)
        await (PlainTextResponse("Not found", 404) if shut else self.app)(scope, receive, send)

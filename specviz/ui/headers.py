"""Headers of every answer: what the page may load, who may frame it, what is told to other sites.

The policy holds other hosts out: scripts, styles, data and pictures come from this server alone. It does not hold out
inline scripts: Gradio writes its own into the page and makes functions out of texts (`js=` of an event), so
'unsafe-inline' and 'unsafe-eval' must stay. What visitors and models write is escaped instead (views/tokens.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SPACES = ("https://huggingface.co", "https://*.huggingface.co", "https://hf.co")  # whose pages show a Space in a frame
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",  # Plotly's "save as picture" makes blobs
    "font-src": "'self' data:",
    "connect-src": "'self' data: blob:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}


def headers(on_space: bool) -> list[tuple[bytes, bytes]]:
    """As ASGI wants them. On a Space the page stands in a frame of the hub's; elsewhere in none but our own."""
    frames = " ".join(("'self'", *SPACES)) if on_space else "'self'"
    policy = "; ".join(f"{name} {value}" for name, value in (POLICY | {"frame-ancestors": frames}).items())
    named = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
    }
    return [(name.encode(), value.encode()) for name, value in named.items()]


class Headers:
    """ASGI middleware: adds `headers` to every answer."""

    def __init__(self, app: Callable, headers: list[tuple[bytes, bytes]]) -> None:
        self.app, self.headers = app, headers

    async def __call__(self, scope: dict[str, Any], receive: Callable, send: Callable) -> None:
        async def with_headers(event: dict[str, Any]) -> None:
            if event["type"] == "http.response.start":
                ours = {name for name, _ in self.headers}
                theirs = [(name, value) for name, value in event.get("headers", []) if name.lower() not in ours]
                event = event | {"headers": [*theirs, *self.headers]}
            await send(event)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)

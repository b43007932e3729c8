"""A request whose body is none that the API can read: refused with the place that is wrong, without what was sent."""

from __future__ import annotations

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response


async def unreadable(_request: Request, error: RequestValidationError) -> Response:
    """FastAPI's own answer repeats the body, and fails where that holds an infinite number."""
    wrong = [{"loc": list(map(str, one["loc"])), "msg": one["msg"]} for one in error.errors()]
    return JSONResponse({"detail": wrong}, 422)

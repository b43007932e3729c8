"""A request that is too large is not read into memory, whether it says its size or not."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import fastapi
import httpx
import pytest

from specviz.ui.bounded import ADDRESS, Bounded

LIMIT = 100


def answered(content, query=""):
    """(the status, the largest body that the app behind has read)."""
    read = [0]
    app = fastapi.FastAPI()

    @app.post("/")
    async def post(body: list = fastapi.Body()):  # noqa: B008 FastAPI's way to say so
        read.append(len(body))

    async def ask():
        transport = httpx.ASGITransport(Bounded(app, LIMIT))
        async with httpx.AsyncClient(transport=transport, base_url="http://app") as client:
            return await client.post("/" + query, content=content, headers={"Content-Type": "application/json"})

    # a thread of its own: after the browser tests this one has Playwright's event loop, still running
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(ask())).result().status_code, max(read)


async def pieces(body, size=30):
    for i in range(0, len(body), size):
        yield body[i : i + size]


def of_size(size):
    return b"[" + b"0," * ((size - 3) // 2) + b"0" + b" " * ((size - 3) % 2) + b"]"


@pytest.mark.parametrize("made", [bytes, pieces])
def test_what_is_small_enough_arrives(made):
    body = of_size(LIMIT)
    assert len(body) == LIMIT
    assert answered(made(body)) == (200, body.count(b"0"))


@pytest.mark.parametrize(("made", "status"), [(bytes, 413), (pieces, 400)])
def test_what_is_too_large_is_refused(made, status):
    assert answered(made(of_size(LIMIT + 1))) == (status, 0)


@pytest.mark.parametrize(("more", "status"), [(-1, 200), (0, 414)])
def test_an_address_has_its_limit(more, status):
    assert answered(of_size(LIMIT), "?" + "x" * (ADDRESS + more))[0] == status

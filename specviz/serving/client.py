"""Talks to a running server: its version and models, its counters, and one streamed answer.

Whatever the server does, each call ends: in an answer, or in a SpecvizError that says what is wrong. Answers are cut
off in time and size.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from specviz.config import RunConfig, short
from specviz.errors import SpecvizError
from specviz.serving.carry_over import sampling_of
from specviz.serving.line import Line
from specviz.serving.prometheus import Counters, counters
from specviz.serving.stream import MAX_TOKENS, Answer, message_in, read_answer, read_json
from specviz.serving.versions import Version, parse_version

MAX_PAGE = 8 * 2**20  # bytes of a page of metrics; a busy vLLM's has some 100,000
MAX_ANSWER = 4 * 2**20  # bytes of a streamed answer
LONGEST = 200  # characters of a model's name


@dataclass(frozen=True, slots=True)
class Patience:
    """In seconds: to connect, between two pieces, for the whole of an answer, for the whole of any other page."""

    connect: float = 5.0
    read: float = 60.0
    total: float = 300.0
    page: float = 20.0


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model under the name that requests use; `root` is what was loaded."""

    name: str
    root: str

    def looks_like(self, model: str) -> bool:
        """Whether it goes by the same name as `model`, as far as names tell."""
        wanted, *ours = (n.rstrip("/").rpartition("/")[2].lower() for n in (model, self.name, self.root))
        return wanted in ours


def server_url(text: str) -> str:
    """The address without a trailing /v1. Raises SpecvizError for what is none."""
    try:
        parts = urlsplit(text.strip())
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        good = good and not (parts.query or parts.fragment or parts.username)
        good = good and _is_host(httpx.URL(text.strip()))
    except (ValueError, httpx.InvalidURL):  # a port that is no number, a host that is no name
        good = False
    if not good:
        raise SpecvizError("serve.url", value=short(text))
    return text.strip().rstrip("/").removesuffix("/v1")


def _is_host(url: httpx.URL) -> bool:
    """Raises UnicodeError, as asking it would, for an empty label, one that is too long, or bad Punycode."""
    return bool(url.host and url.raw_host.decode("ascii").encode("idna"))


class Server:
    """A vLLM server, or anything that speaks its language. The key is read from $VLLM_API_KEY, if it needs one.

    unwanted    once it says so, what is under way is cut off
    """

    def __init__(self, url: str, patience: Patience = Patience(), unwanted: Callable[[], bool] = lambda: False) -> None:
        self.url, self.patience, self._unwanted = server_url(url), patience, unwanted
        key = os.environ.get("VLLM_API_KEY", "").strip()  # the line break of the file that it is from is no part of it
        self._headers = {b"Accept-Encoding": b"identity"}
        if any(ord(c) < 32 or c == "\x7f" for c in key):  # httpx would say so with the key in the sentence
            raise SpecvizError("serve.key_form")
        if key:
            self._headers[b"Authorization"] = b"Bearer " + os.fsencode(key)  # as it was given, in whatever encoding

    def version(self) -> Version | None:
        """None where the server does not say, as others than vLLM do not."""
        try:
            found = self._json("/version")
        except SpecvizError as error:
            if error.key in ("serve.down", "serve.timeout"):
                raise
            return None
        return parse_version(found.get("version")) if isinstance(found, dict) else None

    def models(self) -> tuple[ServedModel, ...]:
        """What it serves."""
        found = self._json("/v1/models")
        listed = found.get("data") if isinstance(found, dict) else None
        if not isinstance(listed, list):
            raise SpecvizError("serve.garbage", what="/v1/models")
        named = [entry for entry in listed if isinstance(entry, dict) and _is_name(entry.get("id"))]
        return tuple(ServedModel(e["id"], e["root"] if _is_name(e.get("root")) else e["id"]) for e in named)

    def counters(self, model: str) -> Counters | None:
        """Its counters; None where the page of metrics is switched off."""
        try:
            return counters(self._page("/metrics").decode("utf-8", "replace"), model)
        except SpecvizError as error:
            if error.key == "serve.status":
                return None
            raise

    def answer(self, prompt: str, config: RunConfig, model: str) -> Generator[str, None, Answer]:
        """The server's answer to `prompt` with the settings of `config`, text as it comes. Closed, it hangs up."""
        sampling, _ = sampling_of(config, speculates=True)  # it may: then it refuses min_p
        body = {**sampling, "model": model, "stream": True, "stream_options": {"include_usage": True}}
        body["max_tokens"] = min(sampling["max_tokens"], MAX_TOKENS)
        if config.chat:
            path, body["messages"] = "/v1/chat/completions", [{"role": "user", "content": prompt}]
        else:
            path, body["prompt"] = "/v1/completions", prompt
        begun = time.monotonic()
        with self._open("POST", path, json=body) as response:
            return (yield from read_answer(self._pieces(response, MAX_ANSWER), begun))

    def _json(self, path: str) -> object:
        try:
            return read_json(self._page(path))
        except ValueError as error:
            raise SpecvizError("serve.garbage", what=path) from error

    def _page(self, path: str) -> bytes:
        with self._open("GET", path) as response:
            return b"".join(self._pieces(response, MAX_PAGE))

    @contextmanager
    def _open(self, verb: str, path: str, **body: object) -> Iterator[httpx.Response]:
        p = self.patience
        timeout = httpx.Timeout(p.read, connect=p.connect)
        line = Line(p.total if body else p.page, self._unwanted)
        asked: dict[str, Any] = {"headers": self._headers, "extensions": {"trace": line.trace}, **body}
        try:
            with (
                httpx.Client(timeout=timeout, trust_env=False) as client,
                line,
                client.stream(verb, self.url + path, **asked) as response,
            ):
                if response.headers.get("Content-Encoding", "identity") != "identity":  # it could unpack to anything
                    raise SpecvizError("serve.garbage", what="Content-Encoding")
                if response.status_code != 200:
                    raise self._refusal(response, path)
                yield response
                if line.cut:  # a body of no announced length looks whole
                    raise httpx.ReadTimeout("cut")
        except (SpecvizError, httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            if line.cut:
                raise SpecvizError("serve.timeout", seconds=f"{line.seconds:g}") from error
            if isinstance(error, SpecvizError):
                raise
            if isinstance(error, httpx.TimeoutException):
                raise SpecvizError("serve.timeout", seconds=f"{p.read:g}") from error
            raise SpecvizError("serve.down", url=self.url, reason=_reason(error)) from error

    def _pieces(self, response: httpx.Response, limit: int) -> Iterator[bytes]:
        """The body, piece by piece, within the limit of its size."""
        size = 0
        for piece in response.iter_raw():
            size += len(piece)
            if size > limit:
                raise SpecvizError("serve.endless", limit=limit // 2**20)
            yield piece

    def _refusal(self, response: httpx.Response, path: str) -> SpecvizError:
        """What a status that is not 200 means."""
        status = response.status_code
        text = b"".join(self._pieces(response, MAX_PAGE))
        if status in (401, 403):
            return SpecvizError("serve.key", status=status)
        if path.startswith("/v1/"):
            try:
                return SpecvizError("serve.refused", reason=message_in(read_json(text)))
            except ValueError:
                return SpecvizError("serve.no_api", path=path, status=status)
        return SpecvizError("serve.status", path=path, status=status)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:120]

"""A small HTTP server that speaks vLLM's language, over real sockets, and misbehaves on demand."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DATA = Path(__file__).parent / "data" / "vllm"
MODEL = "smollm2-135m"


def page(name):
    return (DATA / name).read_text(encoding="utf-8")


class FakeVllm:
    """Routes: path -> (status, body). The pages of metrics, some of them streams, are handed out in turn, the last one
    for good.
    """

    def __init__(self):
        self.asked = []
        self.keys = []
        self.stream = page("answer-0.32.txt").encode()
        self.metrics = [page("metrics-0.32-before.txt"), page("metrics-0.32-after.txt")]
        self.routes = {"/version": (200, {"version": "0.32.0"}), "/v1/models": (200, models(MODEL))}
        self.status = 200
        self.headers = {}

    def answer(self, handler, path):
        if path == "/metrics" and self.metrics:
            text = self.metrics[0] if len(self.metrics) == 1 else self.metrics.pop(0)
            return text(handler) if callable(text) else handler.send(200, text.encode())
        if path in self.routes:
            status, body = self.routes[path]
            return handler.send(status, body if isinstance(body, bytes) else json.dumps(body).encode())
        return handler.send(404, b'{"detail":"Not Found"}')

    def complete(self, handler, path, body):
        self.asked.append((path, body))
        if callable(self.stream):
            return self.stream(handler)
        return handler.send(self.status, self.stream)


def models(*names):
    return {"object": "list", "data": [{"id": name, "root": f"/models/{name}"} for name in names]}


def error(message, code=400):
    return json.dumps({"error": {"message": message, "type": "BadRequestError", "code": code}}).encode()


@contextmanager
def running(fake, port=0):
    """The server's address, while it runs; a port of its own if none is named."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            fake.keys.append(self.headers.get("Authorization"))
            fake.answer(self, self.path)

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.complete(self, self.path, body)

        def send(self, status, body):
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **fake.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def begin(self):
            """A body whose length is not known before."""
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def dribble(piece, pause, seconds=5.0, begun=True):
    """A stream that never ends by itself (and never hangs a test)."""

    def stream(handler):
        if begun:
            handler.begin()
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                handler.wfile.write(piece)
                handler.wfile.flush()
                time.sleep(pause)
        except OSError:  # the client has hung up, as it should
            pass

    return stream

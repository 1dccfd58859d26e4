"""A model that plays a script, on loopback only; which API it speaks is the dialect's business."""

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, NamedTuple

from .dialects import Answer, Dialect, Reply, Request


class Logged(NamedTuple):
    """One request, when it came and what it was taken for: main, sub (a subagent's), side or refused."""

    time: float
    kind: str
    request: Request


class Script(NamedTuple):
    """What the model says: a reply for each main request, the last one for ever, and a limit against endless runs.

    `before` is called with the number of the main request (from 1) before that one is answered. Requests of a
    conversation that began with `sub_marker` belong to a subagent and take from `sub_replies`.
    """

    replies: Sequence[Reply]
    limit: int = 20
    before: Callable[[int], None] | None = None
    sub_marker: str = ""
    sub_replies: Sequence[Reply] = ("the subagent is done",)


class ModelServer(ThreadingMixIn, HTTPServer):
    """Plays one script to whoever asks, and keeps what was asked."""

    daemon_threads = True

    def __init__(self, script: Script, dialect: Dialect, log: Path | None) -> None:
        self.script = script
        self.dialect = dialect
        self.log: list[Logged] = []
        self.failures: list[Exception] = []
        self._log_file = log
        self._counts = {"main": 0, "sub": 0}
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        # HTTPServer's own asks the resolver for the machine's name, which nothing here needs.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        # A client that ends in the middle of its own request is no fault of the server.
        if isinstance(error, Exception) and not isinstance(error, ConnectionError):
            self.failures.append(error)

    @property
    def url(self) -> str:
        return f"http://{self.server_name}:{self.server_port}"

    def answer(self, request: Request) -> Answer:
        kind, number = self._take(request)
        if kind == "side":
            return self.dialect.play_beside(request)
        if kind == "refused":
            return self.dialect.refuse(f"the script ends after {self.script.limit} requests")
        try:
            if kind == "main" and self.script.before is not None:
                self.script.before(number)
        except Exception as error:
            self.failures.append(error)
            return self.dialect.refuse("the test's own function failed")
        replies = self.script.replies if kind == "main" else self.script.sub_replies
        # Tool ids must differ between the main agent and its subagents.
        return self.dialect.play(request, replies[min(number, len(replies)) - 1], number + 1000 * (kind == "sub"))

    def _take(self, request: Request) -> tuple[str, int]:
        with self._lock:
            kind, number = self._kind(request), 0
            if kind in self._counts:
                number = self._counts[kind] = self._counts[kind] + 1
                if number > self.script.limit:
                    kind = "refused"
            self.log.append(Logged(time.time(), kind, request))
            if self._log_file is not None:
                with self._log_file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([self.log[-1].time, kind, *request]) + "\n")
            return kind, number

    def _kind(self, request: Request) -> str:
        if not self.dialect.is_main(request):
            return "side"
        if self.script.sub_marker and self.script.sub_marker in self.dialect.opening(request):
            return "sub"
        return "main"


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def _serve(self) -> None:
        request = Request(self.command, self.path.partition("?")[0], _json_object(self._read()))
        answer = self.server.answer(request)
        # A client that was killed reads no more.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(answer.body)))
            self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _serve

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the log is the server's."""


def _json_object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@contextlib.contextmanager
def serve(script: Script, dialect: Dialect, log: Path | None = None) -> Iterator[ModelServer]:
    """Serve a script until the block ends."""
    with ModelServer(script, dialect, log) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

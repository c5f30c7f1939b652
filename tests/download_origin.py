"""A local origin of data sets: an HTTP server whose behavior each test chooses."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Served:
    """A file of the origin, and the faults with which it is served."""

    content: bytes
    cuts: list[int] = field(default_factory=list)
    """The number of body bytes after which the connection of each next answer ends; no cut when it is empty."""
    statuses: list[int] = field(default_factory=list)
    """The statuses of the next answers; 200 when it is empty."""
    location: str = ""
    """Where the answer redirects to."""
    stalls_at: int = 0
    """The number of bytes after which the body stops, while the connection stays open; 0 for never."""
    announces: bool = True
    """False: the answer has no Content-Length."""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class OriginServer:
    """The files of the server by path, and the requests that it received: method, path and headers."""

    url: str
    files: dict[str, Served] = field(default_factory=dict)
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def add(self, path: str, content: bytes, **faults: Any) -> str:
        """Serve a file and return its address."""
        self.files[path] = Served(content, **faults)
        return f"{self.url}/{path}"

    def downloads(self) -> list[dict[str, str]]:
        """Return the headers of the requests for a file's content."""
        return [headers for method, _, headers in self.requests if method == "GET"]


@contextmanager
def serving() -> Iterator[OriginServer]:
    """Run a local origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    state = OriginServer(f"http://127.0.0.1:{server.server_port}")
    server.state = state  # type: ignore[attr-defined]
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        return

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        state: OriginServer = self.server.state  # type: ignore[attr-defined]
        path = self.path.lstrip("/")
        state.requests.append((self.command, path, dict(self.headers)))
        served = state.files.get(path.partition("?")[0]) or state.files.get(path)
        if served is None:
            self._head(404, {"Content-Length": "0"})
            return
        status = served.statuses.pop(0) if served.statuses and body else 200
        if served.location:
            self._head(302, {"Location": served.location, "Content-Length": "0", **served.headers})
            return
        if status != 200:
            self._head(status, {"Content-Length": "0", **served.headers})
            return
        content, headers = served.content, {}
        if served.announces:
            headers["Content-Length"] = str(len(content))
        else:
            headers["Connection"] = "close"
        self._head(200, {**headers, **served.headers})
        if not body:
            return
        self._send(served, content, state)

    def _send(self, served: Served, content: bytes, state: OriginServer) -> None:
        """Send the body, or a part of it, and end the connection after a part."""
        cut = served.cuts.pop(0) if served.cuts else len(content)
        if served.stalls_at:
            self.wfile.write(content[: served.stalls_at])
            state.released.wait(60)
            cut = served.stalls_at
        else:
            self.wfile.write(content[:cut])
        if cut < len(content) or not served.announces:
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

"""The transports of a memory server: JSON lines over stdin and stdout, or HTTP on the loopback interface."""

import argparse
import json
import os
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, BinaryIO

from memflow_memory_server.server import MemoryServer, answer

LONGEST = 16 * 1024 * 1024
"""The maximum size of a line or body in bytes, as in memflow."""


class Lanes:
    """Answer requests: those of one space in order of arrival, those of different spaces concurrently."""

    def __init__(self, server: MemoryServer) -> None:
        self._server = server
        self._pool = ThreadPoolExecutor(server.workers)
        self._waiting: dict[str, deque[tuple[Any, Future[bytes]]]] = {}
        self._lock = threading.Lock()

    def submit(self, request: Any) -> Future[bytes]:
        """Return the future answer as one line of JSON."""
        space = request.get("space") if isinstance(request, dict) else None
        lane, future = space if isinstance(space, str) else "", Future[bytes]()
        with self._lock:
            if lane in self._waiting:
                self._waiting[lane].append((request, future))
            else:
                self._waiting[lane] = deque([(request, future)])
                self._pool.submit(self._process, lane)
        return future

    def _process(self, lane: str) -> None:
        while True:
            with self._lock:
                if not self._waiting[lane]:
                    del self._waiting[lane]
                    return
                request, future = self._waiting[lane].popleft()
            future.set_result(encode(answer(self._server, request)))

    def close(self) -> None:
        """Finish all requests, then release the memory's resources."""
        self._pool.shutdown(wait=True)
        self._server.shutdown()


def encode(reply: dict[str, Any]) -> bytes:
    """Return an answer as one line. One that is too long, or no JSON, becomes an error."""
    try:
        line = json.dumps(reply, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        problem = f"the answer has {len(line)} bytes, more than {LONGEST}" if len(line) > LONGEST else ""
    except (TypeError, ValueError) as error:
        line, problem = b"", f"the answer is no JSON: {error}"
    if problem:
        error = {"code": "bad_answer", "message": problem, "again": False}
        return json.dumps({"n": reply.get("n"), "error": error}).encode() + b"\n"
    return line


def _decode(line: bytes) -> Any:
    if len(line) > LONGEST:
        return {"op": f"a line of more than {LONGEST} bytes"}
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def serve_stdio(server: MemoryServer) -> None:
    """Answer JSON lines until stdin ends. Everything that is printed goes to stderr, also from C and subprocesses."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    lanes, lock = Lanes(server), threading.Lock()

    def send(future: "Future[bytes]") -> None:
        with lock:
            output.write(future.result())
            output.flush()

    for line in _lines(sys.stdin.buffer):
        lanes.submit(_decode(line)).add_done_callback(send)
    lanes.close()


def _lines(stream: BinaryIO) -> Any:
    while line := stream.readline(LONGEST + 1):
        yield line
        while len(line) > LONGEST and not line.endswith(b"\n"):
            line = stream.readline(LONGEST + 1)


def serve_http(server: MemoryServer, host: str, port: int) -> None:
    """Answer POST requests until the process is ended. The URL is printed first."""
    lanes = Lanes(server)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            if size > LONGEST or "json" not in self.headers.get("Content-Type", ""):
                # A web page can send text to a loopback port, but no JSON without the browser's consent.
                self.close_connection = True
                status, body = (
                    400,
                    encode({"error": {"code": "bad_request", "message": "send JSON, at most 16 MiB"}}),
                )
            else:
                status, body = 200, lanes.submit(_decode(self.rfile.read(size))).result()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: requests contain dialogues."""

    web = ThreadingHTTPServer((host, port), Handler)
    web.daemon_threads = True
    print(f"http://{host}:{web.server_address[1]}/", flush=True)
    web.serve_forever()


def run(server: MemoryServer, options: argparse.Namespace) -> None:
    """Run a server over stdio, or over HTTP if `--port` is given."""

    def terminate(*_: object) -> None:
        # Neither an exception, which could leave a lock acquired, nor a wait for requests that may never end.
        ending = threading.Thread(target=server.shutdown, daemon=True)
        ending.start()
        ending.join(5.0)
        os._exit(0)

    def serve() -> None:
        try:
            if options.port is None:
                serve_stdio(server)
            else:
                serve_http(server, options.host, options.port)
        except BaseException:  # noqa: BLE001  (the main thread has to end as well)
            traceback.print_exc()
            os._exit(1)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, terminate)
    # The main thread handles signals. One that came just before it waits for input would be handled after the input.
    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    while serving.is_alive():
        serving.join(0.5)


def parser(
    description: str, *, arguments: Sequence[tuple[str, dict[str, Any]]] = ()
) -> argparse.ArgumentParser:
    """Return the command line of a server: its own arguments, and those of the transport."""
    line = argparse.ArgumentParser(description=description)
    line.add_argument("--port", type=int, help="serve HTTP at this port (0: any) instead of stdio")
    line.add_argument("--host", default="127.0.0.1", help="address to listen at")
    for flag, settings in arguments:
        line.add_argument(flag, **settings)
    return line

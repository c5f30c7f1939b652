"""A proxy before an S3 server that answers with faults: error codes, delays, and credentials that expire."""

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


class FaultyProxy:
    """A proxy of an S3 server. `fault` is the status and the code of every answer, or None to pass requests on.

    `delay_s` is the time before each answer. `only` is a part of the paths of the requests that have the fault.
    """

    def __init__(self, target: str) -> None:
        self.target = urlsplit(target).netloc
        self.fault: tuple[int, str] | None = None
        self.delay_s = 0.0
        self.only = ""
        self.faults = 0
        self.most_faults = 10**9
        self.url = ""


@contextmanager
def faulty_proxy(target: str) -> Iterator[FaultyProxy]:
    """Start a proxy of the server at `target`."""
    proxy = FaultyProxy(target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            with suppress(OSError):  # a client that did not wait
                self.forward()

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            is_faulty = proxy.only in unquote(self.path) and proxy.faults < proxy.most_faults
            if is_faulty:
                time.sleep(proxy.delay_s)
            if proxy.fault is not None and is_faulty:
                proxy.faults += 1
                status, code = proxy.fault
                text = f"<Error><Code>{code}</Code><AWSAccessKeyId>tests</AWSAccessKeyId></Error>".encode()
                self.reply(status, {"Content-Type": "application/xml"}, text)
                return
            connection = http.client.HTTPConnection(proxy.target)
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            connection.request(self.command, self.path, body, {**headers, "Host": proxy.target})
            found = connection.getresponse()
            content = found.read()
            kept = {
                name: value
                for name, value in found.getheaders()
                if name.lower() not in ("content-length", "transfer-encoding", "connection")
            }
            self.reply(found.status, kept, content)
            connection.close()

        do_GET = do_PUT = do_DELETE = do_POST = do_HEAD = answer

        def reply(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *given: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()

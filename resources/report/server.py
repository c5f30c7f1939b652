"""A web server of a report on the loopback address, for browsers that restrict file://, and for `memflow view`."""

import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from memflow.errors import BadInput

HOST = "127.0.0.1"
HEADERS = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}


class _Handler(SimpleHTTPRequestHandler):
    """A handler of GET and HEAD requests to one of the loopback names; other hosts are refused (DNS rebinding)."""

    protocol_version = "HTTP/1.1"
    server_version = "memflow"
    sys_version = ""

    def send_head(self) -> Any:
        host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host")
        if host not in (HOST, "localhost"):
            self.send_error(403, "This server answers requests to 127.0.0.1 only.")
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        self.send_error(404)

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests of a page are no messages to its user."""


@contextmanager
def report_server(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve a folder on the loopback address in a thread. Yield the address; port 0 chooses a free one.

    Raises BadInput if the port is in use.
    """
    try:
        server = ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(folder)))
    except OSError as wrong:
        raise BadInput(
            f"the port {port} of {HOST} cannot be used ({wrong.strerror}). Choose another with --port."
        ) from wrong
    thread = threading.Thread(target=server.serve_forever, name="report", daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def open_browser(address: str) -> bool:
    """Open an address in the user's browser. Return whether there is one."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False

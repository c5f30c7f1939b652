"""A relay on loopback that adds a key to embedding requests.

A Letta server sends the key of its own environment to every OpenAI-compatible address. The key of the address that
memflow gives is valid for one run only, so this relay adds it. Its own address contains a random token, which other
programs on the machine do not know.
"""

import hmac
import secrets
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener


class KeyRelay:
    """The relay to one given endpoint. It ends with `close`."""

    def __init__(self, given: Mapping[str, str], timeout: float) -> None:
        token = secrets.token_urlsafe(32)
        opener = build_opener(ProxyHandler({}))
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {given.get('key', 'memflow')}",
        }

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, content = 404, b'{"error": {"message": "unknown address"}}'
                if hmac.compare_digest(self.path.encode(), f"/{token}/embeddings".encode()):
                    status, content = forward(f"{given['url'].rstrip('/')}/embeddings", body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Log nothing: requests contain dialogues, and their paths the token."""

        def forward(url: str, body: bytes) -> tuple[int, bytes]:
            try:
                with opener.open(Request(url, body, headers), timeout=timeout) as reply:
                    return reply.status, reply.read()
            except HTTPError as error:
                return error.code, error.read()
            except (URLError, TimeoutError, ConnectionError) as error:
                return 502, f'{{"error": {{"message": "{type(error).__name__}"}}}}'.encode()

        self._web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._web.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._web.server_address[1]}/{token}"
        threading.Thread(target=self._web.serve_forever, args=(0.1,), daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._web.shutdown()
        self._web.server_close()

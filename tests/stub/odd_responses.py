"""Odd HTTP responses, byte by byte: bodies of odd_bodies.py, error statuses, encodings, and broken connections.

The table OUTCOMES maps each response to the outcome that a client must report. server.py sends them.
"""

import asyncio
import gzip
import json
import socket
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Literal

from stub.odd_bodies import MEGABYTE, odd_bodies
from stub.odd_json import completion

FATAL = ("ModelMisconfigured", "QuotaExhausted")
"""The outcomes that end a step, since all other requests would fail too."""
HEAD = b"HTTP/1.1 %d X\r\nConnection: close\r\nContent-Type: application/json\r\n"
LARGE = 50 * MEGABYTE
_BUFFER = 256 * 1024


@dataclass(frozen=True)
class OddResponse:
    """The bytes of a response, and how the connection ends.

    `outcome` is what a client reports: a value of memflow.chat.requests.End, or an exception of memflow.errors. `pause`
    is the seconds between two parts.
    """

    name: str
    outcome: str
    parts: Iterable[bytes]
    pause: float = 0.0
    ending: Literal["close", "reset", "stay open"] = "close"

    async def send(self, transport: asyncio.Transport) -> None:
        """Write the response, until the client ends the connection."""
        for part in self.parts:
            transport.write(part)
            while transport.get_write_buffer_size() > _BUFFER and not transport.is_closing():  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            if transport.is_closing():
                return
            await asyncio.sleep(self.pause)
        if self.ending == "reset":
            connection = transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        elif self.ending == "close":
            transport.close()
        while not transport.is_closing():  # noqa: ASYNC110  (a transport has no event for it)
            await asyncio.sleep(0.01)


@cache
def odd_responses() -> dict[str, OddResponse]:
    """Return all odd responses by name."""
    found: dict[str, OddResponse] = {}
    for response in (*_of_bodies(), *_of_statuses(), *_of_encodings(), *_of_connections(), *_of_sizes()):
        if response.name in found:
            raise ValueError(f"two odd responses have the name {response.name!r}. Rename one.")
        found[response.name] = response
    return found


def _http(body: bytes, status: int = 200, *headers: bytes) -> list[bytes]:
    lines = b"".join(header + b"\r\n" for header in headers)
    return [HEAD % status + lines + b"Content-Length: %d\r\n\r\n" % len(body) + body]


def _answer() -> bytes:
    return json.dumps(completion()).encode()


def _of_bodies() -> Iterator[OddResponse]:
    for name, outcome, body in odd_bodies():
        yield OddResponse(name, outcome, _http(body))


def _of_statuses() -> Iterator[OddResponse]:
    error = json.dumps({"error": {"message": "The server cannot do this.", "code": "x"}}).encode()
    for outcome, statuses in {
        "broken": "201 202 204 205",
        "RequestRefused": "300 301 302 303 304 307 308 400 403 405 406 410 415 418 422",
        "ModelMisconfigured": "401 404",
        "QuotaExhausted": "402",
        "PromptTooLong": "413",
        "ChatError": "408 409 425 429 500 501 502 503 504 507 520 529 599",
    }.items():
        for status in map(int, statuses.split()):
            body = b"" if status < 300 or status == 304 else error
            yield OddResponse(f"status {status}", outcome, _http(body, status))
    for name, body in (
        ("without a body", b""),
        ("in HTML", b"<html><body><h1>502 Bad Gateway</h1></body></html>"),
        ("in Latin-1", "d\u00e9sol\u00e9".encode("latin-1")),
        ("as a list", b'{"detail": [{"loc": ["body"], "msg": "invalid"}]}'),
        ("with 100,000 levels", b'{"error":' * 100_000),
        ("of 1 MB", b'{"error": "' + b"x" * MEGABYTE + b'"}'),
    ):
        yield OddResponse(f"status 400 {name}", "RequestRefused", _http(body, 400))
        yield OddResponse(f"status 500 {name}", "ChatError", _http(body, 500))
    for code in ("content_filter", "content_policy_violation", "invalid_prompt", "cyber_policy"):
        body = json.dumps({"error": {"message": "Blocked.", "code": code}}).encode()
        yield OddResponse(f"status 400, {code}", "filtered", _http(body, 400))
    quota = b'{"error": {"message": "You exceeded your quota.", "type": "insufficient_quota"}}'
    yield OddResponse("status 429, insufficient_quota", "QuotaExhausted", _http(quota, 429))
    for value in (
        b"",
        b"soon",
        b"-5",
        b"nan",
        b"inf",
        b"1e999",
        b"0",
        b"Wed, 21 Oct 2015 07:28:00 GMT",
        b"\xff",
    ):
        headers = b"Retry-After: " + value
        yield OddResponse(f"status 429, Retry-After {value!r}", "ChatError", _http(error, 429, headers))
    yield OddResponse(
        "status 500, x-should-retry false", "RequestRefused", _http(error, 500, b"x-should-retry: false")
    )
    yield OddResponse(
        "status 400, x-should-retry true", "ChatError", _http(error, 400, b"x-should-retry: true")
    )
    elsewhere = b"Location: http://user:password@localhost:9/v1"
    yield OddResponse("redirect to another host", "RequestRefused", _http(b"", 307, elsewhere))


def _of_encodings() -> Iterator[OddResponse]:
    body = _answer()
    packed, bomb = gzip.compress(body), gzip.compress(bytes(LARGE * 4), 1)
    for name, outcome, encoding, content in (
        ("gzip", "answered", b"gzip", packed),
        ("deflate", "answered", b"deflate", zlib.compress(body)),
        ("two gzip members", "broken", b"gzip", gzip.compress(body[:20]) + gzip.compress(body[20:])),
        ("cut gzip", "broken", b"gzip", packed[: len(packed) // 2]),
        ("gzip that is none", "ChatError", b"gzip", body),
        ("an unknown encoding", "answered", b"unheard-of", body),
        ("gzip that is not declared", "broken", b"identity", packed),
        ("a gzip of 200 MB of zeros", "broken", b"gzip", bomb),
    ):
        header = b"Content-Encoding: " + encoding
        yield OddResponse(f"encoding: {name}", outcome, _http(content, 200, header))


def _of_connections() -> Iterator[OddResponse]:
    body = _answer()
    head = HEAD % 200
    whole = _http(body)[0]
    for name, parts in {
        "before the status line": [],
        "in the status line": [b"HTTP/1.1 2"],
        "in the headers": [head],
        "before the body": [head + b"Content-Length: 400\r\n\r\n"],
        "in the body": [whole[:-40]],
        "in a chunk": [head + b"Transfer-Encoding: chunked\r\n\r\n40\r\n" + body[:20]],
        "between chunks": [head + b"Transfer-Encoding: chunked\r\n\r\n14\r\n" + body[:20] + b"\r\n"],
    }.items():
        yield OddResponse(f"connection: closed {name}", "ChatError", parts)
        yield OddResponse(f"connection: reset {name}", "ChatError", parts, ending="reset")
        yield OddResponse(f"connection: silent {name}", "ChatError", parts, ending="stay open")
    table: list[tuple[str, str, Iterable[bytes]]] = [
        ("no HTTP", "ChatError", [b"220 mail.example.org ESMTP\r\n"]),
        ("TLS", "ChatError", [b"\x15\x03\x01\x00\x02\x02\x46"]),
        ("HTTP/2", "ChatError", [b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + bytes(18)]),
        ("a status that is no number", "ChatError", [b"HTTP/1.1 OK\r\n\r\n"]),
        ("a status of 9 digits", "ChatError", [b"HTTP/1.1 200000000 X\r\n\r\n"]),
        ("a header without a colon", "ChatError", [head + b"nonsense\r\n\r\n"]),
        ("a header with NUL", "ChatError", [head + b"X: \0\r\nContent-Length: 2\r\n\r\n{}"]),
        ("a header of 100 kB", "ChatError", [head + b"X: " + b"x" * 100_000 + b"\r\n\r\n"]),
        ("a negative length", "ChatError", [head + b"Content-Length: -4\r\n\r\n" + body]),
        ("a length that is no number", "ChatError", [head + b"Content-Length: many\r\n\r\n" + body]),
        ("a length that is too large", "ChatError", [head + b"Content-Length: 9999\r\n\r\n" + body]),
        ("a length that is too small", "ChatError", [head + b"Content-Length: 30\r\n\r\n" + body]),
        ("two lengths", "ChatError", [head + b"Content-Length: 3\r\nContent-Length: 9\r\n\r\n" + body]),
        ("an invalid chunk", "ChatError", [head + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n" + body]),
        ("no length", "answered", [head + b"\r\n" + body]),
        ("an interim response", "answered", [b"HTTP/1.1 103 Early Hints\r\n\r\n" + whole]),
        ("an endless interim", "ChatError", repeat(b"HTTP/1.1 100 Continue\r\n\r\n")),
        ("two responses", "ChatError", [whole + whole]),
    ]
    for name, outcome, odd in table:
        yield OddResponse(f"connection: {name}", outcome, odd)


def _of_sizes() -> Iterator[OddResponse]:
    body = _answer()
    large = json.dumps(completion({"content": "x" * LARGE})).encode()
    chunk = b"100000\r\n" + b" " * MEGABYTE + b"\r\n"
    chunked = HEAD % 200 + b"Transfer-Encoding: chunked\r\n\r\n"
    yield OddResponse("size: 50 MB", "broken", _http(large))
    yield OddResponse("size: 50 MB of error", "RequestRefused", _http(large, 400))
    yield OddResponse("size: endless", "broken", (chunked, *[chunk] * 200))
    one_by_one = [bytes([byte]) for byte in _http(body)[0]]
    yield OddResponse("speed: a byte a second", "ChatError", one_by_one, pause=1.0)
    in_body = [HEAD % 200 + b"Content-Length: 400\r\n\r\n", *one_by_one]
    yield OddResponse("speed: a byte of the body a second", "ChatError", in_body, pause=1.0)
    slow = [
        HEAD % 200 + b"Content-Length: %d\r\n\r\n" % len(body),
        *(body[at : at + 99] for at in range(0, len(body), 99)),
    ]
    yield OddResponse("speed: in small pieces", "answered", slow, pause=0.005)

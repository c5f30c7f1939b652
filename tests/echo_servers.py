"""Memory servers for tests: the echo server with faults, and servers of a few lines of Python."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import echo

from memflow.memories.server.protocol import SentMessage
from memflow.resources.memory_servers.connection import ServerConnection
from memflow.resources.memory_servers.process import ServerCommand, StdioTransport
from memflow.resources.memory_servers.transport import HttpTransport
from memflow.resources.settings.own_sections import ServerTimeLimits

ECHO = str(Path(echo.__file__))
LIMITS = ServerTimeLimits(hello=20, read=10, write=10)
ANSWERS = """
import json, os, sys, time
def serve(answer):
    for line in sys.stdin:
        request = json.loads(line)
        sent = {"name": "x", "version": "1"} if request["op"] == "hello" else {}
        if request["op"] != "hello" or "HELLO" in globals():
            sent = answer(request)
        print(sent if isinstance(sent, str) else json.dumps({**sent, "n": request["n"]}), flush=True)
"""
"""The beginning of a server whose requests, except for `hello`, are answered by a function."""


def echo_command(*faults: str, can: Mapping[str, Any] | None = None) -> list[str]:
    """Return the command of the echo server."""
    declared = [f"--can={name}={str(value).lower()}" for name, value in (can or {}).items()]
    return [sys.executable, ECHO, *(f"--fault={fault}" for fault in faults), *declared]


def connect(
    words: list[str],
    folder: Path,
    *,
    limits: ServerTimeLimits = LIMITS,
    variables: tuple[str, ...] = (),
    **more: Any,
) -> ServerConnection:
    """Return a connection to a command, whose log is in `folder`."""
    command = ServerCommand(words, folder, variables, "`command` of [memories.echo]")
    return ServerConnection("echo", StdioTransport(command, folder / "echo.log"), limits, **more)


@asynccontextmanager
async def echo_server(folder: Path, *faults: str, **more: Any) -> AsyncIterator[ServerConnection]:
    """Run the echo server with faults, and yield a connection to it."""
    server = connect(echo_command(*faults), folder, **more)
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def written_server(folder: Path, body: str, **more: Any) -> AsyncIterator[ServerConnection]:
    """Run a server whose code is `ANSWERS` and a body, and yield a connection to it."""
    (folder / "server.py").write_text(ANSWERS + body, encoding="utf-8")
    server = connect([sys.executable, "server.py"], folder, **more)
    try:
        yield server
    finally:
        await server.stop()


@contextmanager
def http_echo(*faults: str, port: int = 0) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Run the echo server over HTTP, and yield its address and process."""
    command = [*echo_command(*faults), "--http", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def http_connection(url: str, limits: ServerTimeLimits = LIMITS, key_variable: str = "") -> ServerConnection:
    """Return a connection to an address."""
    return ServerConnection("echo", HttpTransport(url, key_variable, "`url` of [memories.echo]"), limits)


def sent(number: int, text: str) -> SentMessage:
    """Return a message of a user."""
    return SentMessage(id=f"m{number}", role="user", text=text)


async def found(server: ServerConnection, space: str, query: str, **more: Any) -> list[str]:
    """Return the ids of the items of a read, sorted."""
    return sorted(item.id for item in (await server.read(space, query, 100, **more)).items)

"""A client of an MCP server over stdio: JSON-RPC 2.0, one message a line. Without the SDK, whose versions conflict."""

import json
import os
import queue
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from memflow_memory_server import Failed

MCP_VERSION = "2025-06-18"


class McpClient:
    """A connection to one MCP server: JSON-RPC lines over the stdin and stdout of a process."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, timeout: float
    ) -> None:
        self._timeout = timeout
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._number = 0
        try:
            self.process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **environment},
                cwd=folder,
            )
        except OSError as error:
            raise Failed(f"cannot start {shlex.join(command)}: {error}") from error
        threading.Thread(target=self._receive, daemon=True).start()
        started = self.request(
            "initialize",
            {
                "protocolVersion": MCP_VERSION,
                "capabilities": {},
                "clientInfo": {"name": "memflow", "version": "1"},
            },
        )
        self.server = started.get("serverInfo") or {}
        self._send({"method": "notifications/initialized"})

    def tools(self) -> set[str]:
        """Return the names of the server's tools."""
        found, page = set(), {}
        while True:
            answer = self.request("tools/list", page)
            found |= {tool["name"] for tool in answer.get("tools", ())}
            if not answer.get("nextCursor"):
                return found
            page = {"cursor": answer["nextCursor"]}

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Return the result of a tool: its structured content, else its text, parsed as JSON where possible."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(
            each.get("text", "") for each in result.get("content", ()) if each.get("type") == "text"
        )
        if result.get("isError"):
            raise Failed(f"the tool {tool} failed: {text[:1000]}", code="tool")
        if result.get("structuredContent") is not None:
            return result["structuredContent"]
        with suppress(ValueError):
            return json.loads(text)
        return text

    def request(self, method: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request and return its result. Requests of the server are answered meanwhile."""
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": parameters})
        end = time.monotonic() + self._timeout
        while True:
            answer = self._next(end, method)
            if "method" in answer and "id" in answer:
                known = (
                    {"result": {}}
                    if answer["method"] == "ping"
                    else {"error": {"code": -32601, "message": "unknown"}}
                )
                self._send({"id": answer["id"], **known})
            elif answer.get("id") == number and "method" not in answer:
                if "error" in answer:
                    raise Failed(f"{method} failed: {answer['error'].get('message')}", code="mcp")
                return answer.get("result") or {}

    def close(self) -> None:
        """End the process: close its stdin, then terminate it."""
        with suppress(OSError):
            self.process.stdin.close()  # type: ignore[union-attr]
        for end in (lambda: None, self.process.terminate, self.process.kill):
            end()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(2)
                break

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")  # type: ignore[union-attr]
            self.process.stdin.flush()  # type: ignore[union-attr]
        except (OSError, ValueError) as error:
            raise Failed(f"the MCP server ended: {error}", code="mcp_down") from error

    def _receive(self) -> None:
        for line in self.process.stdout:  # type: ignore[union-attr]
            self._lines.put(line)
        self._lines.put(None)

    def _next(self, end: float, method: str) -> dict[str, Any]:
        while True:
            try:
                line = self._lines.get(timeout=max(end - time.monotonic(), 0.001))
            except queue.Empty:
                self.close()
                raise Failed(
                    f"{method} was not answered within {self._timeout:g} s", code="timeout"
                ) from None
            if line is None:
                self._lines.put(None)
                raise Failed(f"the MCP server ended during {method}", code="mcp_down")
            with suppress(ValueError):
                answer = json.loads(line)
                if isinstance(answer, dict):
                    return answer

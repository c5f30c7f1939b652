"""Any MCP server over stdio as a memory server, by a table that names its tools for writing and reading.

MCP has no reset, no sources and no dates. Each space has a process and a folder of its own, so that `reset` is a new
folder, and `fork` a copy of it; the table states whether the server keeps its data there. See tables/ for examples.
"""

import argparse
import hashlib
import json
import re
import shutil
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memflow_mcp_client import McpClient
from memflow_memory_server import Failed, MemoryServer, Message, Unsupported, item, run
from memflow_memory_server.transports import parser

_PLACEHOLDER = re.compile(r"\{(id|text|line|role|speaker|sent_at|write|space|folder|query|k)\}")


class McpBridge(MemoryServer):
    """A memory server that calls the tools of an MCP server."""

    name = "mcp"
    workers = 4

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.table: dict[str, Any] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="memflow-mcp-"))
        self.clients: dict[str, McpClient] = {}
        self.server: Mapping[str, Any] = {}

    def hello(self, endpoints: Mapping[str, Mapping[str, str]], seed: int) -> None:
        self.table = load_table(Path(self.options.table))
        client = self._start("hello")
        try:
            self.server = client.server
            wanted = {
                self.table[part]["tool"]
                for part in ("write", "read", "reset", "export")
                if part in self.table
            }
            if missing := wanted - client.tools():
                raise Failed(f"the MCP server has no tool {', '.join(sorted(missing))}", code="table")
        finally:
            client.close()
            shutil.rmtree(self._place("hello"), ignore_errors=True)

    def version(self) -> str:
        return f"{self.server.get('name', 'unknown')} {self.server.get('version', 'unknown')}"

    def settings(self) -> Mapping[str, Any]:
        # The values of variables are left out: a table may contain a secret although it should not.
        return {"table": self.table | {"environment": sorted(self.table.get("environment", {}))}}

    def can(self) -> Mapping[str, Any]:
        # `line` contains the date, so that a text with it is dated as well as the service allows.
        dates = any(f"{{{each}}}" in json.dumps(self.table["write"]) for each in ("line", "sent_at"))
        return {
            "dates": dates,
            "batch": "any",
            "models": "own",
            "fork": self._is_file_based(),
            "export": "live" if "export" in self.table else "none",
            **self.table.get("can", {}),
        }

    def reset(self, space: str) -> None:
        self.close(space)
        client = self.clients[space] = self._start(space)
        if "reset" in self.table:
            client.call(
                self.table["reset"]["tool"],
                _fill(self.table["reset"].get("arguments", {}), self._names(space)),
            )

    def write(self, space: str, number: int, messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
        tool, failures = self.table["write"], []
        client = self._client(space)
        for message in messages:
            names = self._names(space) | {
                "id": message.id,
                "text": message.text,
                "line": message.line,
                "role": message.role,
                "speaker": message.speaker or message.role,
                "sent_at": message.sent_at or "",
                "write": number,
            }
            try:
                client.call(tool["tool"], _fill(tool.get("arguments", {}), names))
            except Failed as error:
                if error.code != "tool":
                    raise
                failures.append({"why": str(error)[:500], "sources": [message.id]})
        return failures

    def read(
        self, space: str, query: str, k: int, asked_at: str | None, as_of: int | None
    ) -> Sequence[Mapping[str, Any]] | str:
        tool, client = self.table["read"], self._client(space)
        found: dict[str, tuple[int, dict[str, Any]]] = {}
        for each in _queries(query, bool(tool.get("split"))):
            result = client.call(
                tool["tool"], _fill(tool.get("arguments", {}), self._names(space) | {"query": each, "k": k})
            )
            rows = _field(result, tool["items"]) if tool.get("items") else None
            if not isinstance(rows, list):
                return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            for row in rows:
                one = self._item(row, tool)
                found[one["id"]] = found.get(one["id"], (0, one))[0] + 1, one
        ranked = sorted(found.values(), key=lambda pair: -pair[0]) if tool.get("split") else found.values()
        return [one for _, one in ranked][:k]

    def export(self, space: str) -> Sequence[Mapping[str, Any]]:
        if "export" not in self.table:
            raise Unsupported
        tool = self.table["export"]
        result = self._client(space).call(tool["tool"], _fill(tool.get("arguments", {}), self._names(space)))
        rows = _field(result, tool["items"])
        if not isinstance(rows, list):
            raise Failed(f"the tool {tool['tool']} returned no list at {tool['items']}", code="table")
        return [self._item(row, tool) for row in rows]

    def fork(self, space: str, to: str) -> None:
        if not self._is_file_based():
            raise Unsupported
        self._client(space)
        self.close(to)
        # Both processes are ended, because a server may write its files only then.
        self.clients.pop(space).close()
        shutil.copytree(self._place(space), self._place(to))
        self.clients[space], self.clients[to] = self._start(space), self._start(to)

    def close(self, space: str) -> None:
        if space in self.clients:
            self.clients.pop(space).close()
        shutil.rmtree(self._place(space), ignore_errors=True)

    def shutdown(self) -> None:
        for space in list(self.clients):
            self.close(space)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _is_file_based(self) -> bool:
        return bool(self.table.get("file_based"))

    def _place(self, space: str) -> Path:
        return self.folder / hashlib.sha256(space.encode()).hexdigest()[:24]

    def _names(self, space: str) -> dict[str, Any]:
        return {"space": self._place(space).name, "folder": str(self._place(space))}

    def _start(self, space: str) -> McpClient:
        self._place(space).mkdir(exist_ok=True)
        names = self._names(space)
        command = [_text(each, names) for each in self.table["command"]]
        environment = {name: _text(value, names) for name, value in self.table.get("environment", {}).items()}
        return McpClient(command, environment, self._place(space), self.options.timeout)

    def _client(self, space: str) -> McpClient:
        if space not in self.clients:
            raise Failed(f"the space {space!r} does not exist; `reset` creates it", code="no_space")
        return self.clients[space]

    @staticmethod
    def _item(row: Any, tool: Mapping[str, Any]) -> dict[str, Any]:
        text = _field(row, tool["text"]) if tool.get("text") else row
        if isinstance(text, list):
            text = "\n".join(map(str, text))
        text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        named = {
            part: _field(row, tool[part]) for part in ("id", "score", "source", "sent_at") if tool.get(part)
        }
        score = named.get("score")
        return item(
            named.get("id") or hashlib.sha256(text.encode()).hexdigest()[:16],
            text,
            score=float(score) if isinstance(score, int | float) else None,
            sources=[named["source"]] if named.get("source") else [],
            sent_at=named.get("sent_at") or None,
        )


def load_table(path: Path) -> dict[str, Any]:
    """Return a table. Raises Failed if it lacks a part."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failed(f"the table {path}: {error}", code="table") from error
    if not isinstance(table.get("command"), list) or not table["command"]:
        raise Failed(f"the table {path} lacks `command`, a list of words", code="table")
    for part in ("write", "read"):
        if not isinstance(table.get(part), dict) or "tool" not in table[part]:
            raise Failed(f"the table {path} lacks `tool` in [{part}]", code="table")
    return table


def _fill(template: Any, names: Mapping[str, Any]) -> Any:
    """Return arguments with their placeholders replaced once: text that is inserted is not searched again."""
    if isinstance(template, dict):
        return {key: _fill(value, names) for key, value in template.items()}
    if isinstance(template, list):
        return [_fill(each, names) for each in template]
    if template in ("{k}", "{write}"):
        return names[template.strip("{}")]
    return _text(template, names) if isinstance(template, str) else template


def _text(template: str, names: Mapping[str, Any]) -> str:
    return _PLACEHOLDER.sub(lambda found: str(names.get(found[1], found[0])), template)


def _field(row: Any, path: str) -> Any:
    """Return the value at a path such as `result.memories`, or None."""
    for part in path.split("."):
        row = row.get(part) if isinstance(row, dict) else None
    return row


def _queries(query: str, split: bool) -> list[str]:
    """Return the query, or its words of three letters and more, for a server that finds exact substrings only."""
    words = dict.fromkeys(word for word in re.findall(r"\w+", query) if len(word) >= 3)
    return list(words) if split and words else [query]


def main() -> None:
    """Run the server."""
    line = parser("Any MCP server over stdio as a memory server for memflow.")
    line.add_argument(
        "--table", required=True, help="TOML file with the command and the tools of the MCP server"
    )
    line.add_argument("--timeout", type=float, default=120.0, help="seconds per request")
    options = line.parse_args()
    run(McpBridge(options), options)


if __name__ == "__main__":
    main()

"""Memory servers of examples/memory_servers in tests: processes, JSON lines, and answers checked by the protocol."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memflow.memories.server.protocol import ExportAnswer, Hello, ReadAnswer, WriteAnswer

SERVERS = Path(__file__).parents[1] / "examples" / "memory_servers"
ANSWERS = {
    "hello": Hello,
    "write": WriteAnswer,
    "forget": WriteAnswer,
    "read": ReadAnswer,
    "export": ExportAnswer,
}

Answer = dict[str, Any]


class JsonLines:
    """A process that reads and writes JSON lines."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.number = 0

    def send(self, op: str, **fields: Any) -> int:
        """Send a request and return its number."""
        self.number += 1
        self.send_line(json.dumps({"op": op, "n": self.number, **fields}).encode())
        return self.number

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Answer:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server ended with status {self.process.wait()}"
        return json.loads(line)

    def request(self, op: str, **fields: Any) -> Answer:
        """Send a request and return its answer, which satisfies the protocol."""
        number = self.send(op, **fields)
        answer = self.receive()
        assert answer.pop("n") == number
        if "error" not in answer and op in ANSWERS:
            ANSWERS[op].model_validate(answer)
        return answer

    def succeed(self, op: str, **fields: Any) -> Answer:
        answer = self.request(op, **fields)
        assert "error" not in answer, answer["error"]
        return answer

    def fail(self, op: str, **fields: Any) -> Answer:
        """Return the error of a request."""
        answer = self.request(op, **fields)
        assert set(answer["error"]) == {"code", "message", "again"}
        return answer["error"]

    def hello(self, url: str = "", **fields: Any) -> Answer:
        given = {"url": f"{url}/v1", "model": "stub", "key": "memflow"}
        endpoints = {"chat": given, "embed": given} if url else {}
        return self.succeed("hello", protocol=1, endpoints=endpoints, seed=0, **fields)

    def read(self, space: str, query: str, k: int = 10) -> list[Answer]:
        return self.succeed("read", space=space, query=query, k=k, asked_at=None).get("items", [])

    def write(self, space: str, number: int, *messages: Answer) -> Answer:
        return self.succeed("write", space=space, write=number, messages=list(messages))

    def end(self) -> int:
        """Close stdin and return the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(20)


def message(id: str, text: str, sent_at: str | None = None, speaker: str | None = None) -> Answer:
    return {"id": id, "role": "user", "text": text, "speaker": speaker, "sent_at": sent_at}


@contextmanager
def started(
    command: Sequence[str], paths: Sequence[Path] = (), variables: Mapping[str, str] = {}
) -> Iterator[JsonLines]:
    """Start a server with folders on its module path. The process is ended afterwards."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, [SERVERS / "base", *paths]))
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    process = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    try:
        yield JsonLines(process)
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None and process.stdout is not None
        for stream in (process.stdin, process.stdout):
            stream.close()


@contextmanager
def adapter(
    name: str,
    *arguments: str,
    paths: Sequence[Path] = (),
    variables: Mapping[str, str] = {},
    python: str = sys.executable,
) -> Iterator[JsonLines]:
    """Start an adapter of examples/memory_servers with this Python, or with that of its own environment."""
    command = [python, "-m", f"memflow_server_{name}", *arguments]
    with started(command, [SERVERS / name, *paths], variables) as lines:
        yield lines

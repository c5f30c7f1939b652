"""The authors' code of A-MEM (repository agiresearch/A-mem, package agentic_memory) as a memory server.

Each object of the library clears the collection of all others in its process. This server therefore starts one process
for each space: a copy of itself with `--worker`, which has the library.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib import import_module
from typing import Any

from memflow_memory_server import Failed, ForgetRequest, MemoryServer, Message, item, run
from memflow_memory_server.problems import LoggedProblems
from memflow_memory_server.transports import parser

OFFLINE = {
    "ANONYMIZED_TELEMETRY": "False",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""Variables for the libraries that A-MEM imports: without them, each start sends requests to third parties."""
CLASS = "agentic_memory.memory_system:AgenticMemorySystem"


class AMemWorker(MemoryServer):
    """One space: one object of the library's class."""

    name = "a-mem"

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.given: Mapping[str, str] = {}
        self.system: Any = None
        self.messages: dict[str, tuple[str, str | None]] = {}

    def version(self) -> str:
        return self.options.revision

    def settings(self) -> Mapping[str, Any]:
        model = self.given.get("model", self.options.chat_model)
        return {"chat_model": model, "embedding_model": f"{self.options.embedding_model}, in this process"}

    def can(self) -> Mapping[str, Any]:
        return {
            "export": "live",
            "forget": ["message", "text"],
            "sources": "message",
            "dates": True,
            "batch": "any",
            "spaces": self.options.spaces,
            "models": "given" if self.given else "own",
        }

    def hello(self, endpoints: Mapping[str, Mapping[str, str]], seed: int) -> None:
        self.given = endpoints.get("chat", {})
        if self.given:
            # The library passes no address to its client, which reads these variables.
            os.environ["OPENAI_BASE_URL"] = self.given["url"]
            os.environ["OPENAI_API_KEY"] = self.given.get("key", "memflow")
        self._class()

    def reset(self, space: str) -> None:
        options = self.options
        self.messages = {}
        self.system = self._class()(
            model_name=options.embedding_model,
            llm_backend="openai",
            llm_model=self.given.get("model", options.chat_model),
        )

    def write(self, space: str, number: int, messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
        failures = []
        for message in messages:
            if not message.text.strip():
                continue
            # Without a time the library takes that of the run, so that a rerun sends other requests.
            date = datetime.fromisoformat(message.sent_at) if message.sent_at else None
            time = date.strftime("%Y%m%d%H%M") if date else "unknown"
            with LoggedProblems("agentic_memory") as problems:
                note = self.system.add_note(f"{message.speaker or message.role}: {message.text}", time=time)
            self.messages[note] = message.id, message.sent_at
            failures += [{"why": why, "sources": [message.id]} for why in problems.found]
        return failures

    def read(
        self, space: str, query: str, k: int, asked_at: str | None, as_of: int | None
    ) -> Sequence[Mapping[str, Any]]:
        with LoggedProblems("agentic_memory") as problems:
            found = self.system.search_agentic(query, k)
        if problems.found and not found:  # the library returns no result where its search failed
            raise Failed(problems.found[0])
        return [self._item(each["id"], each) for each in found]

    def export(self, space: str) -> Sequence[Mapping[str, Any]]:
        return [self._item(id, vars(note)) for id, note in self.system.memories.items()]

    def forget(self, space: str, request: ForgetRequest) -> None:
        request.delete_from(self.export(space), self.system.delete)

    def close(self, space: str) -> None:
        self.system = None

    def _item(self, id: str, note: Mapping[str, Any]) -> dict[str, Any]:
        message, sent_at = self.messages.get(id, (None, None))
        known = ", ".join(map(str, note.get("keywords") or ()))
        text = f"{note['content']} (context: {note['context']}; keywords: {known})"
        # The distances of the library are not passed on as scores: smaller ones are better, and neighbors have none.
        return item(id, text, sources=[message] if message else [], sent_at=sent_at, kind="note")

    def _class(self) -> Any:
        module, _, name = self.options.class_name.partition(":")
        try:
            return getattr(import_module(module), name)
        except ImportError as error:
            raise Failed(
                f"{error}: install the authors' code as README.md describes", code="not_installed"
            ) from error


class AMemServer(MemoryServer):
    """The spaces: one process each."""

    name = "a-mem"
    workers = 16

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.greeting: dict[str, Any] = {}
        self.greeted: dict[str, Any] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.spare: subprocess.Popen[bytes] | None = None
        """A process without a space: the library takes long to start, so `hello` keeps the one that it started."""

    def hello(self, endpoints: Mapping[str, Mapping[str, str]], seed: int) -> None:
        self.greeting = {
            "op": "hello",
            "n": 0,
            "endpoints": endpoints,
            "seed": seed,
            "settings": vars(self.options),
        }
        self._end_spare()
        self.spare = self._start()

    def version(self) -> str:
        return self.greeted["version"]

    def settings(self) -> Mapping[str, Any]:
        return self.greeted["settings"]

    def can(self) -> Mapping[str, Any]:
        return self.greeted["can"]

    def reset(self, space: str) -> None:
        self._end(space)
        if len(self.processes) >= self.options.spaces:
            raise Failed(
                f"more than {self.options.spaces} spaces at a time; increase --spaces", code="spaces"
            )
        spare, self.spare = self.spare, None
        self.processes[space] = spare or self._start()
        self._request(space, "reset")

    def write(self, space: str, number: int, messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
        return self._request(space, "write", write=number, messages=[vars(each) for each in messages])[
            "failures"
        ]

    def read(
        self, space: str, query: str, k: int, asked_at: str | None, as_of: int | None
    ) -> Sequence[Mapping[str, Any]]:
        return self._request(space, "read", query=query, k=k)["items"]

    def export(self, space: str) -> Sequence[Mapping[str, Any]]:
        return self._request(space, "export")["items"]

    def forget(self, space: str, request: ForgetRequest) -> None:
        self._request(space, "forget", **vars(request))

    def close(self, space: str) -> None:
        self._end(space)

    def shutdown(self) -> None:
        for space in list(self.processes):
            self._end(space)
        self._end_spare()

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "memflow_server_a_mem", "--worker"]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**OFFLINE, **os.environ}
        )
        self.greeted = _exchange(process, self.greeting)
        return process

    def _end(self, space: str) -> None:
        _end_process(self.processes.pop(space, None))

    def _end_spare(self) -> None:
        spare, self.spare = self.spare, None
        _end_process(spare)

    def _request(self, space: str, op: str, **fields: Any) -> dict[str, Any]:
        if space not in self.processes:
            raise Failed(f"the space {space!r} does not exist; `reset` creates it", code="no_space")
        return _exchange(self.processes[space], {"op": op, "n": 0, "space": space, **fields})


def _end_process(process: "subprocess.Popen[bytes] | None") -> None:
    if process is not None:
        process.stdin.close()  # type: ignore[union-attr]
        process.terminate()
        process.wait()


def _exchange(process: "subprocess.Popen[bytes]", request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        line = process.stdout.readline()  # type: ignore[union-attr]
    except OSError as error:
        raise Failed(f"the process of the space ended: {error}", code="worker") from error
    if not line:
        raise Failed("the process of the space ended", code="worker")
    answer = json.loads(line)
    if error := answer.get("error"):
        raise Failed(error["message"], code=error["code"], again=error["again"])
    return answer


def main() -> None:
    """Run the server."""
    line = parser("The authors' code of A-MEM as a memory server for memflow.")
    line.add_argument(
        "--worker", action="store_true", help="serve one space with the library in this process"
    )
    line.add_argument("--class-name", default=CLASS, help="module and class of the library")
    line.add_argument("--revision", default="unknown", help="commit of the library, which it does not report")
    line.add_argument("--chat-model", default="gpt-4o-mini", help="model where memflow gives none")
    line.add_argument(
        "--embedding-model", default="all-MiniLM-L6-v2", help="sentence-transformers model, or its folder"
    )
    line.add_argument(
        "--spaces", type=int, default=4, help="maximum number of spaces at a time: each loads the library"
    )
    options = line.parse_args()
    run(AMemWorker(options) if options.worker else AMemServer(options), options)


if __name__ == "__main__":
    main()

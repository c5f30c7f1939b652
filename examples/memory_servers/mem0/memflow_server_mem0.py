"""The library mem0ai 2.x as a memory server. Vectors are in memory, in Qdrant's local mode.

The library has no dates: its prompt states the day of the run as the day of each conversation. This server passes the
date of the messages instead, so that relative dates are resolved correctly and a rerun on another day sends the same
requests.
"""

import argparse
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from memflow_memory_server import Failed, ForgetRequest, MemoryServer, Message, item, run
from memflow_memory_server.problems import LoggedProblems
from memflow_memory_server.transports import parser

COLLECTION = "memflow"
LOGGER = "mem0.memory.main"
ALL = 1_000_000


class Mem0Server(MemoryServer):
    """mem0ai 2.x: a model extracts facts from each exchange and adds them; nothing is updated or deleted."""

    name = "mem0"

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="memflow-mem0-")
        # Both are read when the library is imported. It reports usage to a third party by default.
        os.environ["MEM0_TELEMETRY"] = "false"
        os.environ["MEM0_DIR"] = self.folder
        self.given: Mapping[str, Mapping[str, str]] = {}
        self.memory: Any = None
        self.spaces: dict[str, str] = {}
        self.writes: dict[str, dict[str, str]] = {}
        """The number of the write of each message, by space and id."""
        self.date: str | None = None

    def version(self) -> str:
        from importlib.metadata import PackageNotFoundError, version

        try:
            installed = version("mem0ai")
        except PackageNotFoundError:
            raise Failed("the package mem0ai is not installed: run this server with `uv run`") from None
        if not installed.startswith("2."):
            raise Failed(f"mem0ai {installed} is installed, but this server needs 2.x")
        return installed

    def settings(self) -> Mapping[str, Any]:
        options = self.options
        return {
            "infer": options.infer == "yes",
            "threshold": options.threshold,
            "chat_model": self._model("chat"),
            "embedding_model": self._model("embed"),
            "observation_date": "date of the messages",
        }

    def can(self) -> Mapping[str, Any]:
        return {
            "export": "live",
            "forget": ["message", "text"],
            "sources": "write",
            "dates": True,
            "batch": "pair",
            "design": {"merges": self.options.infer == "yes", "threshold": self.options.threshold > 0},
            "models": "given" if {"chat", "embed"} <= self.given.keys() else "own",
        }

    def hello(self, endpoints: Mapping[str, Mapping[str, str]], seed: int) -> None:
        self.version()
        self.given, self.memory = endpoints, None

    def reset(self, space: str) -> None:
        if self.memory is None:
            self.memory = self._open()
        if space in self.spaces:
            self.memory.delete_all(user_id=self.spaces[space])
        # A new name each time: `delete_all` leaves the last ten messages, which the next extraction reads.
        generation = (
            len(self.spaces) if space not in self.spaces else int(self.spaces[space].split("-")[1]) + 1
        )
        self.writes[space] = {}
        self.spaces[space] = f"{hashlib.sha256(space.encode()).hexdigest()[:24]}-{generation}"

    def write(self, space: str, number: int, messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
        user, failures = self._user(space), []
        self.writes[space] |= {message.id: str(number) for message in messages}
        for date, group in groupby(messages, key=lambda message: message.sent_at):
            sent = list(group)
            conversation = [
                {"role": each.role, "content": _spoken(each)} for each in sent if each.text.strip()
            ]
            if not conversation:
                continue
            self.date = date[:10] if date else None
            metadata = {"write": str(number)} | ({"sent_at": date} if date else {})
            with LoggedProblems(LOGGER) as problems:
                self.memory.add(
                    conversation, user_id=user, metadata=metadata, infer=self.options.infer == "yes"
                )
            failures += [{"why": why, "sources": [each.id for each in sent]} for why in problems.found]
        return failures

    def read(
        self, space: str, query: str, k: int, asked_at: str | None, as_of: int | None
    ) -> Sequence[Mapping[str, Any]]:
        found = self.memory.search(
            query, filters={"user_id": self._user(space)}, top_k=k, threshold=self.options.threshold
        )
        return [_item(each) for each in found["results"]]

    def export(self, space: str) -> Sequence[Mapping[str, Any]]:
        found = self.memory.get_all(filters={"user_id": self._user(space)}, top_k=ALL)
        return [_item(each) for each in found["results"]]

    def forget(self, space: str, request: ForgetRequest) -> None:
        """Delete memories. Those of a message are those of its whole write, since the library names no message."""
        writes = (self.writes[space].get(id, "") for id in request.message_ids)
        ForgetRequest(tuple(filter(None, writes)), request.text).delete_from(
            self.export(space), self.memory.delete
        )

    def close(self, space: str) -> None:
        if space in self.spaces:
            self.memory.delete_all(user_id=self.spaces.pop(space))

    def shutdown(self) -> None:
        if self.memory is not None:
            self.memory.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _user(self, space: str) -> str:
        if space not in self.spaces:
            raise Failed(f"the space {space!r} does not exist; `reset` creates it", code="no_space")
        return self.spaces[space]

    def _model(self, use: str) -> str:
        if use in self.given:
            return self.given[use]["model"]
        return self.options.chat_model if use == "chat" else self.options.embedding_model

    def _open(self) -> Any:
        import mem0.memory.main as library
        from mem0 import Memory
        from qdrant_client import QdrantClient

        self._set_date(library)
        chat, embed = self._provider("chat"), self._provider("embed")
        dimensions = self.options.dimensions or _dimensions(embed)
        memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": chat | {"temperature": 0.0}},
                "embedder": {"provider": "openai", "config": embed},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "collection_name": COLLECTION,
                        "embedding_model_dims": dimensions,
                        "client": QdrantClient(":memory:"),
                        "path": self.folder,
                    },
                },
                "history_db_path": os.path.join(self.folder, "history.db"),  # noqa: PTH118 - the library wants a text
            }
        )
        return memory

    def _provider(self, use: str) -> dict[str, Any]:
        given = self.given.get(use)
        config: dict[str, Any] = {"model": self._model(use)}
        if given:
            config |= {"openai_base_url": given["url"], "api_key": given.get("key", "memflow")}
        return config

    def _set_date(self, library: Any) -> None:
        """Pass the date of the messages to the extraction prompt, whose parameters the library leaves unset."""
        build = library.generate_additive_extraction_prompt
        if getattr(build, "dated", False):
            return

        def dated_prompt(**parameters: Any) -> str:
            date = self.date or "unknown"
            return build(**parameters | {"current_date": date, "timestamp": date})

        dated_prompt.dated = True  # type: ignore[attr-defined]
        library.generate_additive_extraction_prompt = dated_prompt


def _spoken(message: Message) -> str:
    return f"{message.speaker}: {message.text}" if message.speaker else message.text


def _item(found: Mapping[str, Any]) -> dict[str, Any]:
    metadata = found.get("metadata") or {}
    return item(
        found["id"],
        found["memory"],
        score=found.get("score"),
        sources=[metadata["write"]] if "write" in metadata else [],
        sent_at=metadata.get("sent_at"),
    )


def _dimensions(embed: Mapping[str, Any]) -> int:
    """Return the length of an embedding, with one request."""
    from mem0.utils.factory import EmbedderFactory

    return len(EmbedderFactory.create("openai", dict(embed), None).embed("dimensions"))


def main() -> None:
    """Run the server."""
    line = parser("The library mem0ai 2.x as a memory server for memflow.")
    line.add_argument("--infer", choices=("yes", "no"), default="yes", help="extract facts with a model")
    line.add_argument(
        "--threshold", type=float, default=0.1, help="minimum score of a memory that is returned"
    )
    line.add_argument("--chat-model", default="gpt-5-mini", help="model where memflow gives none")
    line.add_argument("--embedding-model", default="text-embedding-3-small")
    line.add_argument("--dimensions", type=int, default=0, help="length of an embedding; 0: requested once")
    options = line.parse_args()
    run(Mem0Server(options), options)


if __name__ == "__main__":
    main()

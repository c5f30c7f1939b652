"""supermemory as a memory server, self-hosted (one binary) or hosted, through its HTTP interface (v3 and v4).

A write is one document. It is processed in the background in two steps, the document and then the memories, and this
server answers when both are done. A document that fails for good is deleted by the service after two minutes.
"""

import argparse
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from memflow_memory_server import (
    Failed,
    ForgetRequest,
    JsonService,
    MemoryServer,
    Message,
    item,
    run,
    wait_until,
)
from memflow_memory_server.transports import parser

MOST = 100
"""The maximum number of results of a search."""
MOST_FORGOTTEN = 500
"""The maximum number of memories that one request of the service forgets."""


class SupermemoryServer(MemoryServer):
    """supermemory: a service that extracts memories from documents."""

    name = "supermemory"
    workers = 8

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.process = secrets.token_hex(4)
        self.tags: dict[str, str] = {}
        self.resets = 0
        self._connect()

    def configure(self, settings: Mapping[str, Any]) -> None:
        super().configure(settings)
        self._connect()

    def hello(self, endpoints: Mapping[str, Mapping[str, str]], seed: int) -> None:
        # A request that changes nothing: an address or a key that is wrong is found before the first write.
        self._search("memflow-hello", "hello", 1)

    def version(self) -> str:
        return self.options.revision

    def settings(self) -> Mapping[str, Any]:
        options = self.options
        return {"search_mode": options.search_mode, "threshold": options.threshold, "dates": "in the text"}

    def can(self) -> Mapping[str, Any]:
        # The service has no date of a message: `Message.line` puts it into the text. Its models are configured there.
        design = {"merges": True, "threshold": self.options.threshold > 0, "max_items": MOST}
        return {
            "sources": "write",
            "dates": True,
            "batch": "session",
            "models": "own",
            "design": design,
            # The service forgets memories. The chunks of documents, which the other modes return too, stay.
            "forget": ["text"] if self.options.search_mode == "memories" else [],
        }

    def reset(self, space: str) -> None:
        self.close(space)
        self.resets += 1
        # The tag is new each time, because a deletion is only for administrators of a hosted account.
        digest = hashlib.sha256(space.encode()).hexdigest()[:24]
        self.tags[space] = f"memflow_{digest}_{self.process}_{self.resets}"

    def write(self, space: str, number: int, messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
        tag = self._tag(space)
        sent = [message for message in messages if message.text.strip()]
        if not sent:
            return []
        dates = [message.sent_at for message in sent if message.sent_at]
        body = {
            "content": "\n".join(message.line for message in sent),
            "containerTag": tag,
            "customId": f"{tag}_{number}",
            "metadata": {"write": str(number)} | ({"date": max(dates)} if dates else {}),
        }
        # The document's own id makes a repeated request an update.
        document = self.service.post("v3", "documents", body=body, repeatable=True)["id"]
        wait_until(
            lambda: self._is_done(document),
            self.options.indexing_limit,
            what=f"the processing of document {document}",
        )
        return []

    def read(
        self, space: str, query: str, k: int, asked_at: str | None, as_of: int | None
    ) -> Sequence[Mapping[str, Any]]:
        return [_item(row) for row in self._search(self._tag(space), query, k)]

    def forget(self, space: str, request: ForgetRequest) -> None:
        """Let the service choose and forget the memories about a text. It keeps them, but returns them no more."""
        body = {
            "query": request.text,
            "containerTag": self._tag(space),
            "dryRun": False,
            "maxForget": MOST_FORGOTTEN,
        }
        self.service.post("v4", "memories", "forget-matching", body=body, repeatable=True)

    def close(self, space: str) -> None:
        if space in self.tags:
            try:
                self.service.delete("v3", "container-tags", self.tags.pop(space))
            except Failed as error:
                if error.code not in ("http_401", "http_403"):
                    raise

    def shutdown(self) -> None:
        for space in list(self.tags):
            self.close(space)

    def _connect(self) -> None:
        options = self.options
        self.service = JsonService(options.url, key=options.key_variable, timeout=options.timeout)

    def _tag(self, space: str) -> str:
        if space not in self.tags:
            raise Failed(f"the space {space!r} does not exist; `reset` creates it", code="no_space")
        return self.tags[space]

    def _search(self, tag: str, query: str, k: int) -> list[Mapping[str, Any]]:
        body = {
            "q": query,
            "containerTag": tag,
            "limit": min(k, MOST),
            "threshold": self.options.threshold,
            "searchMode": self.options.search_mode,
            "include": {"documents": True},
        }
        return self.service.post("v4", "search", body=body, repeatable=True)["results"]

    def _is_done(self, document: str) -> bool:
        return all(self._state(kind, document) == "done" for kind in ("documents", "memories"))

    def _state(self, kind: str, document: str) -> str:
        """Return the state of a document, or of its memories. Raises Failed if the processing failed."""
        try:
            found = self.service.get("v3", kind, document)
        except Failed as error:
            if error.code != "http_404":
                raise
            if kind == "memories":  # a version of the service with one state
                return "done"
            raise Failed(
                f"the service deleted document {document}: its processing failed", code="indexing"
            ) from None
        if found.get("status") == "failed":
            raise Failed(f"the processing of document {document} failed ({kind})", code="indexing")
        return "dreaming" if found.get("dreamingStatus") == "dreaming" else str(found.get("status", "done"))


def _item(row: Mapping[str, Any]) -> dict[str, Any]:
    text = row.get("memory") or row.get("chunk") or ""
    parts = [row.get("metadata") or {}, *(each.get("metadata") or {} for each in row.get("documents") or ())]
    writes = dict.fromkeys(str(part["write"]) for part in parts if "write" in part)
    dates = [str(part["date"]) for part in parts if "date" in part]
    kind = "memory" if row.get("memory") else "chunk"
    score = row.get("similarity")
    return item(
        row["id"], text, score=score, sources=list(writes), sent_at=max(dates, default=None), kind=kind
    )


def main() -> None:
    """Run the server."""
    line = parser("supermemory as a memory server for memflow.")
    line.add_argument("--url", default="http://127.0.0.1:6767", help="address of the service")
    line.add_argument(
        "--key-variable", default="SUPERMEMORY_API_KEY", help="environment variable with its key"
    )
    line.add_argument(
        "--revision", default="unknown", help="version of the service, which it does not report"
    )
    line.add_argument("--search-mode", choices=("memories", "hybrid", "documents"), default="hybrid")
    line.add_argument("--threshold", type=float, default=0.3, help="minimum similarity of a result")
    line.add_argument(
        "--indexing-limit", type=float, default=540.0, help="seconds until a write counts as failed"
    )
    line.add_argument("--timeout", type=float, default=60.0, help="seconds per request")
    options = line.parse_args()
    run(SupermemoryServer(options), options)


if __name__ == "__main__":
    main()

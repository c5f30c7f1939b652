"""Archives of a Letta server as a memory server: each message is a passage, found by its embedding.

An archive stores what it is given. The agents of Letta, which choose what to store, are not used: an agent's answer
cannot be separated from its memory. The embeddings come from the model that memflow gives, which is set in the archive.
"""

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memflow_key_relay import KeyRelay
from memflow_memory_server import Failed, ForgetRequest, JsonService, MemoryServer, Message, item, run
from memflow_memory_server.transports import parser

MOST = 100
"""The maximum number of results of a search, and of passages in one request."""


class LettaServer(MemoryServer):
    """A Letta server (0.16): passages of archives."""

    name = "letta-archives"
    workers = 4

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.service = JsonService(options.url, key=options.key_variable, timeout=options.timeout)
        self.embedding: dict[str, Any] | None = None
        self.relay: KeyRelay | None = None
        self.archives: dict[str, str] = {}
        self.server_version = ""

    def configure(self, settings: Mapping[str, Any]) -> None:
        super().configure(settings)
        options = self.options
        self.service = JsonService(options.url, key=options.key_variable, timeout=options.timeout)

    def hello(self, endpoints: Mapping[str, Mapping[str, str]], seed: int) -> None:
        self.server_version = str((self.service.get("v1", "health", "") or {}).get("version", "unknown"))
        given = endpoints.get("embed")
        self._close_relay()
        self.embedding = None
        if given:
            self.relay = KeyRelay(given, self.options.timeout)
            self.embedding = {
                "embedding_endpoint_type": "openai",
                "embedding_endpoint": self.relay.url,
                "embedding_model": given["model"],
                "embedding_dim": self.options.dimensions or _dimensions(given, self.options.timeout),
            }

    def version(self) -> str:
        return self.server_version

    def settings(self) -> Mapping[str, Any]:
        embedding = self.embedding["embedding_model"] if self.embedding else self.options.embedding
        return {"embedding_model": embedding, "grain": "one passage per message"}

    def can(self) -> Mapping[str, Any]:
        return {
            "export": "live",
            "forget": ["message", "text"],
            "sources": "message",
            "dates": True,
            "design": {"max_items": MOST},
            "models": "given" if self.relay else "own",
        }

    def reset(self, space: str) -> None:
        self.close(space)
        name = f"memflow-{hashlib.sha256(space.encode()).hexdigest()[:24]}"
        for left in self.service.get("v1", "archives", "", name=name):  # of an earlier process
            self.service.delete("v1", "archives", left["id"])
        model = (
            {"embedding_config": self.embedding} if self.embedding else {"embedding": self.options.embedding}
        )
        self.archives[space] = self.service.post("v1", "archives", "", body={"name": name, **model})["id"]

    def write(self, space: str, number: int, messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
        sent = [message for message in messages if message.text.strip()]
        failures: list[Mapping[str, Any]] = []
        for start in range(0, len(sent), MOST):
            part = sent[start : start + MOST]
            try:
                self._create(space, part)
            except Failed as error:
                if error.code != "http_422" or len(part) == 1:
                    raise
                # A request is refused as a whole: send each alone, so that only the bad one fails.
                for message in part:
                    try:
                        self._create(space, [message])
                    except Failed as refused:
                        failures.append({"why": str(refused)[:500], "sources": [message.id]})
        return failures

    def read(
        self, space: str, query: str, k: int, asked_at: str | None, as_of: int | None
    ) -> Sequence[Mapping[str, Any]]:
        body = {"query": query, "archive_id": self._archive(space), "limit": min(k, MOST)}
        # The score of each result is 0.0 in 0.16.8, so only the order is passed on.
        return [
            _item(each["passage"])
            for each in self.service.post("v1", "passages", "search", body=body, repeatable=True)
        ]

    def export(self, space: str) -> Sequence[Mapping[str, Any]]:
        """Return all passages. Without a query the search lists them; it is repeated by date beyond one page."""
        found: dict[str, Mapping[str, Any]] = {}
        body: dict[str, Any] = {"archive_id": self._archive(space), "limit": MOST}
        while page := [
            each["passage"]
            for each in self.service.post("v1", "passages", "search", body=body, repeatable=True)
        ]:
            new = [each for each in page if each["id"] not in found]
            found |= {each["id"]: each for each in new}
            if len(page) < MOST:
                break
            if not new:
                raise Failed(f"the archive has more than {MOST} passages of one date, which cannot be listed")
            dates = [each["created_at"] for each in page]
            body |= {"start_date": max(dates)} if dates == sorted(dates) else {"end_date": min(dates)}
        return [_item(each) for each in found.values()]

    def forget(self, space: str, request: ForgetRequest) -> None:
        path = ("v1", "archives", self._archive(space), "passages")
        request.delete_from(self.export(space), lambda id: self.service.delete(*path, id))

    def close(self, space: str) -> None:
        if space in self.archives:
            self.service.delete("v1", "archives", self.archives.pop(space))

    def shutdown(self) -> None:
        for space in list(self.archives):
            self.close(space)
        self._close_relay()

    def _close_relay(self) -> None:
        if self.relay is not None:
            self.relay.close()
            self.relay = None

    def _archive(self, space: str) -> str:
        if space not in self.archives:
            raise Failed(f"the space {space!r} does not exist; `reset` creates it", code="no_space")
        return self.archives[space]

    def _create(self, space: str, messages: Sequence[Message]) -> None:
        passages = [
            {"text": f"{each.speaker or each.role}: {each.text}", "metadata": {"message": each.id}}
            | ({"created_at": _utc(each.sent_at), "tags": ["dated"]} if each.sent_at else {})
            for each in messages
        ]
        self.service.post(
            "v1", "archives", self._archive(space), "passages", "batch", body={"passages": passages}
        )


def _utc(date: str) -> str:
    """Return a date with a time zone: the service stores one without as that of its own clock."""
    parsed = datetime.fromisoformat(date)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).isoformat()


def _item(passage: Mapping[str, Any]) -> dict[str, Any]:
    message = (passage.get("metadata") or {}).get("message")
    dated = "dated" in (passage.get("tags") or ())
    return item(
        passage["id"],
        passage["text"],
        sources=[message] if message else [],
        sent_at=passage["created_at"] if dated else None,
    )


def _dimensions(given: Mapping[str, str], timeout: float) -> int:
    """Return the length of an embedding, with one request to the given endpoint."""
    service = JsonService(given["url"], timeout=timeout, secret=given.get("key", "memflow"))
    body = {"model": given["model"], "input": ["dimensions"], "encoding_format": "float"}
    return len(service.post("embeddings", body=body)["data"][0]["embedding"])


def main() -> None:
    """Run the server."""
    line = parser("Archives of a Letta server as a memory server for memflow.")
    line.add_argument("--url", default="http://127.0.0.1:8283", help="address of the Letta server")
    line.add_argument(
        "--key-variable", default="LETTA_API_KEY", help="environment variable with its key, if any"
    )
    line.add_argument(
        "--embedding", default="openai/text-embedding-3-small", help="handle where memflow gives none"
    )
    line.add_argument("--dimensions", type=int, default=0, help="length of an embedding; 0: requested once")
    line.add_argument("--timeout", type=float, default=120.0, help="seconds per request")
    options = line.parse_args()
    run(LettaServer(options), options)


if __name__ == "__main__":
    main()

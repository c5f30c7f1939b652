"""Fake services for the adapters of examples/memory_servers: small HTTP servers with the documented interfaces."""

import json
import re
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

Body = dict[str, Any]


class HttpError(Exception):
    """An answer with another status than 200."""

    def __init__(self, status: int, detail: str = "", headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers or {}


class FakeHttpService:
    """A service at a loopback address. Subclasses implement `answer`."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[tuple[str, str, Body]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()

    def answer(self, method: str, path: list[str], query: dict[str, str], body: Body) -> Any:
        raise NotImplementedError


Service = TypeVar("Service", bound=FakeHttpService)


@contextmanager
def serving(service: Service) -> Iterator[Service]:
    """Serve a fake service while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            headers: dict[str, str] = {}
            with service.lock:
                service.requests.append((self.command, url.path, body))
                service.headers.append({name.lower(): value for name, value in self.headers.items()})
                try:
                    path = [unquote(part) for part in url.path.split("/") if part]
                    status, answer = 200, service.answer(self.command, path, query, body)
                except HttpError as error:
                    status, answer, headers = error.status, {"detail": error.detail}, error.headers
            content = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status if content else 204)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = respond

        def log_message(self, *_: object) -> None:
            pass

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{web.server_address[1]}"
    thread = threading.Thread(target=web.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        web.shutdown()
        web.server_close()
        thread.join()


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def embedding(text: str) -> list[float]:
    """Return a vector of the words of a text, so that texts with common words are near each other."""
    vector = [0.0] * 64
    for word in words(text):
        vector[zlib.crc32(word.encode()) % 64] += 1.0
    return vector


class FakeModels(FakeHttpService):
    """An OpenAI-compatible service. Chat requests of mem0 are answered with one memory per new message."""

    key = ""
    """The key that a request must have; empty for any."""
    broken = ""
    """A word: an extraction whose prompt contains it is answered with no JSON."""

    def answer(self, method: str, path: list[str], query: dict[str, str], body: Body) -> Any:
        if self.key and self.headers[-1].get("authorization") != f"Bearer {self.key}":
            raise HttpError(401, "the key is invalid")
        match path:
            case ["v1", "embeddings"]:
                inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
                rows = [
                    {"object": "embedding", "index": n, "embedding": embedding(each)}
                    for n, each in enumerate(inputs)
                ]
                return {
                    "object": "list",
                    "model": body["model"],
                    "data": rows,
                    "usage": {"prompt_tokens": 1, "total_tokens": 1},
                }
            case ["v1", "chat", "completions"]:
                return self.chat(body)
        raise HttpError(404)

    def chat(self, body: Body) -> Body:
        prompt = body["messages"][-1]["content"]
        new = prompt.partition("## New Messages\n")[2].partition("\n\n## ")[0]
        content = json.dumps(
            {"memory": [{"id": str(n), "text": each} for n, each in enumerate(new.splitlines()) if each]}
        )
        if self.broken and self.broken in new:
            content = "I cannot answer in JSON {"
        message = {"role": "assistant", "content": content}
        return {
            "id": "chat-1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


class FakeLetta(FakeHttpService):
    """The archives and passages of a Letta server 0.16, after its OpenAPI description and recorded answers."""

    refused = "unacceptable"

    def __init__(self) -> None:
        super().__init__()
        self.archives: dict[str, Body] = {}
        self.passages: dict[str, list[Body]] = {}
        self.number = 0

    def answer(self, method: str, path: list[str], query: dict[str, str], body: Body) -> Any:
        match method, path[1:]:
            case "GET", ["health"]:
                return {"version": "0.16.8", "status": "ok"}
            case "GET", ["archives"]:
                return [
                    each for each in self.archives.values() if each["name"] == query.get("name", each["name"])
                ][:50]
            case "POST", ["archives"]:
                self.number += 1
                archive = {**body, "id": f"archive-{self.number}"}
                self.archives[archive["id"]], self.passages[archive["id"]] = archive, []
                return archive
            case "DELETE", ["archives", id] if id in self.archives:
                del self.archives[id], self.passages[id]
            case "DELETE", ["archives", id, "passages", passage] if id in self.archives:
                kept = [each for each in self.passages[id] if each["id"] != passage]
                self.passages[id] = kept
            case "POST", ["archives", id, "passages", "batch"] if id in self.archives:
                return self.create(id, body["passages"])
            case "POST", ["passages", "search"]:
                return self.search(body)
            case _:
                raise HttpError(404, f"{method} {path}")
        return None

    def create(self, archive: str, passages: list[Body]) -> list[Body]:
        if any(self.refused in each["text"] for each in passages):
            raise HttpError(422, "the text is refused")
        for each in passages:
            self.number += 1
            date = each.get("created_at") or "2026-11-23T12:00:00Z"
            self.passages[archive].append({**each, "id": f"passage-{self.number}", "created_at": date})
        return passages

    def search(self, body: Body) -> list[Body]:
        """Search by common words, or list by date. The score is 0.0, as in 0.16.8."""
        found = sorted(self.passages[body["archive_id"]], key=lambda each: each["created_at"])
        found = [each for each in found if body.get("start_date", "") <= each["created_at"]]
        if body.get("query"):
            found.sort(key=lambda each: -len(words(body["query"]) & words(each["text"])))
        if not 1 <= body["limit"] <= 100:
            raise HttpError(422, "limit")
        return [{"passage": each, "score": 0.0, "metadata": {}} for each in found[: body["limit"]]]


class FakeSupermemory(FakeHttpService):
    """Documents (v3) and search (v4) of supermemory, after its documentation. Indexing ends at request `polls`."""

    def __init__(self, polls: int = 3) -> None:
        super().__init__()
        self.polls = polls
        self.documents: dict[str, Body] = {}
        self.busy = 0

    def answer(self, method: str, path: list[str], query: dict[str, str], body: Body) -> Any:
        match method, path:
            case "POST", ["v3", "documents"]:
                if self.busy:
                    self.busy -= 1
                    raise HttpError(429, "rate limit", {"Retry-After": "0"})
                id = f"doc_{len(self.documents) + 1}"
                self.documents[id] = {**body, "id": id, "polls": {"documents": 0, "memories": 0}}
                return {"id": id, "status": "queued"}
            case "GET", ["v3", ("documents" | "memories") as kind, id]:
                return {"id": id, "status": self.status(kind, id)}
            case "POST", ["v4", "search"]:
                return {"results": self.search(body), "timing": 1, "total": 1}
            case "POST", ["v4", "memories", "forget-matching"]:
                about = {**body, "q": body["query"], "limit": body["maxForget"]}
                forgotten = [row for row in self.search(about) if words(about["q"]) <= words(row["memory"])]
                for row in forgotten:
                    del self.documents[row["id"].removeprefix("mem_")]
                return {"dryRun": False, "count": len(forgotten), "forgotten": forgotten}
            case "DELETE", ["v3", "container-tags", tag]:
                for id in [id for id, each in self.documents.items() if each["containerTag"] == tag]:
                    del self.documents[id]
                return {"success": True}
        raise HttpError(404, f"{method} {path}")

    def status(self, kind: str, id: str) -> str:
        document = self.documents[id]
        document["polls"][kind] += 1
        if "deleted" in document["content"] and document["polls"][kind] == 2:
            raise HttpError(404, "Document not found")
        if f"broken {kind}" in document["content"]:
            return "failed"
        if "endless" in document["content"]:
            return "indexing"
        return "done" if document["polls"][kind] >= self.polls else "indexing"

    def search(self, body: Body) -> list[Body]:
        """Return documents whose memories are done, by common words."""
        done = [
            each
            for each in self.documents.values()
            if each["containerTag"] == body["containerTag"] and each["polls"]["memories"] >= self.polls
        ]
        scored = [(len(words(body["q"]) & words(each["content"])), each) for each in done]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [
            {
                "id": f"mem_{each['id']}",
                "memory": each["content"],
                "similarity": 0.9,
                "metadata": each["metadata"],
                "version": 1,
            }
            for _, each in best[: body["limit"]]
        ]

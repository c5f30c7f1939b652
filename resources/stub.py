"""A fake OpenAI-compatible server for tests and benchmarks: `python -m resources.stub --latency 0.05 --fail 0.1`.

Answers are deterministic: a random instance of the request's JSON schema, or a short text, seeded by the request's
digest. The server logs answered requests and can fail on purpose. memflow.chat.scripted, not this server, replaces
models in demo runs.
"""

import argparse
import asyncio
import base64
import json
import random
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TextIO

import uvloop
from aiohttp import web

from memflow.fingerprint import digest, seeded
from memflow.tokens import estimate
from resources.process import default_signals
from resources.stub_answers import random_instance, random_text


@dataclass(frozen=True)
class StubBehavior:
    """The settings of the stub server. Failures are shares of all attempts, selected by the request and `seed`."""

    host: str = field(default="127.0.0.1", metadata={"help": "address to listen at"})
    port: int = field(default=0, metadata={"help": "port to listen at; 0: any free port"})
    model: str = field(default="stub", metadata={"help": "name of the model"})
    latency: float = field(default=0.0, metadata={"help": "seconds before an answer"})
    fail: float = field(default=0.0, metadata={"help": "share of attempts answered with 429 or 500"})
    retry_after: float = field(default=0.05, metadata={"help": "seconds in the Retry-After header of a 429"})
    garble: float = field(
        default=0.0, metadata={"help": "share of structured answers truncated to invalid JSON"}
    )
    words: int = field(default=20, metadata={"help": "words of a text without a schema"})
    cut_at: int = field(
        default=0, metadata={"help": "estimated tokens at which every answer is cut; 0: never"}
    )
    max_model_len: int = field(
        default=0, metadata={"help": "estimated tokens above which a prompt is rejected; 0: no limit"}
    )
    dimensions: int = field(default=64, metadata={"help": "length of the embeddings"})
    die_after: int = field(
        default=0, metadata={"help": "answers after which the server is down once; 0: never"}
    )
    down: float = field(default=5.0, metadata={"help": "seconds that it is down"})
    log: str = field(default="", metadata={"help": "file with a JSON line per answer"})
    seed: int = field(default=0, metadata={"help": "seed of failures"})


@dataclass
class Counts:
    """Numbers of requests, as returned by GET /stub/counts."""

    asked: int = 0
    answered: int = 0
    failed: int = 0
    refused: int = 0
    garbled: int = 0
    prompt_tokens: int = 0
    in_flight: int = 0
    most_in_flight: int = 0


class Stub:
    """The stub server in the running event loop: `async with Stub(StubBehavior(fail=0.1)) as stub: ... stub.url`."""

    def __init__(self, behavior: StubBehavior | None = None) -> None:
        self.behavior = behavior or StubBehavior()
        self.counts = Counts()
        self.port = self.behavior.port
        self.headers: list[dict[str, str]] = []
        """The headers of the first 100 requests."""
        self._tries: Counter[str] = Counter()
        self._runner: web.ServerRunner | None = None
        self._outage: asyncio.Task[None] | None = None
        self._log: TextIO | None = None

    @property
    def url(self) -> str:
        """The base URL of the stub server."""
        return f"http://{self.behavior.host}:{self.port}/v1"

    async def __aenter__(self) -> "Stub":
        if self.behavior.log:
            self._log = Path(self.behavior.log).open("a", encoding="utf-8")  # noqa: ASYNC230, SIM115
        await self._listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._outage is not None:
            self._outage.cancel()
        await self._close()
        if self._log is not None:
            self._log.close()

    async def _listen(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._serve, access_log=None), shutdown_timeout=0.01)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.behavior.host, self.port, backlog=1024, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _close(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None and runner.server is not None:
            for connection in runner.server.connections:
                if connection.transport is not None:
                    connection.transport.abort()
            await runner.cleanup()

    async def _restart_later(self) -> None:
        await self._close()
        await asyncio.sleep(self.behavior.down)
        await self._listen()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        match (request.method, request.path):
            case ("GET", "/health"):
                return web.Response()
            case ("GET", "/v1/models"):
                model = {"id": self.behavior.model, "object": "model"}
                return web.json_response({"object": "list", "data": [model]})
            case ("GET", "/stub/counts"):
                return web.json_response(asdict(self.counts))
            case ("POST", "/v1/chat/completions" | "/v1/embeddings"):
                return await self._post(request)
        return web.json_response({"error": {"message": f"there is no {request.path}"}}, status=404)

    async def _post(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.json()
        key = digest(body)
        attempt = self._tries[key]
        self._tries[key] += 1
        counts = self.counts
        counts.asked += 1
        counts.in_flight += 1
        counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
        if len(self.headers) < 100:
            self.headers.append(dict(request.headers))
        try:
            if self.behavior.latency:
                await asyncio.sleep(self.behavior.latency)
            status, answer, headers = self._answer(request.path, body, key, attempt)
            self._note(request, key, status)
        finally:
            counts.in_flight -= 1
        if self.behavior.die_after and counts.answered >= self.behavior.die_after and self._outage is None:
            self._outage = asyncio.create_task(self._restart_later())
        return web.Response(
            text=json.dumps(answer), status=status, headers=headers, content_type="application/json"
        )

    def _note(self, request: web.BaseRequest, key: str, status: int) -> None:
        if self._log is not None:
            asked = request.headers.get("Idempotency-Key")
            line = {"body": key, "key": asked, "status": status, "path": request.path, "at": time.time()}
            self._log.write(json.dumps(line) + "\n")
            self._log.flush()

    def _answer(
        self, path: str, body: dict[str, Any], key: str, attempt: int
    ) -> tuple[int, dict[str, Any], dict[str, str]]:
        behavior = self.behavior
        if body.get("model") != behavior.model:
            self.counts.refused += 1
            return 404, _error(f"The model `{body.get('model')}` does not exist."), {}
        chance = random.Random(seeded(behavior.seed, key, attempt))
        if chance.random() < behavior.fail:
            self.counts.failed += 1
            if chance.random() < 0.5:
                return 429, _error("Too many requests."), {"Retry-After": str(behavior.retry_after)}
            return 500, _error("Internal error."), {}
        if path.endswith("/embeddings"):
            self.counts.answered += 1
            return 200, self._embeddings(body), {}
        tokens = sum(estimate(message["content"]) for message in body["messages"])
        if behavior.max_model_len and tokens > behavior.max_model_len:
            self.counts.refused += 1
            most = f"This model's maximum context length is {behavior.max_model_len} tokens"
            return 400, _error(f"{most}; the prompt has {tokens}."), {}
        self.counts.answered += 1
        self.counts.prompt_tokens += tokens
        return 200, self._completion(body, key, tokens, random.Random(seeded(behavior.seed, key))), {}

    def _completion(
        self, body: dict[str, Any], key: str, tokens: int, chance: random.Random
    ) -> dict[str, Any]:
        form = body.get("response_format") or {}
        if form.get("type") == "json_schema":
            said = json.dumps(random_instance(form["json_schema"]["schema"], chance))
            if chance.random() < self.behavior.garble:
                self.counts.garbled += 1
                said = said[: len(said) // 2]
        else:
            said = random_text(chance, self.behavior.words)
        finish_reason = "stop"
        if self.behavior.cut_at and estimate(said) > self.behavior.cut_at:
            said, finish_reason = said[: 4 * self.behavior.cut_at], "length"
        return {
            "id": f"chatcmpl-{key}",
            "object": "chat.completion",
            "created": 0,
            "model": self.behavior.model,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish_reason,
                    "message": {"role": "assistant", "content": said},
                }
            ],
            "usage": {
                "prompt_tokens": tokens,
                "completion_tokens": estimate(said),
                "total_tokens": tokens + estimate(said),
                "prompt_tokens_details": {"cached_tokens": tokens // 2},
            },
        }

    def _embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = []
        for index, one in enumerate(texts):
            chance = random.Random(seeded("embedding", one))
            vector: Any = [chance.gauss(0, 1) for _ in range(self.behavior.dimensions)]
            if body.get("encoding_format") == "base64":
                vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            data.append({"object": "embedding", "index": index, "embedding": vector})
        tokens = sum(estimate(one) for one in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": self.behavior.model, "data": data, "usage": usage}


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "StubError"}}


def count_answers(log: Path) -> Counter[str]:
    """Return the number of answered requests in a stub server's log, by request digest."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return Counter(line["key"] or line["body"] for line in lines if line["status"] == 200)


@contextmanager
def stub_process(**behavior: Any) -> Iterator[str]:
    """Run a stub server in a subprocess, and yield its base URL."""
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in behavior.items()]
    with subprocess.Popen(
        [sys.executable, "-m", "resources.stub", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals(),  # noqa: PLW1509  (None unless signals are ignored)
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError(
                    "the stub server did not start. Fix the error that it printed above, then rerun."
                )
            yield url
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def main() -> None:
    """Run the stub server until interrupted, and print its URL first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for one in fields(StubBehavior):
        flag = f"--{one.name.replace('_', '-')}"
        kind = type(one.default)
        parser.add_argument(flag, type=kind, default=one.default, help=one.metadata["help"])
    behavior = StubBehavior(**vars(parser.parse_args()))

    async def serve() -> None:
        async with Stub(behavior) as stub:
            print(stub.url, flush=True)
            await asyncio.Event().wait()

    try:
        uvloop.run(serve())
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()

"""The stub server: routes, counts, the log, outages and embeddings. completions.py has its answers to chat requests.

The server logs answered requests and can fail on purpose. memflow.chat.scripted, not this server, replaces models in
demo runs.
"""

import asyncio
import base64
import json
import random
import re
import struct
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from aiohttp import web

from memflow.fingerprint import digest, seeded
from memflow.tokens import estimate
from stub.behavior import StubBehavior
from stub.calls import Call, Rejection
from stub.completions import completion, rejection
from stub.odd_responses import FATAL, OddResponse, odd_responses
from stub.providers import behaviors_of


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
        self.behaviors = behaviors_of(self.behavior)
        self._odd_responses = odd_responses() if self.behavior.odd else {}
        self.counts = Counts()
        self.port = self.behavior.port
        self.headers: list[Mapping[str, str]] = []
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
        match (request.method, re.sub("/deployments/[^/]+", "", request.path)):  # of Azure's SDK
            case ("GET", "/health"):
                return web.Response()
            case ("GET", "/v1/models"):
                model: dict[str, Any] = {"id": self.behavior.model, "object": "model"}
                if self.behavior.max_model_len:
                    model["max_model_len"] = self.behavior.max_model_len
                return web.json_response({"object": "list", "data": [model]})
            case ("GET", "/version") if self.behavior.version:
                return web.json_response({"version": self.behavior.version})
            case ("GET", "/stub/counts"):
                return web.json_response(asdict(self.counts))
            case ("POST", "/v1/chat/completions" | "/v1/embeddings"):
                return await self._post(request)
        return web.json_response(Rejection(404, f"there is no {request.path}").json(), status=404)

    async def _post(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.json()
        inputs = digest(body.get("messages") or body.get("input"))
        key = digest(
            [inputs, {name: part for name, part in body.items() if name not in ("messages", "input")}]
        )
        attempt = self._tries[key]
        self._tries[key] += 1
        counts = self.counts
        counts.asked += 1
        counts.in_flight += 1
        counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
        if len(self.headers) < 100:
            self.headers.append(request.headers.copy())
        try:
            if self.behavior.latency:
                await asyncio.sleep(self.behavior.latency)
            odd = self._odd_response(body, key)
            if odd is not None:
                assert request.transport is not None
                await odd.send(request.transport)
                return web.Response()
            status, answer, headers = self._answer(request, body, inputs, key, attempt)
            self._note(request, key, status)
        finally:
            counts.in_flight -= 1
        if self.behavior.die_after and counts.answered >= self.behavior.die_after and self._outage is None:
            self._outage = asyncio.create_task(self._restart_later())
        return web.Response(
            text=json.dumps(answer), status=status, headers=headers, content_type="application/json"
        )

    def _odd_response(self, body: dict[str, Any], key: str) -> OddResponse | None:
        if not self.behavior.odd or "messages" not in body:
            return None
        named = self._odd_responses.get(body["messages"][-1]["content"].removeprefix("odd response: "))
        chance = random.Random(seeded(self.behavior.seed, "odd", key))
        if named is not None or chance.random() >= self.behavior.odd:
            return named
        kept = ("answered", "cut", *FATAL)
        return chance.choice([each for each in self._odd_responses.values() if each.outcome not in kept])

    def _note(self, request: web.BaseRequest, key: str, status: int) -> None:
        if self._log is not None and request.transport is not None and not request.transport.is_closing():
            asked = request.headers.get("Idempotency-Key")
            line = {"body": key, "key": asked, "status": status, "path": request.path, "at": time.time()}
            self._log.write(json.dumps(line) + "\n")
            self._log.flush()

    def _answer(
        self,
        request: web.BaseRequest,
        body: dict[str, Any],
        inputs: str,
        key: str,
        attempt: int,
    ) -> tuple[int, Any, Mapping[str, str]]:
        rejected = self._rejection(request, body, key, attempt)
        if rejected is not None:
            return rejected.status, rejected.json(), rejected.headers
        self.counts.answered += 1
        if request.path.endswith("/embeddings"):
            return 200, self._embeddings(body), {}
        call = self._call(request, body, attempt)
        self.counts.prompt_tokens += call.tokens
        answer, garbled = completion(call, inputs, self.behaviors)
        self.counts.garbled += garbled
        return 200, answer, {}

    def _rejection(
        self, request: web.BaseRequest, body: dict[str, Any], key: str, attempt: int
    ) -> Rejection | None:
        settings = self.behavior
        if body.get("model") != settings.model:
            self.counts.refused += 1
            return Rejection(404, f"The model `{body.get('model')}` does not exist.")
        chance = random.Random(seeded(settings.seed, key, attempt))
        if chance.random() < settings.fail:
            self.counts.failed += 1
            if chance.random() < 0.5:
                return Rejection(429, "Too many requests.", headers={"Retry-After": "0.05"})
            return Rejection(500, "Internal error.")
        if request.path.endswith("/embeddings"):
            return None
        rejected = rejection(self._call(request, body, attempt), self.behaviors)
        self.counts.refused += rejected is not None
        return rejected

    def _call(self, request: web.BaseRequest, body: dict[str, Any], attempt: int) -> Call:
        return Call(body, self.behavior, request.headers, request.query, attempt)

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

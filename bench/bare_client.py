"""A client that only posts recorded requests and waits for the answers: the peer of benchmarks over HTTP.

The client has no memory, no ledger, no retries and no parsing. memflow's additional wall time is its overhead.
"""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import aiohttp

from memflow.chat.requests import Chat, ChatRequest, Completion
from memflow.run.play import PlayedEpisode
from resources.endpoints.profiles import Profile
from resources.endpoints.request_bodies import RequestBodies

Chain = Sequence[bytes]
"""Request bodies, each of which is sent after the answer to the one before."""


@dataclass
class RecordingChat:
    """A chat that forwards requests to another chat and records them."""

    inner: Chat
    requests: list[ChatRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fingerprint, self.sampling = self.inner.fingerprint, self.inner.sampling
        self.bound = self.inner.bound
        self.scripted = self.inner.scripted

    async def complete(self, request: ChatRequest) -> Completion:
        """Record the request. Return the other chat's answer."""
        self.requests.append(request)
        return await self.inner.complete(request)

    def bodies(self) -> dict[str, bytes]:
        """Return the body of each recorded request by its digest."""
        build = RequestBodies(Profile()).build
        return {
            request.digest(self.fingerprint): json.dumps(build("stub", request)).encode()
            for request in self.requests
        }


def chains_of(played: Sequence[PlayedEpisode], bodies: dict[str, bytes]) -> list[Chain]:
    """Remove the bodies of each episode's requests from `bodies`. Return the chains in order, one list per episode."""
    return [
        [bodies.pop(line.completion) for line in episode.lines if line.completion is not None]
        for episode in played
    ]


async def replay(url: str, chains: Sequence[Chain], concurrency: int) -> float:
    """Post several chains of requests concurrently. Return the wall seconds."""
    connector = aiohttp.TCPConnector(limit=concurrency)
    headers = {"Content-Type": "application/json"}
    slots = asyncio.Semaphore(concurrency)

    async def post(session: aiohttp.ClientSession, chain: Chain) -> None:
        for body in chain:
            async with slots, session.post(f"{url}/chat/completions", data=body) as response:
                response.raise_for_status()
                await response.read()

    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        began = time.perf_counter()
        await asyncio.gather(*(post(session, chain) for chain in chains))
        return time.perf_counter() - began

"""The OpenAI SDK alone, which sends recorded requests and waits for the answers: the peer of benchmarks over HTTP.

The peer calls `chat.completions.create`, as a program without memflow would. It has no memory and no ledger.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memflow.chat.requests import Chat, ChatRequest, Completion
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.request_bodies import RequestBodies
from memflow.run.play import PlayedEpisode

Chain = Sequence[dict[str, Any]]
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

    def bodies(self) -> dict[str, dict[str, Any]]:
        """Return the body of each recorded request by its digest."""
        build = RequestBodies(Profile()).build
        return {request.digest(self.fingerprint): build("stub", request) for request in self.requests}


def chains_of(played: Sequence[PlayedEpisode], bodies: dict[str, dict[str, Any]]) -> list[Chain]:
    """Remove the bodies of each episode's requests from `bodies`. Return the chains in order, one list per episode."""
    return [
        [bodies.pop(line.completion) for line in episode.lines if line.completion is not None]
        for episode in played
    ]


async def replay(url: str, chains: Sequence[Chain], concurrency: int) -> float:
    """Send several chains of requests concurrently. Return the CPU seconds of this process."""
    import openai

    slots = asyncio.Semaphore(concurrency)

    async def send(client: openai.AsyncOpenAI, chain: Chain) -> None:
        for body in chain:
            async with slots:
                await client.chat.completions.create(**body)

    http = openai.DefaultAioHttpClient(trust_env=False)
    async with openai.AsyncOpenAI(base_url=url, api_key="EMPTY", http_client=http) as client:
        used = time.process_time()
        await asyncio.gather(*(send(client, chain) for chain in chains))
        return time.process_time() - used

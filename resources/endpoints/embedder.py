"""The embedder at an endpoint: implements memflow.memories.memory.Embedder.

The hashing embedder, which needs no model, is memflow/memories/hashing_embedder.py.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from memflow.chat.conversation import EPISODE
from memflow.errors import BadInput, NoAnswer, PromptTooLong
from memflow.fingerprint import digest
from memflow.memories.entries import Vector
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.replies import BrokenReply, ErrorReply
from memflow.resources.models.event_loop import detached
from memflow.timing import took

BATCH = 128
"""Maximum number of texts per request."""
RESPONSE_BYTES = 64 * 2**20
"""Maximum size of a response: BATCH vectors of 16,384 numbers, each of 32 characters."""
CONCURRENCY = 16
"""Maximum number of concurrent requests."""
PAUSE_S = 0.002
"""Texts are collected until no new one has arrived for so many seconds."""
MAX_WAIT_S = 0.05
"""Texts are collected for at most so many seconds."""


class TimedVector(NamedTuple):
    """The vector of a text, and the text's share of the seconds of its embedding request."""

    vector: Vector
    seconds: float


class VectorStore(Protocol):
    """The protocol of a cache of vectors by content hash of model and text, implemented by SqlLedger."""

    def vectors(self, digests: Sequence[str]) -> dict[str, TimedVector]:
        """Return the cached vectors by content hash; missing vectors are omitted."""
        ...

    def keep_vectors(self, vectors: Mapping[str, TimedVector]) -> None:
        """Cache vectors by content hash."""
        ...


class EndpointEmbedder:
    """An embedding model at an OpenAI-compatible address, such as vLLM's pooling runner.

    Hundreds of episodes run in one event loop, and each embeds one message at a time. The texts of concurrent calls are
    collected while new ones arrive, and sent in requests of up to BATCH texts. `dimensions` is 0 until the first
    response. An asynchronous context manager; raises the errors of Endpoint.post.
    """

    def __init__(
        self, url: str, model: str, ledger: VectorStore, *, key_variable: str = "OPENAI_API_KEY"
    ) -> None:
        self.model = model
        self.ledger = ledger
        self.dimensions = 0
        self.fingerprint = digest("embedding", model)
        self.endpoint = Endpoint(
            url,
            key_variable=key_variable,
            concurrency=CONCURRENCY,
            response_bytes=RESPONSE_BYTES,
            setting="`url` of [embedder] in memflow.toml",
        )
        self._futures: dict[str, asyncio.Future[TimedVector]] = {}
        self._collected: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "EndpointEmbedder":
        await self.endpoint.__aenter__()
        return self

    async def __aexit__(self, *exit_: object) -> None:
        unfinished: list[asyncio.Future[Any]] = [*self._tasks, *self._futures.values()]
        for waiting in unfinished:
            waiting.cancel()
        self._futures, self._collected = {}, {}
        await self.endpoint.__aexit__(*exit_)

    async def embed(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of the texts, of shape (n, dimensions); cached vectors are not requested again.

        The recorded time of a text is its share of its request's seconds, also if its vector is cached.
        """
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        keys = [digest(self.fingerprint, text) for text in texts]
        futures = {key: self._future(key, text) for key, text in zip(keys, texts, strict=True)}
        # asyncio.gather would cancel futures that others wait for too.
        await asyncio.wait(futures.values(), return_when=asyncio.FIRST_EXCEPTION)
        for future in futures.values():
            if future.done() and (error := future.exception()) is not None:
                raise error
        embedded = {key: future.result() for key, future in futures.items()}
        took(sum(each.seconds for each in embedded.values()))
        vectors = np.stack([embedded[key].vector for key in keys])
        self.dimensions = vectors.shape[1]
        return vectors

    def _future(self, key: str, text: str) -> asyncio.Future[TimedVector]:
        future = self._futures.get(key)
        if future is None:
            future = self._futures[key] = asyncio.get_running_loop().create_future()
            if not self._collected:
                task = detached(self._collect())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            self._collected[key] = text
        return future

    async def _collect(self) -> None:
        """Embed the texts that arrive within a moment: from the ledger, or by requests of about equal size."""
        loop = asyncio.get_running_loop()
        until, seen = loop.time() + MAX_WAIT_S, 0
        while seen < len(self._collected) and loop.time() < until:
            seen = len(self._collected)
            await asyncio.sleep(PAUSE_S)
        texts, self._collected = self._collected, {}
        try:
            cached = await asyncio.to_thread(self.ledger.vectors, [*texts])
        except Exception as error:  # noqa: BLE001  (`embed` raises it)
            self._fail(texts, error)
            return
        self._finish(cached)
        missing = [key for key in texts if key not in cached]
        size = -(-len(missing) // max(1, -(-len(missing) // BATCH)))
        batches = [missing[start : start + size] for start in range(0, len(missing), size or 1)]
        await asyncio.gather(*(self._request(batch, texts) for batch in batches))

    async def _request(self, keys: Sequence[str], text_of: Mapping[str, str]) -> None:
        """Request the vectors of a batch. An error affects only the texts of the batch."""
        try:
            self._finish(await self._batch(keys, text_of))
        except Exception as error:  # noqa: BLE001  (`embed` raises it)
            if isinstance(error, PromptTooLong) and len(keys) > 1:
                # One text is too long for the model; the others are not.
                halves = (keys[: len(keys) // 2], keys[len(keys) // 2 :])
                await asyncio.gather(*(self._request(half, text_of) for half in halves))
            else:
                self._fail(keys, error)

    def _finish(self, vectors: Mapping[str, TimedVector]) -> None:
        for key, vector in vectors.items():
            self._futures.pop(key).set_result(vector)

    def _fail(self, keys: Iterable[str], error: Exception) -> None:
        for key in keys:
            failed = self._futures.pop(key)
            failed.set_exception(error)
            failed.exception()  # mark it as retrieved: `embed` raises the first of several

    async def _batch(self, keys: Sequence[str], text_of: Mapping[str, str]) -> dict[str, TimedVector]:
        EPISODE.set("")  # the texts are of several conversations
        sent = {"model": self.model, "input": [text_of[key] for key in keys], "encoding_format": "float"}
        received, latency = await self.endpoint.post("/embeddings", sent, read_vectors)
        lengths = {len(vector) for vector in received}
        if len(received) != len(keys) or (self.dimensions and lengths != {self.dimensions}):
            wrong = (
                f"{self.endpoint.address} returned {len(received)} vectors for {len(keys)} texts, of lengths "
                f"{sorted(lengths)}. Check that {self.model} is the embedding model, and is not replaced during a run."
            )
            # One odd response of a model that works costs its texts.
            raise NoAnswer(wrong) if self.dimensions else BadInput(wrong)
        self.dimensions = min(lengths)
        vectors = {
            key: TimedVector(_unit(vector), latency / len(keys))
            for key, vector in zip(keys, received, strict=True)
        }
        await asyncio.to_thread(self.ledger.keep_vectors, vectors)
        return vectors


class _Embedding(BaseModel):
    index: int
    embedding: list[FiniteFloat] = Field(min_length=1)


class _Embeddings(BaseModel):
    error: Any = None
    data: list[_Embedding] = Field(default_factory=list)


def read_vectors(content: bytes) -> list[Vector]:
    """Return the vectors in a response in the order of their texts. Raises BrokenReply and ErrorReply."""
    try:
        response = _Embeddings.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BrokenReply(f"the response contains no list of embeddings ({first['msg']})") from error
    if response.error:
        raise ErrorReply(response.error)
    data = sorted(response.data, key=lambda one: one.index)
    if len({len(one.embedding) for one in data}) > 1:
        raise BrokenReply("the response contains vectors of different lengths")
    with np.errstate(over="ignore"):
        vectors = [np.asarray(one.embedding, dtype=np.float32) for one in data]
        if not all(np.isfinite(np.linalg.norm(vector)) for vector in vectors):
            raise BrokenReply("the response contains a vector whose numbers are too large")
    return vectors


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector

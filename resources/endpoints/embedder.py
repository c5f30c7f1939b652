"""The embedder at an endpoint: implements memflow.memories.memory.Embedder.

The hashing embedder, which needs no model, is memflow/memories/hashing_embedder.py.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from memflow.chat.conversation import EPISODE
from memflow.errors import BadInput, NoAnswer, PromptTooLong
from memflow.fingerprint import digest
from memflow.memories.entries import Vector
from memflow.timing import took
from resources.endpoints.endpoint import Endpoint
from resources.endpoints.replies import BrokenReply, ErrorReply
from resources.endpoints.request_batcher import OnResult, RequestBatcher

BATCH = 128
"""Maximum number of texts per request."""
RESPONSE_BYTES = 64 * 2**20
"""Maximum size of a response: BATCH vectors of 16,384 numbers, each of 32 characters."""
CONCURRENCY = 16
"""Maximum number of concurrent requests."""


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

    Concurrent calls of many episodes are merged into requests of up to BATCH texts. As an asynchronous context manager,
    the embedder keeps connections open; otherwise each call opens a connection. `dimensions` is 0 until the first
    response. Raises the errors of Endpoint.post.
    """

    def __init__(
        self,
        url: str,
        model: str,
        ledger: VectorStore,
        *,
        key_variable: str = "OPENAI_API_KEY",
        concurrency: int = CONCURRENCY,
        patience: float = 120.0,
        endpoint: Endpoint | None = None,
    ) -> None:
        self.model = model
        self.ledger = ledger
        self.dimensions = 0
        self.fingerprint = digest("embedding", model)
        self.endpoint = endpoint or Endpoint(
            url,
            key_variable=key_variable,
            concurrency=concurrency,
            patience=patience,
            response_bytes=RESPONSE_BYTES,
            setting="`url` of [embedder] in memflow.toml",
        )
        self._batcher: RequestBatcher[TimedVector] | None = None

    async def __aenter__(self) -> "EndpointEmbedder":
        await self.endpoint.__aenter__()
        self._batcher = RequestBatcher(self._fetch)
        return self

    async def __aexit__(self, *exit_: object) -> None:
        if self._batcher is not None:
            self._batcher.close()
        self._batcher = None
        await self.endpoint.__aexit__(*exit_)

    async def embed(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of the texts, of shape (n, dimensions); cached vectors are not requested again.

        The recorded time of a text is its share of its request's seconds, also if its vector is cached.
        """
        if self._batcher is None:
            async with self:
                return await self.embed(texts)
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        keys = [digest(self.fingerprint, text) for text in texts]
        found = await self._batcher.of(dict(zip(keys, texts, strict=True)))
        took(sum(each.seconds for each in found.values()))
        vectors = np.stack([found[key].vector for key in keys])
        self.dimensions = vectors.shape[1]
        return vectors

    async def _fetch(self, text_of: Mapping[str, str], have: OnResult[TimedVector]) -> None:
        """Call `have` with the vector of each text: from the ledger, or from requests of about equal size."""
        kept = await asyncio.to_thread(self.ledger.vectors, [*text_of])
        for key, embedded in kept.items():
            have(key, embedded)
        missing = [key for key in text_of if key not in kept]
        size = -(-len(missing) // max(1, -(-len(missing) // BATCH)))
        batches = [missing[start : start + size] for start in range(0, len(missing), size or 1)]

        async def ask(keys: list[str]) -> None:
            try:
                vectors = await self._batch(keys, text_of)
            except PromptTooLong:
                if len(keys) == 1:
                    raise
                # One text is too long for the model; the others are not.
                halves = (keys[: len(keys) // 2], keys[len(keys) // 2 :])
                failures = await asyncio.gather(*map(ask, halves), return_exceptions=True)
                for failure in filter(None, failures):
                    raise failure from None
                return
            for key, embedded in vectors.items():
                have(key, embedded)

        for wrong in await asyncio.gather(*map(ask, batches), return_exceptions=True):
            if wrong is not None:
                raise wrong

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

"""The embedder at an endpoint: implements memflow.memories.memory.Embedder.

The hashing embedder, which needs no model, is memflow/memories/hashing_embedder.py.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from memflow.chat.conversation import EPISODE
from memflow.memories.entries import Vector
from memflow.resources.endpoints.embedding_form import EmbeddingForm
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.replies import BrokenReply, ErrorReply
from memflow.resources.models.cached_embedder import CachedEmbedder, VectorStore

RESPONSE_BYTES = 64 * 2**20
"""Maximum size of a response: 128 vectors of 16,384 numbers, each of 32 characters."""
LARGEST = 1e15
"""Maximum of the numbers of a vector, whose length is a 32-bit float."""
CONCURRENCY = 16
"""Maximum number of concurrent requests."""


class EndpointEmbedder(CachedEmbedder):
    """An embedding model at an OpenAI-compatible address, such as vLLM's pooling runner.

    An asynchronous context manager; raises the errors of Endpoint.send.
    """

    def __init__(
        self,
        url: str,
        model: str,
        ledger: VectorStore,
        *,
        form: EmbeddingForm | None = None,
        length: int | None = None,
        key_variable: str = "OPENAI_API_KEY",
    ) -> None:
        super().__init__(model, ledger, form or EmbeddingForm(), length)
        self.endpoint = Endpoint(
            url,
            key_variable=key_variable,
            concurrency=CONCURRENCY,
            response_bytes=RESPONSE_BYTES,
            setting="`url` of [embedder] in memflow.toml",
        )

    async def __aenter__(self) -> "EndpointEmbedder":
        await self.endpoint.__aenter__()
        return self

    async def __aexit__(self, *exit_: object) -> None:
        self.cancel()
        await self.endpoint.__aexit__(*exit_)

    @property
    def source(self) -> str:
        """The address."""
        return self.endpoint.address

    async def request(
        self, texts: Sequence[str], fields: Mapping[str, Any]
    ) -> tuple[Sequence[Vector], float]:
        """Send the texts in one request. Return their vectors, in order, and the latency in seconds."""
        EPISODE.set("")  # the texts are of several conversations
        body = self.form.body(self.model, texts, fields, self.length)
        return await self.endpoint.send("/embeddings", read_vectors, body)


class _Embedding(BaseModel):
    index: int
    embedding: list[Annotated[float, Field(ge=-LARGEST, le=LARGEST)]] = Field(min_length=1)


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
    data = sorted(response.data, key=lambda embedding: embedding.index)
    if len({len(embedding.embedding) for embedding in data}) > 1:
        raise BrokenReply("the response contains vectors of different lengths")
    return [np.asarray(embedding.embedding, dtype=np.float32) for embedding in data]

"""Embedders of the outside world, each keeping memflow.memories.memory.Embedder: an endpoint, or a folder of
weights.

The hashing embedder, which needs nothing, is memflow/hashing.py.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from memflow.errors import BadInput, BadSettings, MissingData
from memflow.fingerprint import digest
from memflow.memories.entries import Vector
from memflow.timing import took
from resources.endpoint import Endpoint
from resources.folders import sums

BATCH = 128
"""Texts of one request."""


class VectorStore(Protocol):
    """What keeps vectors, so that none is asked for twice: resources.ledger.SqlLedger."""

    def vectors(self, digests: Sequence[str]) -> dict[str, Vector]:
        """The kept vectors among `digests`."""
        ...

    def keep_vectors(self, vectors: dict[str, Vector]) -> None:
        """Keep vectors by digest."""
        ...


class EndpointEmbedder:
    """An embedding model at an OpenAI-compatible address, such as vLLM's pooling runner.

    Best entered (async with), so that its connections are kept; otherwise each call makes its own.
    `dimensions` is 0 until the first answer. Raises what Endpoint.post raises.
    """

    def __init__(
        self,
        url: str,
        model: str,
        ledger: VectorStore,
        *,
        key_variable: str = "OPENAI_API_KEY",
        concurrency: int = 16,
        patience: float = 120.0,
        endpoint: Endpoint | None = None,
    ) -> None:
        self.model = model
        self.ledger = ledger
        self.dimensions = 0
        self.fingerprint = digest("embedding", model)
        self.endpoint = endpoint or Endpoint(
            url, key_variable=key_variable, concurrency=concurrency, patience=patience
        )

    async def __aenter__(self) -> "EndpointEmbedder":
        await self.endpoint.__aenter__()
        return self

    async def __aexit__(self, *exit_: object) -> None:
        await self.endpoint.__aexit__(*exit_)

    async def embed(self, texts: Sequence[str]) -> Vector:
        """The texts' unit vectors; those the ledger keeps are not asked for."""
        keys = [digest(self.fingerprint, text) for text in texts]
        text_of = dict(zip(keys, texts, strict=True))
        found = self.ledger.vectors(list(text_of))
        missing = [key for key in text_of if key not in found]
        if missing:
            found = {**found, **await self._all(missing, text_of)}
        if not keys:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        vectors = np.stack([found[key] for key in keys])
        self.dimensions = vectors.shape[1]
        return vectors

    async def _all(self, keys: list[str], text_of: dict[str, str]) -> dict[str, Vector]:
        if not self.endpoint.is_open:
            async with self:
                return await self._all(keys, text_of)
        batches = [keys[start : start + BATCH] for start in range(0, len(keys), BATCH)]
        found: dict[str, Vector] = {}
        for vectors in await asyncio.gather(*(self._batch(batch, text_of) for batch in batches)):
            found.update(vectors)
        return found

    async def _batch(self, keys: list[str], text_of: dict[str, str]) -> dict[str, Vector]:
        sent = {"model": self.model, "input": [text_of[key] for key in keys], "encoding_format": "float"}
        answer, latency = await self.endpoint.post("/embeddings", sent)
        took(latency)
        data = sorted(answer.get("data") or (), key=lambda one: one["index"])
        if len(data) != len(keys):
            raise BadInput(
                f"{self.endpoint.url} gave {len(data)} vectors for {len(keys)} texts; "
                f"is {self.model} an embedding model?"
            )
        vectors = {
            key: _unit(np.asarray(one["embedding"], dtype=np.float32))
            for key, one in zip(keys, data, strict=True)
        }
        self.ledger.keep_vectors(vectors)
        return vectors


class FolderEmbedder:
    """A sentence-transformers model in a local folder. It is loaded at the first use and never downloaded."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()
        if not self.folder.is_dir():
            raise MissingData(
                f"{self.folder} is not there; `embedder.model` names a folder of sentence-transformers"
            )
        self.fingerprint = digest("folder", sums(self.folder))
        self.dimensions = 0
        self._loaded: Any = None

    async def embed(self, texts: Sequence[str]) -> Vector:
        """The texts' unit vectors, made in a thread beside the event loop."""
        if self._loaded is None:
            self._loaded = await asyncio.to_thread(self._load)
            self.dimensions = int(self._loaded.get_sentence_embedding_dimension())
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> Vector:
        began = time.perf_counter()
        vectors = self._loaded.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        took(time.perf_counter() - began)
        return np.asarray(vectors, dtype=np.float32)

    def _load(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise BadSettings(
                "an embedder of kind folder needs sentence-transformers; install memflow[local-embedder]"
            ) from error
        return SentenceTransformer(str(self.folder), local_files_only=True)


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector

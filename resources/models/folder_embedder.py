"""The embedder of a local folder of weights: implements memflow.memories.memory.Embedder."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memflow.errors import BadSettings, MissingData
from memflow.fingerprint import digest
from memflow.memories.entries import Vector
from memflow.resources.files.checksums import checksums
from memflow.timing import took


class FolderEmbedder:
    """A sentence-transformers model in a local folder, loaded on first use. Nothing is downloaded."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()
        if not self.folder.is_dir():
            raise MissingData(
                f"the folder {self.folder} does not exist. Set `model` under [embedder] in memflow.toml "
                "to a folder of sentence-transformers weights."
            )
        self.fingerprint = digest("folder", checksums(self.folder))
        self.dimensions = 0
        self._loaded: Any = None

    async def embed(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of the texts, of shape (n, dimensions), computed in a thread."""
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
                "the embedder of kind folder needs sentence-transformers, which is not installed. "
                "Install memflow-bench[local-embedder]."
            ) from error
        return SentenceTransformer(str(self.folder), local_files_only=True)

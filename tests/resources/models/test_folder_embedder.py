"""The embedder of a local folder of weights."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from memflow.errors import BadSettings, MissingData
from memflow.resources.models.folder_embedder import FolderEmbedder


async def test_folder_embedder_reports_missing_folder_or_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingData, match=r"the folder .* does not exist"):
        FolderEmbedder(tmp_path / "none")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(BadSettings, match=r"memflow-bench\[local-embedder\]"):
        await FolderEmbedder(tmp_path).embed(["a"])


async def test_folder_embedder_loads_its_folder_with_sentence_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def transformer(folder: str, local_files_only: bool) -> SimpleNamespace:
        assert local_files_only
        return SimpleNamespace(get_sentence_embedding_dimension=lambda: 3, encode=encode)

    def encode(texts: list[str], *, normalize_embeddings: bool, show_progress_bar: bool) -> np.ndarray:
        assert normalize_embeddings
        return np.eye(3)[: len(texts)]

    package = SimpleNamespace(SentenceTransformer=transformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    (tmp_path / "weights").write_bytes(b"1")
    embedder = FolderEmbedder(tmp_path)
    vectors = await embedder.embed(["a", "b"])
    assert (vectors.shape, vectors.dtype, embedder.dimensions) == ((2, 3), np.float32, 3)
    (tmp_path / "weights").write_bytes(b"2")
    assert FolderEmbedder(tmp_path).fingerprint != embedder.fingerprint

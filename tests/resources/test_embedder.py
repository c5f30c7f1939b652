"""embedder.py: unit vectors in order, asked for once, in batches."""

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from memflow.errors import BadInput, BadSettings, MissingData
from resources.embedder import BATCH, EndpointEmbedder, FolderEmbedder
from resources.ledger import SqlLedger
from resources.stub import Behaviour, Stub


@pytest.fixture
def ledger(tmp_path: Path):
    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
        yield ledger


async def test_unit_vectors_in_the_order_of_the_texts(ledger: SqlLedger) -> None:
    texts = [f"text {n % 200}" for n in range(300)]
    async with Stub(Behaviour(dimensions=16)) as stub, EndpointEmbedder(stub.url, "stub", ledger) as embedder:
        vectors = await embedder.embed(texts)
        assert stub.counts.asked == -(-200 // BATCH)
        one = await embedder.embed(["text 7"])
        again = await embedder.embed(texts)
        assert stub.counts.asked == -(-200 // BATCH)
        assert (await embedder.embed([])).shape == (0, 16)
    assert vectors.shape == (300, 16)
    assert vectors.dtype == np.float32
    assert embedder.dimensions == 16
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert np.array_equal(vectors[:100], vectors[200:])
    assert np.array_equal(vectors[7], one[0])
    assert np.array_equal(vectors, again)
    assert not np.allclose(vectors[0], vectors[1])


def test_it_works_without_being_entered_in_one_loop_after_the_other(ledger: SqlLedger) -> None:
    async def session(text: str) -> np.ndarray:
        async with Stub(Behaviour(fail=0.3, retry_after=0.0)) as stub:
            return await EndpointEmbedder(stub.url, "stub", ledger).embed([text])

    assert np.array_equal(asyncio.run(session("a")), asyncio.run(session("a")))


async def test_a_model_that_gives_too_few_vectors_is_named(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stub, "_embeddings", lambda self, body: {"data": []})
    async with Stub() as stub:
        with pytest.raises(BadInput, match="0 vectors for 1 texts; is stub an embedding model"):
            await EndpointEmbedder(stub.url, "stub", ledger).embed(["a"])


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="is not there"):
        FolderEmbedder(tmp_path / "none")


async def test_a_folder_without_the_extra_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(BadSettings, match=r"memflow\[local-embedder\]"):
        await FolderEmbedder(tmp_path).embed(["a"])


async def test_a_folder_is_read_by_sentence_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Transformer:
        def __init__(self, folder: str, local_files_only: bool) -> None:
            assert local_files_only

        def get_sentence_embedding_dimension(self) -> int:
            return 3

        def encode(
            self, texts: list[str], *, normalize_embeddings: bool, show_progress_bar: bool
        ) -> np.ndarray:
            assert normalize_embeddings
            return np.eye(3)[: len(texts)]

    monkeypatch.setitem(
        sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Transformer)
    )
    (tmp_path / "weights").write_bytes(b"1")
    embedder = FolderEmbedder(tmp_path)
    vectors = await embedder.embed(["a", "b"])
    assert (vectors.shape, vectors.dtype, embedder.dimensions) == ((2, 3), np.float32, 3)
    (tmp_path / "weights").write_bytes(b"2")
    assert FolderEmbedder(tmp_path).fingerprint != embedder.fingerprint

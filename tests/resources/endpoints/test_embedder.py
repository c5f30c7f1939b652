"""Embedders: unit vectors in input order, batches, cached vectors and errors."""

import asyncio
import time
from pathlib import Path

import numpy as np
import pytest
from stub import Stub, StubBehavior
from stub.calls import Rejection

from memflow.chat.conversation import EPISODE
from memflow.errors import BadInput, NoAnswer, PromptTooLong
from memflow.resources.endpoints.embedder import EndpointEmbedder, read_vectors
from memflow.resources.endpoints.replies import BrokenReply, ErrorReply
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.timing import timed


@pytest.fixture
def ledger(tmp_path: Path):
    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
        yield ledger


async def test_embed_returns_unit_vectors_in_input_order_and_sends_each_text_once(ledger: SqlLedger) -> None:
    texts = [f"text {n % 200}" for n in range(300)]
    async with (
        Stub(StubBehavior(dimensions=16)) as stub,
        EndpointEmbedder(stub.url, "stub", ledger) as embedder,
    ):
        vectors = await embedder.embed(texts)
        assert stub.counts.asked == -(-200 // 128)
        one = await embedder.embed(["text 7"])
        again = await embedder.embed(texts)
        assert stub.counts.asked == -(-200 // 128)
        assert (await embedder.embed([])).shape == (0, 16)
    assert vectors.shape == (300, 16)
    assert vectors.dtype == np.float32
    assert embedder.dimensions == 16
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert np.array_equal(vectors[:100], vectors[200:])
    assert np.array_equal(vectors[7], one[0])
    assert np.array_equal(vectors, again)
    assert not np.allclose(vectors[0], vectors[1])


async def test_concurrent_episodes_share_embedding_requests(ledger: SqlLedger) -> None:
    async with (
        Stub(StubBehavior(latency=0.01)) as stub,
        EndpointEmbedder(stub.url, "stub", ledger) as embedder,
    ):
        steps = 5

        async def episode(number: int) -> list[np.ndarray]:
            texts = [f"message {at} of {number}" for at in range(steps - 1)] + ["said by all"]
            return [await embedder.embed([text]) for text in texts]

        found = await asyncio.gather(*(episode(number) for number in range(200)))
        assert stub.counts.asked <= 3 * steps  # 200 texts do not fit into one
        alone = await embedder.embed(["message 3 of 77"])
    assert np.array_equal(found[77][3], alone)
    assert all(np.array_equal(each[-1], found[0][-1]) for each in found)


async def test_embedding_time_is_divided_among_texts_and_repeated_for_cached_texts(ledger: SqlLedger) -> None:
    async with (
        Stub(StubBehavior(latency=0.05)) as stub,
        EndpointEmbedder(stub.url, "stub", ledger) as embedder,
    ):

        async def seconds(*texts: str) -> float:
            _, watch = await timed(embedder.embed(texts), time.perf_counter)
            assert watch is not None and watch.calls == 0
            return watch.models

        first = await asyncio.gather(seconds("a"), seconds("b", "c", "b"), seconds("a", "d"))
        again = await asyncio.gather(seconds("a"), seconds("b", "c", "b"), seconds("a", "d"))
        assert stub.counts.asked == 1
    request = 4 * first[0]
    assert request > 0.05 and first == pytest.approx([request / 4, request / 2, request / 2])
    assert again == first


async def test_embedder_rejects_only_the_too_long_text_of_a_batch(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stub, "_rejection", lambda self, request, body, key, attempt: too_long(body))

    def too_long(body: dict) -> Rejection | None:
        return Rejection(400, "maximum context length") if "x" * 9000 in body["input"] else None

    async with Stub() as stub, EndpointEmbedder(stub.url, "stub", ledger) as embedder:
        texts = [f"text {n}" for n in range(20)] + ["x" * 9000]
        found = await asyncio.gather(*(embedder.embed([text]) for text in texts), return_exceptions=True)
    assert [isinstance(each, PromptTooLong) for each in found] == [False] * 20 + [True]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"data": null}',
        b'{"data": [4]}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999]}]}',
        b'{"data": [{"index": 0, "embedding": [1e300]}]}',
        b'{"data": [{"index": 0, "embedding": [1e25]}]}',
        b'{"data": [{"index": "x", "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}',
        b"[" * 100_000,
    ],
)
def test_read_vectors_rejects_responses_without_a_list_of_vectors(body: bytes) -> None:
    with pytest.raises(BrokenReply):
        read_vectors(body)


def test_read_vectors_returns_vectors_in_the_order_of_their_texts() -> None:
    found = read_vectors(b'{"data": [{"index": 1, "embedding": [3]}, {"index": 0, "embedding": [2]}]}')
    assert [vector.tolist() for vector in found] == [[2.0], [3.0]]
    with pytest.raises(ErrorReply):
        read_vectors(b'{"error": {"message": "no", "code": 503}}')


async def test_cancelled_caller_does_not_cancel_other_callers_of_the_same_text(ledger: SqlLedger) -> None:
    async with (
        Stub(StubBehavior(latency=0.05)) as stub,
        EndpointEmbedder(stub.url, "stub", ledger) as embedder,
    ):
        first, second = (asyncio.ensure_future(embedder.embed(["a"])) for _ in range(2))
        await asyncio.sleep(0.02)
        first.cancel()
        assert len(await second) == 1 and first.cancelled()


async def test_embedder_sends_a_request_while_new_texts_keep_arriving(ledger: SqlLedger) -> None:
    async with Stub() as stub, EndpointEmbedder(stub.url, "stub", ledger) as embedder:
        calls = [asyncio.ensure_future(embedder.embed(["first"]))]
        while not calls[0].done() and len(calls) < 1000:
            calls.append(asyncio.ensure_future(embedder.embed([f"text {len(calls)}"])))
            await asyncio.sleep(0.001)
        assert calls[0].done() and stub.counts.asked < len(calls)
        await asyncio.gather(*calls)


async def test_closing_the_embedder_cancels_waiting_callers(ledger: SqlLedger) -> None:
    async with Stub(StubBehavior(latency=60)) as stub:
        async with EndpointEmbedder(stub.url, "stub", ledger) as embedder:
            waiting = asyncio.ensure_future(embedder.embed(["a"]))
            await asyncio.sleep(0.1)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(waiting, 1)


async def test_embedder_rejects_a_response_without_vectors(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stub, "_embeddings", lambda self, body: {"data": []})
    async with Stub() as stub, EndpointEmbedder(stub.url, "stub", ledger) as embedder:
        with pytest.raises(BadInput, match=r"0 vectors for 1 texts.* Check that stub is the embedding model"):
            await embedder.embed(["a"])


@pytest.mark.parametrize("vectors", [[], [[1.0, 2.0]]], ids=["no vector", "another length"])
async def test_malformed_response_of_a_working_embedder_fails_only_its_texts(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch, vectors: list[list[float]]
) -> None:
    good = Stub._embeddings

    def answer(self: Stub, body: dict) -> dict:
        odd = [{"index": number, "embedding": vector} for number, vector in enumerate(vectors)]
        return {"data": odd} if body["input"] == ["odd"] else good(self, body)

    monkeypatch.setattr(Stub, "_embeddings", answer)
    async with Stub() as stub, EndpointEmbedder(stub.url, "stub", ledger) as embedder:
        await embedder.embed(["a"])
        with pytest.raises(NoAnswer):
            await embedder.embed(["odd"])
        monkeypatch.setattr(Stub, "_embeddings", good)
        assert (await embedder.embed(["odd", "a"])).shape == (2, embedder.dimensions)


async def test_embedding_requests_belong_to_no_conversation(ledger: SqlLedger) -> None:
    async with (
        Stub(StubBehavior(model="embedder")) as stub,
        EndpointEmbedder(stub.url, "embedder", ledger) as embedder,
    ):
        EPISODE.set("e1")
        await embedder.embed(["a", "b"])
        assert not any("X-Session-ID" in header for header in stub.headers)

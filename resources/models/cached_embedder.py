"""The base class of embedders whose vectors the ledger caches: collects the texts of concurrent calls into batches.

resources/endpoints/embedder.py sends the batches to a server, local_embedders.py computes them in this process.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from memflow.errors import BadInput, NoAnswer, PromptTooLong, RequestRefused
from memflow.fingerprint import canonical_json, digest
from memflow.memories.entries import Vector
from memflow.memories.memory import InputType
from memflow.resources.endpoints.embedding_form import CUT, EmbeddingForm
from memflow.resources.models.event_loop import detached
from memflow.timing import add_model_seconds

PAUSE_S = 0.002
"""Texts are collected until no new one has arrived for so many seconds."""
MAX_WAIT_S = 0.05
"""Texts are collected for at most so many seconds."""
SIZE_REFUSALS = (400, 413, 422)
"""The statuses with which servers refuse a batch that has too many texts."""


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


class SentText(NamedTuple):
    """A text with its prefix, and the further fields of its request as JSON."""

    text: str
    fields: str


class CachedEmbedder(ABC):
    """An embedder whose vectors the ledger caches by what is sent: model, text with prefix, fields, length.

    Hundreds of episodes run in one event loop, and each embeds one message at a time. The texts of concurrent calls are
    collected while new ones arrive, and embedded in batches of up to `form.batch` texts. `dimensions` is 0 until the
    first vectors are known. `length` is the length to which vectors are shortened; None: as the model returns them.
    """

    def __init__(
        self,
        model: str,
        ledger: VectorStore,
        form: EmbeddingForm,
        length: int | None = None,
        weights: str = "",
    ) -> None:
        self.model = model
        self.ledger = ledger
        self.form = form
        self.length = length
        self.dimensions = 0
        self.batch = form.batch
        self._sent_by = digest("embedding", model, length, weights)
        self.fingerprint = digest(self._sent_by, form.digest())
        self._refused: RequestRefused | None = None
        self._futures: dict[str, asyncio.Future[TimedVector]] = {}
        self._collected: dict[str, SentText] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    @abstractmethod
    def source(self) -> str:
        """What returns the vectors, for error messages: an address or a package."""

    @abstractmethod
    async def request(
        self, texts: Sequence[str], fields: Mapping[str, Any]
    ) -> tuple[Sequence[Vector], float]:
        """Return the vectors of a batch of texts with their prefixes, in order, and the seconds that they took."""

    def cancel(self) -> None:
        """Cancel all callers that wait for vectors."""
        unfinished: list[asyncio.Future[Any]] = [*self._tasks, *self._futures.values()]
        for waiting in unfinished:
            waiting.cancel()
        self._futures, self._collected = {}, {}

    async def embed(self, texts: Sequence[str], input_type: InputType | None = None) -> Vector:
        """Return unit vectors of the texts, of shape (n, dimensions); cached vectors are not requested again.

        The recorded time of a text is its share of its request's seconds, also if its vector is cached. Raises the
        errors of `request`, and BadInput or NoAnswer for vectors of another number or length.
        """
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        fields = canonical_json(self.form.fields(input_type))
        sent = [SentText(self.form.text(text, input_type), fields) for text in texts]
        keys = [digest(self._sent_by, *text) for text in sent]
        futures = {key: self._future(key, text) for key, text in zip(keys, sent, strict=True)}
        # asyncio.gather would cancel futures that others wait for too.
        await asyncio.wait(futures.values(), return_when=asyncio.FIRST_EXCEPTION)
        for future in futures.values():
            if future.done() and (error := future.exception()) is not None:
                raise error
        embedded = {key: future.result() for key, future in futures.items()}
        add_model_seconds(sum(timed.seconds for timed in embedded.values()))
        return np.stack([embedded[key].vector for key in keys])

    def _future(self, key: str, text: SentText) -> asyncio.Future[TimedVector]:
        future = self._futures.get(key)
        if future is None:
            future = self._futures[key] = asyncio.get_running_loop().create_future()
            if not self._collected:
                task = detached(self._collect())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            self._collected[key] = text
        return future

    async def _collect(self) -> None:
        """Embed the texts that arrive within a moment: from the ledger, or by requests of about equal size."""
        loop = asyncio.get_running_loop()
        until, seen = loop.time() + MAX_WAIT_S, 0
        while seen < len(self._collected) and loop.time() < until:
            seen = len(self._collected)
            await asyncio.sleep(PAUSE_S)
        texts, self._collected = self._collected, {}
        try:
            cached = await asyncio.to_thread(self.ledger.vectors, [*texts])
            self._check([timed.vector for timed in cached.values()], len(cached), "the ledger")
        except Exception as error:  # noqa: BLE001  (`embed` raises it)
            self._fail(texts, error)
            return
        self._finish(cached)
        groups: dict[str, list[str]] = {}
        for key, text in texts.items():
            if key not in cached:
                groups.setdefault(text.fields, []).append(key)
        await asyncio.gather(*(self._request(batch, texts) for batch in self._batches(groups)))

    def _batches(self, groups: Mapping[str, Sequence[str]]) -> Iterable[Sequence[str]]:
        for keys in groups.values():
            size = -(-len(keys) // -(-len(keys) // self.batch))
            yield from (keys[start : start + size] for start in range(0, len(keys), size))

    async def _request(self, keys: Sequence[str], text_of: Mapping[str, SentText]) -> bool:
        """Request the vectors of a batch. An error affects only the texts of the batch. Return whether all have one.

        A batch that the server refuses is halved. If both halves succeed, later batches have their size.
        """
        if self._refused is not None and not self.dimensions:
            # The server has refused even a single text, and never accepted one.
            self._fail(keys, self._refused)
            return False
        try:
            self._finish(await self._embed_batch(keys, text_of))
        except Exception as error:  # noqa: BLE001  (`embed` raises it)
            is_too_long = isinstance(error, PromptTooLong)
            if isinstance(error, RequestRefused) and (is_too_long or error.status in SIZE_REFUSALS):
                if len(keys) > 1:
                    half = -(-len(keys) // 2)
                    parts = (keys[:half], keys[half:])
                    succeeded = [await self._request(part, text_of) for part in parts]
                    if all(succeeded) and not is_too_long:
                        self.batch = min(self.batch, half)
                    return all(succeeded)
                if not self.dimensions and not is_too_long:
                    error = self._refused = _of_every_batch(error)
            self._fail(keys, error)
            return False
        return True

    def _finish(self, vectors: Mapping[str, TimedVector]) -> None:
        for key, vector in vectors.items():
            self._futures.pop(key).set_result(vector)

    def _fail(self, keys: Iterable[str], error: Exception) -> None:
        for key in keys:
            failed = self._futures.pop(key)
            failed.set_exception(error)
            failed.exception()  # mark it as retrieved: `embed` raises the first of several

    async def _embed_batch(
        self, keys: Sequence[str], text_of: Mapping[str, SentText]
    ) -> dict[str, TimedVector]:
        texts, fields = [text_of[key].text for key in keys], json.loads(text_of[keys[0]].fields)
        received, seconds = await self.request(texts, fields)
        is_cut = self.form.dimensions_field == CUT
        shortened = [vector[: self.length] if is_cut else vector for vector in received]
        self._check(shortened, len(keys), self.source)
        vectors = {
            key: TimedVector(_unit(vector), seconds / len(keys))
            for key, vector in zip(keys, shortened, strict=True)
        }
        await asyncio.to_thread(self.ledger.keep_vectors, vectors)
        return vectors

    def _check(self, vectors: Sequence[Vector], texts: int, source: str) -> None:
        """Raise BadInput for a wrong number or length of vectors; NoAnswer if earlier ones were right."""
        lengths = {len(vector) for vector in vectors}
        expected = self.dimensions or self.length
        if len(vectors) != texts:
            wrong = f"returned {len(vectors)} vectors for {texts} texts"
        elif len(lengths) > 1 or (expected and lengths - {expected}):
            sizes = ", ".join(map(str, sorted(lengths)))
            earlier = f"earlier vectors of {self.model} have" if self.dimensions else "[embedder] asks for"
            wrong = f"returned vectors of {sizes} numbers" + (
                f", and {earlier} {expected}" if expected else ""
            )
        else:
            self.dimensions = self.dimensions or min(lengths, default=0)
            return
        wrong = (
            f"{source} {wrong}. Check that {self.model} is the embedding model, is not replaced during a run, and has "
            "vectors of the length `dimensions`."
        )
        # One odd response of a model that works costs its texts.
        raise NoAnswer(wrong) if self.dimensions else BadInput(wrong)


def _of_every_batch(error: RequestRefused) -> RequestRefused:
    return RequestRefused(
        f"{error} Smaller batches were refused too, down to a single text. Check `model`, `preset` and `dimensions` of "
        "[embedder] in memflow.toml.",
        error.status,
        error.details,
    )


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector

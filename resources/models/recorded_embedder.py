"""The embedder of one step, whose failed requests the ledger records, so that a later run sends them again.

cached_embedder.py caches the vectors. Steps share one embedder, and each records its own failures.
"""

from collections.abc import Sequence

from memflow.chat.ledger import Ledger, RequestContext
from memflow.chat.requests import ChatRequest
from memflow.errors import ChatError
from memflow.memories.entries import Vector
from memflow.memories.memory import Embedder, InputType

EMBEDDING = "embedding"
"""Stands in the ledger for the prompt and the role of embedding requests."""
_REQUEST = ChatRequest(EMBEDDING, {}, ())


class RecordedEmbedder:
    """An embedder that records its failures under the run, stage and partition of `account`."""

    def __init__(self, inner: Embedder, ledger: Ledger, account: RequestContext) -> None:
        self._inner = inner
        self._ledger = ledger
        self._account = account
        self.fingerprint = inner.fingerprint
        self.dimensions = inner.dimensions

    async def embed(self, texts: Sequence[str], input_type: InputType | None = None) -> Vector:
        """Return the vectors of the inner embedder. Raises its errors."""
        try:
            vectors = await self._inner.embed(texts, input_type)
        except ChatError as error:
            self._ledger.record_failure(_REQUEST, self._account, error)
            raise
        self.dimensions = self._inner.dimensions
        return vectors

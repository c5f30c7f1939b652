"""ExternalMemory: the base class of memories with state outside their store, which the player notifies while it plays.

Such a memory cannot be restored from its store alone, so the player announces the start and the end of an episode, and
the queries of each checkpoint before the next write. server/ contains memories that run as programs of their own.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from memflow.memories.memory import Memory


class DatedQuery(str):
    """The text of a probe's query, and `asked_at`: the simulated time of the question, if the data have one."""

    __slots__ = ("asked_at",)
    asked_at: str | None

    def __new__(cls, text: str, asked_at: str | None = None) -> "DatedQuery":
        query = super().__new__(cls, text)
        query.asked_at = asked_at
        return query


def asked_at(query: str) -> str | None:
    """Return the simulated time of a query; None if it has none."""
    return query.asked_at if isinstance(query, DatedQuery) else None


class ExternalMemory(Memory):
    """A memory with state outside its store. It receives texts and times of queries, and no other part of a probe."""

    @classmethod
    def needs_queries(cls, values: Mapping[str, Any]) -> bool:
        """Return whether a memory with these parameters needs the queries of each checkpoint while it is played."""
        return True

    @abstractmethod
    async def on_start(self, episode_id: str) -> None:
        """Prepare for the writes of an episode. If the episode has a base, the store has the base's entries."""

    @abstractmethod
    async def on_checkpoint(self, queries: Sequence[str]) -> None:
        """Prepare for reads as of now. The player calls this method before the next write, with the queries' texts."""

    @abstractmethod
    async def on_end(self, is_base: bool) -> None:
        """Release what later reads do not need. `is_base` is whether another episode continues from this one."""

    def on_abort(self) -> None:
        """Release the memory's resources after an error or a cancellation, without a request."""

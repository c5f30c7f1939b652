"""Stored reads: the answers of a memory server to the queries of a checkpoint, as entries (mode `ask_at_once`)."""

from collections.abc import Sequence
from typing import Any

from memflow.errors import RecallFailed, ServerFailed
from memflow.fingerprint import digest
from memflow.memories.entries import EntryStore, Item
from memflow.memories.external import asked_at
from memflow.memories.server.mirror import NOTES, READ, Mirror
from memflow.memories.server.protocol import ReadAnswer

RERUN = "Rerun with `memflow run --force`, which plays the episodes again."


def new_queries(store: EntryStore, queries: Sequence[str]) -> list[str]:
    """Return the distinct queries without a stored read in the present state."""
    keys = {entry.meta["query"] for entry in store.live(READ)}
    return [query for key, query in {_key(query): query for query in queries}.items() if key not in keys]


def store_read(
    store: EntryStore, mirror: Mirror, query: str, answer: ReadAnswer | str, k: int, *, changes: bool
) -> None:
    """Add an entry that records the answer to a query, or the reason why the read failed.

    `changes` is whether the read changed the memory.
    """
    items: list[Item] = []
    meta: dict[str, Any] = {"query": _key(query), "k": k, **({"changes": True} if changes else {})}
    try:
        if isinstance(answer, str):
            raise ServerFailed(answer)
        items = mirror.add_returned(answer.items)
        if answer.notes and not items:
            items = [store.add(NOTES, answer.notes, sources=())]
        meta |= {
            "entries": [item.entry_id for item in items],
            "ids": [item.id for item in answer.items],
            "scores": [item.score for item in answer.items],
        }
    except ServerFailed as error:
        meta["failed"] = str(error)
    store.add(READ, "failed" if "failed" in meta else f"{len(items)} items", sources=(), meta=meta)


def stored_read(store: EntryStore, query: str, k: int) -> tuple[list[Item], str] | None:
    """Return the entries and the notes of the stored answer to a query; None if nothing was written yet.

    Raises RecallFailed if the read failed, or if there was none.
    """
    key = _key(query)
    read = next((entry for entry in store.live(READ) if entry.meta["query"] == key), None)
    if read is None:
        if not store.sequence:
            return None
        raise RecallFailed(
            "the memory server was not read with this query when its checkpoint was played, because the probe was "
            f"added or changed since. {RERUN}"
        )
    if "failed" in read.meta:
        raise RecallFailed(read.meta["failed"])
    if read.meta["k"] < k:
        raise RecallFailed(f"the memory server was read with k = {read.meta['k']}, not with {k}. {RERUN}")
    items = [item for entry_id in read.meta["entries"] if (item := store.get(entry_id)) is not None]
    if items and items[0].kind == NOTES:
        return [], items[0].text
    return items[:k], ""


def _key(query: str) -> str:
    """Return the digest of a query: of its text, and of its time if it has one."""
    time = asked_at(query)
    return digest(query) if time is None else digest(query, time)

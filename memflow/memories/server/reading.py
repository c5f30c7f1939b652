"""Reads of a memory server as of an earlier state: of a write, of a space that is filled again, or stored ones.

A read ends in a Recall: notes for the prompt from the items that the server returned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from memflow.errors import RecallFailed, ServerFailed
from memflow.fingerprint import digest
from memflow.memories.entries import EntryStore, Item
from memflow.memories.external import asked_at
from memflow.memories.memory import Recall
from memflow.memories.notes import recalled
from memflow.memories.server.capabilities import ASK_AT_ONCE, RESTORE
from memflow.memories.server.mirror import NOTES, READ, Mirror, SentWrite, wire_items
from memflow.memories.server.protocol import Capabilities, Connection, ReadAnswer, SentMessage, WriteAnswer
from memflow.memories.server.session import ServerSession, Space, state_of
from memflow.memories.verbatim import with_date
from memflow.tokens import estimate

RERUN = "Rerun with `memflow run --force`, which plays the episodes again."


@dataclass
class StateReader:
    """A reader of the state that a restored store describes, after `writes`, in the mode of its `declaration`."""

    session: ServerSession
    capabilities: Capabilities
    store: EntryStore
    writes: Sequence[SentWrite]
    declaration: Mapping[str, Any]

    async def read(self, query: str, k: int) -> ReadAnswer:
        """Return the answer to a query. Raises ServerFailed, and RecallFailed if the state is gone."""
        is_restored, episode_id = self._is_restored, self.declaration.get("episode", "")
        space = self.session.find(self._state) if self.writes and not is_restored else None
        if space is not None:
            return await read_space(self.session.connection, space, query, k, self.writes[-1].write)
        key = f"{episode_id} {self._state} {self.store.sequence if is_restored else ''}"
        moment = f"@{len(self.writes)}"
        async with self.session.filled_space(key, episode_id, moment, self._fill) as space:
            return await read_space(self.session.connection, space, query, k)

    @cached_property
    def _state(self) -> str:
        return state_of(self.writes)

    @property
    def _is_restored(self) -> bool:
        return bool(self.writes) and self.declaration["mode"] == RESTORE

    async def _fill(self, space: Space) -> None:
        """Restore the state from the items, or send the writes again, because the space that had them is gone."""
        connection = self.session.connection
        if self._is_restored:
            await connection.reset(space.name)
            await connection.restore(space.name, wire_items(self.store))
        elif self.writes and not self.capabilities.deterministic:
            raise RecallFailed(
                f"the state of the episode {self.declaration['episode']} after write {len(self.writes)} is gone with "
                "the server process that had it, and the server does not declare `deterministic`. "
                f"{RERUN} Or set mode = {ASK_AT_ONCE!r} in memflow.toml."
            )
        else:
            await rewrite(connection, space, self.writes)


async def read_space(
    connection: Connection, space: Space, query: str, k: int, as_of: int | None = None
) -> ReadAnswer:
    """Return at most `k` items of a space for a query, also from a server that returns more. Raises ServerFailed."""
    if space.broken:
        raise ServerFailed(space.broken)
    answer = await connection.read(space.name, query, k, asked_at=asked_at(query), as_of=as_of)
    return answer.model_copy(update={"items": answer.items[:k]})


async def rewrite(connection: Connection, space: Space, writes: Sequence[SentWrite]) -> None:
    """Empty a space, and send writes to it again, except those that failed."""
    await connection.reset(space.name)
    for write in writes:
        space.writes = write.write
        if not write.failed:
            await send_write(connection, space, write)


async def send_write(connection: Connection, space: Space, write: SentWrite) -> WriteAnswer:
    """Send a write, or a request to forget, and return the answer. Raises ServerFailed."""
    if write.forget is not None:
        return await connection.forget(space.name, write.write, write.forget)
    return await connection.write(space.name, write.write, write.messages)


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


def recall_of(items: Sequence[Item], notes: str, budget: int, mirror: Mirror) -> Recall:
    """Return a Recall of items, best first, with their dates; with `notes` of the server's own if it has no items.

    The notes list the items in the order of their first sources. If an item has none, they list them in the order in
    which they were exported. A server without both has its items in the order of the messages whose texts or dates
    they have, followed by items without such a message as the server returned them.
    """
    if not items:
        return Recall(notes=notes, injected_tokens=estimate(notes)) if notes else Recall()
    by_id = {item.entry_id: item for item in items}
    dated = [
        replace(item, text=with_date(item.text, item.meta.get("sent_at")), order=order)
        for item, order in zip(items, _orders(items, mirror), strict=True)
    ]
    recall = recalled(dated, budget or None)
    return replace(
        recall,
        entries=tuple(by_id[item.entry_id] for item in recall.entries),
        ranking=None if recall.ranking is None else tuple(by_id[item.entry_id] for item in recall.ranking),
    )


def _orders(items: Sequence[Item], mirror: Mirror) -> list[int]:
    """Return a number for each item by which the notes list them; equal numbers keep the order of the answer."""
    positions = [mirror.position(item) for item in items]
    positioned = [position for position in positions if position is not None]
    if len(positioned) == len(items):
        return positioned
    if mirror.capabilities.export != "none":
        return [item.order for item in items]
    return likely_positions(items, [message for write in mirror.writes for message in write.messages])


def likely_positions(items: Sequence[Item], messages: Sequence[SentMessage]) -> list[int]:
    """Return the positions of the messages from which items without sources probably came, by their texts and dates.

    It is the message with the largest common text; without one, the first of the item's date; else a position after
    all. Only the order of notes uses it, so that a memory without sources presents its items like all others: it does
    not count as evidence.
    """
    written = [_plain(message.text) for message in messages]
    dates = [message.sent_at for message in messages]
    positions = []
    for item in items:
        text, date = _plain(item.text), item.meta.get("sent_at")
        content = text.partition(": ")[2] or text  # without the name of the speaker
        common = [
            (min(len(message), len(content)), -index)
            for index, message in enumerate(written)
            if message and (message in text or content in message)
        ]
        known = dates.index(date) if date is not None and date in dates else len(messages)
        positions.append(-max(common)[1] if common else known)
    return positions


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()

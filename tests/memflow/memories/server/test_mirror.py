"""The mirror of a server's items: after any exports, the entries of each moment are the items of that moment."""

from collections.abc import Sequence

from faulty_server import EVERYTHING
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.memories.entries import EntryStore
from memflow.memories.memory import FAILURE
from memflow.memories.server.mirror import Mirror, wire_items
from memflow.memories.server.protocol import WireItem

WITHOUT_SOURCES = EVERYTHING.model_copy(update={"sources": "none"})

items = st.builds(
    WireItem,
    id=st.sampled_from("abcdef"),
    text=st.sampled_from(["cat", "dog", "tea"]),
    kind=st.sampled_from(["memory", "fact"]),
    sent_at=st.sampled_from([None, "8 May 2023"]),
    previous=st.sampled_from([None, *"abcdef"]),
    until=st.sampled_from([None, None, None, 3]),
)
answers = st.lists(items, max_size=6, unique_by=lambda item: item.id)
exports = st.lists(answers, min_size=1, max_size=6)


def mirrored(store: EntryStore) -> list[tuple[str, str, str | None]]:
    return sorted(
        (entry.kind, entry.text, entry.meta.get("sent_at") or "") for entry in store.live("memory", "fact")
    )


def current(exported: Sequence[WireItem]) -> list[tuple[str, str, str | None]]:
    return sorted((item.kind, item.text, item.sent_at or "") for item in exported if item.until is None)


def mirror(store: EntryStore) -> Mirror:
    return Mirror(store, WITHOUT_SOURCES, frozenset({FAILURE}))


@given(stream=exports)
@examples(100)
def test_entries_of_each_moment_are_the_items_of_its_export(stream: list[list[WireItem]]) -> None:
    store = EntryStore()
    following = mirror(store)
    for exported in stream:
        store.advance(1)
        following.add_exported(exported)
    for sequence, exported in enumerate(stream, 1):
        assert mirrored(EntryStore.restored(list(store), sequence)) == current(exported)
    assert store.live(FAILURE) == []


@given(stream=exports)
@examples(50)
def test_mirror_of_a_restored_store_continues_like_the_first(stream: list[list[WireItem]]) -> None:
    whole, parts = EntryStore(), EntryStore()
    following = mirror(whole)
    for exported in stream:
        whole.advance(1)
        following.add_exported(exported)
        parts = parts.fork()
        parts.advance(1)
        mirror(parts).add_exported(exported)
    assert mirrored(parts) == mirrored(whole)


@given(exported=answers)
@examples(50)
def test_restored_items_are_the_exported_ones(exported: list[WireItem]) -> None:
    store = EntryStore()
    mirror(store).add_exported(exported)
    wanted = {item.id: (item.text, item.kind, item.sent_at) for item in exported if item.until is None}
    restored = {item.id: (item.text, item.kind, item.sent_at) for item in wire_items(store)}
    assert restored == wanted


@given(before=answers, found=answers)
@examples(50)
def test_frozen_lookup_changes_nothing_and_returns_each_item(
    before: list[WireItem], found: list[WireItem]
) -> None:
    store = EntryStore()
    following = mirror(store)
    following.add_exported(before)
    version = store.version
    entries = following.find_returned(found)
    assert [(entry.text, entry.kind) for entry in entries] == [(item.text, item.kind) for item in found]
    assert len({entry.entry_id for entry in entries}) == len(found)
    assert store.version == version

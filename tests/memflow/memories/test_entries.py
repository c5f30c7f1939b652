"""EntryStore: live entries, changes, and restoring."""

from memflow.memories.entries import EntryStore


def test_entry_store_returns_the_entries_changed_since_a_version() -> None:
    store = EntryStore()
    one = store.add("note", "one", sources=())
    seen = store.version
    two = store.add("note", "two", sources=())
    store.retire(one.entry_id)
    assert [(item.entry_id, item.until is None) for item in store.changes(seen)] == [
        (two.entry_id, True),
        (one.entry_id, False),
    ]
    assert store.changes(store.version) == []


def test_restored_entry_store_has_live_entries_and_continues_numbering() -> None:
    store = EntryStore()
    store.advance(1)
    old = store.add("note", "old", sources=())
    store.advance(1)
    store.retire(old.entry_id)
    store.add("note", "new", sources=())
    then = EntryStore.restored(list(store), 1)
    assert then.live() == [old] and then.changes() == [old]
    assert then.add("note", "other", sources=()).entry_id == "note-1"
    assert EntryStore.restored(list(store), 0).live() == []

"""MemGPT's storages outside of the main context, archival and recall storage, and their searches in pages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.forgetting import day_of
from memflow.memories.mem_gpt.answers import AnySearchCall, ArchivalSearch, RecallSearchDate
from memflow.memories.search import Dense

RECALL, ARCHIVAL = "recall", "archival"


@dataclass(frozen=True)
class SearchPage:
    """One page of the results of a search: its entries, its number from 1, and the number of pages."""

    call: AnySearchCall
    items: Sequence[Item]
    number: int
    pages: int

    @property
    def text(self) -> str:
        """The search and its number of results, as a line for the prompt of the next round."""
        call = self.call
        query = f"{call.start_date} to {call.end_date}" if isinstance(call, RecallSearchDate) else call.query
        result = (
            f"{len(self.items)} results, page {self.number} of {self.pages}" if self.pages else "no results"
        )
        return f"- {call.function}: {' '.join(query.split())} ({result})"


class Storages:
    """The searchable entries of a store: archived texts, and messages that have left the main context."""

    def __init__(self, store: EntryStore, page_size: int) -> None:
        self.store = store
        self.page_size = page_size
        self._archive, self._recall = Dense(store, ARCHIVAL), Dense(store, RECALL)

    def search(self, call: AnySearchCall, query: Vector | None) -> SearchPage:
        """Return the page that `call` asks for: by cosine to the vector `query`, or by date, oldest first."""
        size = self.page_size
        if isinstance(call, RecallSearchDate):
            results = self._between(call.start_date, call.end_date)
            total = len(results)
        else:
            assert query is not None
            is_archival = isinstance(call, ArchivalSearch)
            total = len(self.store.live(ARCHIVAL if is_archival else RECALL))
            index = self._archive if is_archival else self._recall
            results = index.search(query, call.page * size)
        page = results[(call.page - 1) * size : call.page * size]
        page_count = math.ceil(total / size)
        return SearchPage(call, page, call.page, page_count)

    def _between(self, start: date, end: date) -> list[Item]:
        days = [(item, day_of(item.meta.get("date"))) for item in self.store.live(RECALL)]
        return [item for item, day in days if day is not None and start <= day <= end]

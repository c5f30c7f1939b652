"""The record of one checked conversation: what was written, and which messages the items of reads are from."""

import time
from collections.abc import Iterable, Mapping, Sequence

from memflow.errors import ReportedError
from memflow.memories.server.protocol import WireItem
from memflow.resources.memory_servers.check_conversation import CheckMessage, words_of
from memflow.resources.memory_servers.checked_spaces import PythonSpace, ServerSpace


class CheckedConversation:
    """The conversation of one space. `foreign` are the words of other spaces, by which items of theirs are seen.

    The seconds of each read are added to `read_seconds`.
    """

    def __init__(
        self,
        space: ServerSpace | PythonSpace,
        messages: Sequence[CheckMessage],
        foreign: Mapping[str, CheckMessage],
        read_seconds: list[float],
    ) -> None:
        self.space = space
        self.messages = messages
        self.read_seconds = read_seconds
        self.writes: dict[int, int] = {}
        """The number of the write of each message that was written."""
        self.failed: dict[int, str] = {}
        """The messages whose write failed, and why."""
        self.number = 0
        """The number of writes."""
        self.items: dict[str, WireItem] = {}
        """All items that reads returned, by their text and sources."""
        self.leaks: list[str] = []
        """The queries of reads that returned words of another space."""
        self.reads = 0
        self.intermittent: list[str] = []
        """The queries that failed, and found their message when they were repeated."""
        self.errors: list[str] = []
        """The errors that the server reported at reads."""
        self._foreign = foreign
        self._numbers: dict[str, set[int]] = {}
        self._foreign_texts = set[str]()
        self._of_word = {word: message for message in messages for word in message.words}

    async def read(self, query: str, k: int, as_of: int | None = None) -> Sequence[WireItem]:
        """Return the items of a read, and record them."""
        began = time.perf_counter()
        items = await self.space.read(query, k, as_of)
        self.read_seconds.append(time.perf_counter() - began)
        self.reads += 1
        self.seen(items)
        if any(item.text in self._foreign_texts for item in items):
            self.leaks.append(query)
        if as_of is None:
            for item in items:
                self.items.setdefault(f"{item.text}\n{item.sources}", item)
        return items

    async def finds(self, message: CheckMessage, query: str, k: int) -> bool:
        """Return whether a read finds a message. A read that does not is repeated once."""
        for attempt in range(2):
            try:
                items = await self.read(query, k)
            except ReportedError as failed:
                self.errors.append(str(failed))
                return False
            if message.number in self.seen(items):
                if attempt:
                    self.intermittent.append(query)
                return True
        return False

    def of_item(self, item: WireItem) -> set[int]:
        """Return the numbers of the messages whose words an item contains."""
        if item.text not in self._numbers:
            words = words_of(item.text)
            self._numbers[item.text] = {self._of_word[word].number for word in words & self._of_word.keys()}
            if words & self._foreign.keys():
                self._foreign_texts.add(item.text)
        return self._numbers[item.text]

    def seen(self, items: Iterable[WireItem]) -> set[int]:
        """Return the numbers of the messages whose words items contain."""
        return {number for item in items for number in self.of_item(item)}

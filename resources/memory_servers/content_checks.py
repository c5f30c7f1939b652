"""The checks of what a memory stores of the conversation: every message, its text, sources and date, and no other's."""

from resources.memory_servers.check_conversation import COMMON
from resources.memory_servers.check_lines import CheckFailed, CheckSkipped
from resources.memory_servers.played_conversation import PlayedConversation
from resources.memory_servers.text_changes import text_change

K = 10


class ContentChecks:
    """The checks of what is stored."""

    def __init__(self, played: PlayedConversation) -> None:
        self.played = played

    async def complete(self) -> str:
        """Look for every message, by reads and in the export."""
        main, design = self.played.main, self.played.design
        stored = await main.space.stored()
        for query in (" ".join(COMMON), main.messages[-1].query):
            self.played.seen |= main.seen(await main.read(query, self.played.large))
        expected = [message for message in self.played.expected() if message.number not in main.failed]
        missing = [message for message in expected if message.number not in self.played.seen]
        found = await self.played.find_all(missing)
        self.played.seen |= {
            message.number for message, is_found in zip(missing, found, strict=True) if is_found
        }
        in_store = main.seen(stored) if stored is not None else set()
        self.played.kept = self.played.seen | in_store
        lost = [message for message in expected if message.number not in self.played.kept]
        all_of = f"{len(expected)} messages"
        if lost and design.merges:
            found_words = len(expected) - len(lost)
            return f"{found_words} of {all_of} are found by their words; the memory declares that it merges"
        if lost:
            raise CheckFailed(
                f"stored {len(expected) - len(lost)} of {all_of}{self.played.of_design()}: lost are "
                f"{self.played.describe(expected, self.played.kept)}"
            )
        return f"all {all_of}{self.played.of_design()} come back"

    async def unchanged(self) -> str:
        """Compare texts with what was written."""
        if self.played.design.merges:
            raise CheckSkipped("the memory declares that it merges: its texts are its own")
        items = await self.played.known_items()
        change = text_change(
            self.played.main,
            [message for message in self.played.expected() if message.number in self.played.kept],
            items,
        )
        if change:
            raise CheckFailed(change)
        return "texts come back as they were written, with all of their sentences"

    async def isolation(self) -> str:
        """Look for words of the other space in all items."""
        if self.played.one_space:
            raise CheckSkipped("the server declares spaces: 1")
        await self.played.other.read(" ".join(COMMON), self.played.large)
        for message in self.played.main.messages[:: max(1, len(self.played.main.messages) // 12)]:
            await self.played.other.read(message.query, K)
        for message in self.played.other.messages[:: max(1, len(self.played.other.messages) // 12)]:
            await self.played.main.read(message.query, K)
        leaks = [*self.played.main.leaks, *self.played.other.leaks]
        reads = self.played.main.reads + self.played.other.reads
        if leaks:
            raise CheckFailed(
                f"{len(leaks)} of {reads} reads return messages of another space, as for {leaks[0][:60]!r}"
            )
        return f"no item of {reads} reads is from another space"

    async def item_sources(self) -> str:
        """Compare the sources of items with the messages whose words they have."""
        if self.played.can.sources == "none":
            raise CheckSkipped("not declared: wrong answers are not attributed by evidence")
        main, wrong, checked, wide = self.played.main, 0, 0, 0
        example, strange = "", list[str]()
        sent = {self.played.source(message.number) for message in main.messages}
        for item in await self.played.known_items():
            numbers = main.of_item(item)
            names = {number: self.played.source(number) for number in numbers}
            strange += [source for source in item.sources if source not in sent]
            if not numbers or (self.played.design.merges and not item.sources):
                continue
            checked += 1
            absent = [name for name in names.values() if name not in item.sources]
            if absent and not self.played.design.merges:
                wrong += 1
                example = (
                    example
                    or f"an item with words of {absent[0]} names {', '.join(item.sources[:3]) or 'none'}"
                )
            known = set(names.values())
            wide += len(set(item.sources) - known) > max(4, 3 * len(known))
        if strange:
            raise CheckFailed(
                f"items name sources that were never sent: {', '.join(sorted(set(strange))[:3])}"
            )
        if wrong:
            raise CheckFailed(
                f"{wrong} of {checked} items do not name the {self.played.can.sources} that they are from: {example}"
            )
        if wide > checked / 2 and not self.played.design.merges:
            raise CheckFailed(f"{wide} of {checked} items name many messages that they have no word of")
        return f"{checked} items name the {self.played.can.sources} that they are from"

    async def item_dates(self) -> str:
        """Compare the dates of items with those of their messages."""
        if not self.played.can.dates:
            raise CheckSkipped("not declared: memflow puts the date before each text")
        dates = {message.number: message.sent_at[:10] for message in self.played.main.messages}
        checked, without, wrong, example = 0, 0, 0, ""
        for item in await self.played.known_items():
            days = {dates[number] for number in self.played.main.of_item(item)}
            if len(days) != 1 or (self.played.design.merges and item.sent_at is None):
                continue
            [day] = days
            checked += 1
            if item.sent_at is None and day[:4] not in item.text:
                without += 1
            elif item.sent_at is not None and not item.sent_at.startswith(day):
                wrong, example = wrong + 1, f"{item.sent_at} instead of {day}"
        if without or wrong:
            what = (
                f"{without} have no date"
                if without
                else f"{wrong} have another date than their message ({example})"
            )
            raise CheckFailed(f"declares dates, and of {checked} items {what}")
        return f"{checked} items have the dates of their messages"

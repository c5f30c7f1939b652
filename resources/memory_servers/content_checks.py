"""The checks of what a memory has of the conversation: the same at every read, each message, its text and date."""

from memflow.resources.memory_servers.check_conversation import COMMON
from memflow.resources.memory_servers.check_lines import CheckFailed, CheckNote, CheckSkipped, check
from memflow.resources.memory_servers.played_conversation import PlayedConversation
from memflow.resources.memory_servers.text_changes import text_change

K = 10
EQUAL_READS = 8
"""Equal reads, to find a random difference: one in two is missed once in 128 checks."""
MOST_UNRELATED = 4
"""Sources that an item may name although it has no word of them; 3 for each of its own sources if that is more."""
WRITTEN = ("conversation", "stable_reads")
"""The checks without which the others show nothing."""


class ContentChecks:
    """The checks of what is stored."""

    def __init__(self, played: PlayedConversation) -> None:
        self.played = played

    @check(
        "Report a failed read as an error, and sort by score and then by a fixed order.",
        after=("conversation",),
    )
    async def stable_reads(self) -> str:
        """Repeat reads."""
        main, counts = self.played.main, 0
        note = ""
        for query in (" ".join(COMMON), *(message.query for message in self.played.expected()[-3:])):
            first = [item.text for item in await main.read(query, K)]
            for _ in range(EQUAL_READS - 1):
                texts = [item.text for item in await main.read(query, K)]
                counts += 1
                if texts == first:
                    continue
                if not texts or not first:
                    raise CheckFailed(
                        f"of two equal reads, one returned nothing, and one {len(texts or first)} items"
                    )
                if sorted(texts) == sorted(first):
                    raise CheckFailed("equal reads return the same items in another order")
                if self.played.can.deterministic:
                    raise CheckFailed("equal reads return other items")
                note = "equal reads return other items, and the server does not declare `deterministic`"
        if note:
            raise CheckNote(note)
        return f"{counts} repeated reads return the same"

    @check("Answer a write only when `read` finds it, and cache no reads.", after=WRITTEN)
    async def fresh_reads(self) -> str:
        """Report the reads right after writes."""
        played = self.played
        if played.stale:
            raise CheckFailed(
                f"{len(played.stale)} of {played.fresh} reads do not find a message that was written after an "
                "equal read, and another query finds it: a cache of reads"
            )
        if played.found_late:
            raise CheckFailed(
                f"{len(played.found_late)} of {played.fresh} messages are found only {max(played.found_late):.2f} s "
                "after the answer to their write"
            )
        return f"{played.fresh} messages, read before and right after their write"

    @check("Store every message, or declare it in `design`.", after=WRITTEN)
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

    @check("Store texts as they are, or declare it in `design` (merges).", after=(*WRITTEN, "complete"))
    async def unchanged(self) -> str:
        """Compare the texts of the items with those of the written messages."""
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

    @check(
        "Return the ids of the messages that an item is from, or declare another `sources`.",
        after=(*WRITTEN, "complete"),
    )
    async def sources(self) -> str:
        """Compare the sources of items with the messages whose words they have."""
        if self.played.can.sources == "none":
            raise CheckSkipped("not declared: wrong answers are not attributed by evidence")
        main, wrong, checked, wide = self.played.main, 0, 0, list[str]()
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
            if len(set(item.sources) - known) > max(MOST_UNRELATED, 3 * len(known)):
                wide.append(f"{item.text[:60]!r} names {', '.join(item.sources[:3])} and more")
        if strange:
            named = ", ".join(sorted(set(strange))[:3])
            raise CheckFailed(f"items name sources that were never sent: {named}")
        if wrong:
            raise CheckFailed(
                f"{wrong} of {checked} items do not name the {self.played.can.sources} that they are from: {example}"
            )
        if len(wide) > checked / 2 and not self.played.design.merges:
            raise CheckFailed(
                f"{len(wide)} of {checked} items name more than {MOST_UNRELATED} sources that share no words with "
                f"them: for example, {wide[0]}"
            )
        return f"{checked} items name the {self.played.can.sources} that they are from"

    @check("Store `sent_at`, not the time of the write, or declare dates: false.", after=WRITTEN)
    async def dates(self) -> str:
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

"""The checks of a memory with a conversation of some 300 messages: what it stores, returns, ranks and dates.

They are the same for memory servers and for memories in Python. conversation_record.py has what was written and read.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import groupby

from memflow.memories.server.protocol import WireItem
from resources.memory_servers.check_conversation import COMMON, CheckMessage, conversation
from resources.memory_servers.check_lines import Check, CheckFailed, CheckNote, CheckSkipped
from resources.memory_servers.check_queries import QUERIES_OF_SCRIPT, QUERY_PHRASES, queries_for
from resources.memory_servers.checked_memory import CheckedMemory
from resources.memory_servers.concentration import Phrases, Traits, concentration
from resources.memory_servers.conversation_record import CheckedConversation, ReadTimes
from resources.memory_servers.text_changes import text_change

SIZES = (300, 60)
"""Messages of the conversation, and of the one in another space."""
SIZES_WITH_MODELS = (25, 6)
"""The same for a memory whose writes cost requests to models: one message a write."""
OTHER_WORDS = 100_000
FRESH_READS = 8
"""Messages that are read before and right after their write."""
K = 10
COUNTS = (1, 5, 10, 30, 50, 100)
"""The k at which item counts are compared, beside one above the number of messages."""
RANKED = 24
"""Messages whose rank is compared."""
RANK_SHARE = 0.5
"""A ranking is wrong if the message whose words are asked is in the better half in fewer reads. A random order has .5
on average, with a standard deviation of .1, and a search by words or vectors has more than .9."""
NOTED_SHARE, FAILED_SHARE = 0.1, 0.4
"""Shares of queries without their message among the first 10 that are a note and a fault, if nothing explains them. A
healthy search by words or vectors misses few of words that no other message has."""
CAP_SHARE = 0.9
"""A read for everything returns fewer than this share of the items if there is a limit."""
READ_S, WRITE_S = 1.0, 10.0
"""The 95th percentile of seconds above which speed is a note: a run of the size below then takes 26 minutes of reads
or 8 hours of writes."""
RUN_READS, RUN_WRITES = 1540, 2941
"""The questions, and the pairs of messages, of a published set of ten long conversations."""
AT_ONCE = 8
EQUAL_READS = 8
"""Equal reads, to find a random difference: one in two is missed once in 128 checks."""
MESSAGE_PHRASES: Phrases = {
    "session": ("messages after session {}", "messages up to session {}"),
    "write": ("messages after write {}", "messages up to write {}"),
    "role": ("messages of the {}", "messages not of the {}"),
    "ascii": ("texts in ASCII", "texts with characters outside ASCII"),
    "script": ("texts in {} script", "texts not in {} script"),
    "digits": ("texts with digits", "texts without digits"),
    "near-duplicate": ("near-duplicates of other messages", "messages that are no near-duplicates"),
    "code": ("texts with code", "texts without code"),
    "length": ("texts of more than {} characters", "texts of at most {} characters"),
}


class ConversationChecks:
    """The checks of one memory with the conversation."""

    def __init__(self, memory: CheckedMemory, late: float, sizes: tuple[int, int] = SIZES) -> None:
        self.memory = memory
        self.sizes = SIZES_WITH_MODELS if memory.uses_models else sizes
        self.late = late
        self.times = ReadTimes()
        self.found_late: list[float] = []
        self.stale: list[str] = []
        self.fresh = 0

    def checks(self) -> list[Check]:
        """Return the checks, in order."""
        design = "or declare it in `design`"
        written = ("conversation", "stable_reads")
        return [
            Check(
                "conversation",
                self._fill,
                "Answer each write when it is done, whatever its text.",
                after=("indexed", "pure_reads", "reused_ids"),
            ),
            Check(
                "stable_reads",
                self._equal_reads,
                "Report a failed read as an error, and sort by score and then by a fixed order.",
                after=("conversation",),
            ),
            Check(
                "fresh_reads",
                self._fresh,
                "Answer a write only when `read` finds it, and cache no reads.",
                after=written,
            ),
            Check("complete", self._complete, f"Store every message, {design}.", after=written),
            Check(
                "unchanged",
                self._unchanged,
                f"Store texts as they are, {design} (merges).",
                after=(*written, "complete"),
            ),
            Check(
                "item_counts",
                self._item_counts,
                f"Return k items where there are as many, {design} (max_items).",
                after=written,
            ),
            Check(
                "isolation",
                self._isolation,
                "Filter reads by `space`, also caches and indexes.",
                after=(*written, "spaces"),
            ),
            Check(
                "ranked", self._ranked, "Return the best item first, or declare ranked: false.", after=written
            ),
            Check(
                "queries",
                self._queries,
                f"Answer every query, {design} (threshold).",
                after=(*written, "fresh_reads", "complete"),
            ),
            Check(
                "sources",
                self._item_sources,
                "Return the ids of the messages that an item is from, or declare another `sources`.",
                after=(*written, "complete"),
            ),
            Check(
                "dates",
                self._item_dates,
                "Store `sent_at`, not the time of the write, or declare dates: false.",
                after=written,
            ),
            Check(
                "as_of",
                self._time_travel,
                "Filter by the number of the write, or declare as_of: none.",
                after=(*written, "fresh_reads"),
            ),
            Check("speed", self._speed, "Set `timeout`, or expect long runs.", after=written),
        ]

    # Writing

    async def _fill(self) -> str:
        memory = self.memory
        first = conversation(self.sizes[0])
        second = conversation(0 if memory.one_space else self.sizes[1], OTHER_WORDS)
        words = [{word: message for message in part for word in message.words} for part in (first, second)]
        spaces = [
            await memory.open_space(f"conversation-{number}")
            for number in ((1,) if memory.one_space else (1, 2))
        ]
        self.main = CheckedConversation(spaces[0], first, words[1], time.perf_counter, self.times)
        self.other = CheckedConversation(spaces[-1], second, words[0], time.perf_counter, self.times)
        self.large = len(first) + 50
        self._seen: set[int] = set()
        half = len(first) // 2
        fresh = {len(first) * (number + 1) // (FRESH_READS + 1) for number in range(FRESH_READS)}
        await self._write(self.main, first[:half], fresh)
        await self._write(self.other, second, set())
        await self._write(self.main, first[half:], fresh)
        failed = {**self.main.failed, **self.other.failed}
        if failed:
            traits = [(self._traits(message), message.number not in self.main.failed) for message in first]
            where = concentration(traits, MESSAGE_PHRASES) or f"{len(failed)} messages"
            raise CheckFailed(f"writes failed: {where}: {next(iter(failed.values()))}")
        return (
            f"{len(first)} messages of {first[-1].session} sessions in {self.main.number} writes, and {len(second)} in "
            "another space"
        )

    async def _write(
        self, conversation: CheckedConversation, messages: Sequence[CheckMessage], fresh: set[int]
    ) -> None:
        """Write messages as runs do. Those in `fresh` are read before and after their write."""
        for part in self._cut(messages):
            probe = next((message for message in part if message.number in fresh), None)
            if probe is not None:
                probe = next((message for message in part if message.role in self.memory.design.roles), None)
            if probe is not None:
                await conversation.read(probe.query, 30)
            conversation.number += 1
            began = time.perf_counter()
            try:
                await conversation.space.write([message.sent() for message in part])
            except CheckFailed as failed:
                conversation.failed |= dict.fromkeys((message.number for message in part), str(failed))
            self.times.writes.append(time.perf_counter() - began)
            conversation.writes |= dict.fromkeys((message.number for message in part), conversation.number)
            if probe is not None and probe.number not in conversation.failed:
                await self._read_fresh(conversation, probe)

    async def _read_fresh(self, conversation: CheckedConversation, message: CheckMessage) -> None:
        """Read a message right after its write: with the query of an earlier read, with another, and again."""
        self.fresh += 1
        k = self.large
        if message.number in conversation.seen(await conversation.read(message.query, k)):
            return
        began = time.perf_counter()
        other = " ".join(reversed(message.words[:2])) + f" {COMMON[0]}"
        by_other = message.number in conversation.seen(await conversation.read(other, k))
        if message.number in conversation.seen(await conversation.read(message.query, k)):
            self.found_late.append(time.perf_counter() - began)
        elif by_other:
            self.stale.append(message.query)
        elif len(self.found_late) < 2:  # no need to wait for all of them
            while time.perf_counter() - began < self.late:
                await asyncio.sleep(0.05)
                if message.number in conversation.seen(await conversation.read(message.query, k)):
                    self.found_late.append(time.perf_counter() - began)
                    break

    def _cut(self, messages: Sequence[CheckMessage]) -> list[list[CheckMessage]]:
        batch = self.memory.batch
        if batch == "session" and not self.memory.uses_models:
            return [list(part) for _, part in groupby(messages, key=lambda message: message.session)]
        size = 1 if batch == "message" or (self.memory.uses_models and batch != "pair") else 2
        return [list(messages[first : first + size]) for first in range(0, len(messages), size)]

    # Checks

    async def _fresh(self) -> str:
        if self.stale:
            raise CheckFailed(
                f"{len(self.stale)} of {self.fresh} reads do not find a message that was written after an equal read, "
                "and another query finds it: a cache of reads"
            )
        if self.found_late:
            raise CheckFailed(
                f"{len(self.found_late)} of {self.fresh} messages are found only {max(self.found_late):.2f} s after "
                "the answer to their write"
            )
        return f"{self.fresh} messages, read before and right after their write"

    async def _complete(self) -> str:
        main, design = self.main, self.memory.design
        stored = await main.space.stored()
        for query in (" ".join(COMMON), main.messages[-1].query):
            self._seen |= main.seen(await main.read(query, self.large))
        expected = [message for message in self._expected() if message.number not in main.failed]
        missing = [message for message in expected if message.number not in self._seen]
        found = await self._find_all(missing)
        self._seen |= {message.number for message, is_found in zip(missing, found, strict=True) if is_found}
        in_store = main.seen(stored) if stored is not None else set()
        self.kept = self._seen | in_store
        lost = [message for message in expected if message.number not in self.kept]
        all_of = f"{len(expected)} messages"
        if lost and design.merges:
            found_words = len(expected) - len(lost)
            return f"{found_words} of {all_of} are found by their words; the memory declares that it merges"
        if lost:
            raise CheckFailed(
                f"stored {len(expected) - len(lost)} of {all_of}{self._of_design()}: lost are "
                f"{self._describe(expected, self.kept)}"
            )
        return f"all {all_of}{self._of_design()} come back"

    async def _unchanged(self) -> str:
        if self.memory.design.merges:
            raise CheckSkipped("the memory declares that it merges: its texts are its own")
        items = await self._known_items()
        change = text_change(
            self.main, [message for message in self._expected() if message.number in self.kept], items
        )
        if change:
            raise CheckFailed(change)
        return "texts come back as they were written, with all of their sentences"

    async def _item_counts(self) -> str:
        memory, design = self.memory, self.memory.design
        if not memory.has_k:
            raise CheckSkipped("a memory in Python has no k")
        if design.merges:
            raise CheckSkipped("the memory declares that it merges: its items are no messages")
        queries = (" ".join(COMMON), " ".join(COMMON[:2]))
        counts = {k: len(await self.main.read(queries[0], k)) for k in sorted({*COUNTS, self.large})}
        top = counts[self.large]
        if not top:
            raise CheckSkipped("a broad query finds nothing: `queries` says which do")
        if design.max_items is not None and top > design.max_items:
            raise CheckFailed(f"declares at most {design.max_items} items, and returned {top}")
        other = len(await self.main.read(queries[1], self.large))
        available = max(len({item.text for item in await self._known_items()}), top)
        limit = design.max_items or available
        few = {k: count for k, count in counts.items() if count < min(k, top, limit)}
        # A search by words finds fewer items for another query; a limit is the same.
        if top == other and top < min(available, limit) * CAP_SHARE:
            few |= {k: top for k in counts if k > top}
        if few and not design.threshold:
            asked = sorted(few)
            ks = " and ".join(filter(None, (", ".join(map(str, asked[:-1])), str(asked[-1]))))
            returned = ", ".join(map(str, dict.fromkeys(few.values())))
            raise CheckFailed(f"returned {returned} items for k = {ks} although {available} items are stored")
        return f"as many as asked for k = {', '.join(map(str, COUNTS))}, and {top} for k = {self.large}"

    async def _isolation(self) -> str:
        if self.memory.one_space:
            raise CheckSkipped("the server declares spaces: 1")
        await self.other.read(" ".join(COMMON), self.large)
        for message in self.main.messages[:: max(1, len(self.main.messages) // 12)]:
            await self.other.read(message.query, K)
        for message in self.other.messages[:: max(1, len(self.other.messages) // 12)]:
            await self.main.read(message.query, K)
        leaks = [*self.main.leaks, *self.other.leaks]
        reads = self.main.reads + self.other.reads
        if leaks:
            raise CheckFailed(
                f"{len(leaks)} of {reads} reads return messages of another space, as for {leaks[0][:60]!r}"
            )
        return f"no item of {reads} reads is from another space"

    async def _ranked(self) -> str:
        memory = self.memory
        self.is_ranked = False
        if not memory.ranked:
            raise CheckSkipped("not declared: the order of items has no meaning")
        if memory.design.merges:
            raise CheckSkipped("the memory declares that it merges: no item belongs to one message")
        better, judged = 0, 0
        known = [message for message in self._expected() if message.number in self._seen]
        plain = [message for message in known if message.kind == "statement"] or known
        for message in (plain + [other for other in known if other not in plain])[:RANKED]:
            query = f"{message.query} {' '.join(COMMON)}"
            place = self._place(message, await self.main.read(query, K))
            if place is None and self._place(message, await self.main.read(query, self.large)) is None:
                continue  # it is not found at all: `queries`
            if place is None or place[1] > 2:
                judged += 1
                better += place is not None and place[0] < place[1] / 2
        self.is_ranked = better >= judged * RANK_SHARE
        if not self.is_ranked:
            first, second = [
                _texts(await self.main.read(message.query, K)) for message in (plain[0], plain[-1])
            ]
            if first == second:
                raise CheckNote("reads return the same items for every query: declare ranked: false")
            raise CheckFailed(
                f"the message whose words are asked is in the first half of the items in {better} of {judged} reads: "
                "the best item is not first"
            )
        if not judged:
            raise CheckNote("no read returned its message among others, so that there is no rank")
        return f"the message whose words are asked is among the first in {better} of {judged} reads"

    async def _queries(self) -> str:
        memory, main = self.memory, self.main
        await main.read("?! ... ;;", K)  # an error is a fault, no items are none
        known = [message for message in self._expected() if message.number in self.kept]
        if not known or (memory.design.merges):
            raise CheckSkipped("no item belongs to one message")
        k = K if self.is_ranked or not memory.has_k else self.large
        results: list[tuple[Traits, bool]] = []
        for message, query, traits in queries_for(known):
            results.append((traits, await main.finds(message, query, k)))
        if main.intermittent:
            raise CheckFailed(
                f"{len(main.intermittent)} of {main.reads} reads did not find a message, and found it when they were "
                "repeated: failures are answered as empty lists, or reads are random"
            )
        failed = sum(not is_found for _, is_found in results)
        where = concentration(results, QUERY_PHRASES, side_size=QUERIES_OF_SCRIPT)
        said = f"{failed} of {len(results)} queries do not find the message whose words they contain"
        reason = f". The server reports: {main.errors[0]}" if main.errors else ""
        if memory.design.threshold and (where or failed):
            raise CheckNote(f"{said}; the memory declares a threshold")
        if failed > len(results) * FAILED_SHARE:
            said += " (a threshold that is too high?)"
        if where or failed > len(results) * FAILED_SHARE:
            raise CheckFailed(f"{said}: {where or 'also short ones'}{reason}")
        unread = [message for message in known if message.number not in self._seen]
        if unread and memory.has_k and not memory.design.max_items:
            raise CheckFailed(
                f"{len(unread)} of {len(known)} messages are stored, but no read with their own words finds them: "
                f"{self._describe(known, self._seen)}{reason}"
            )
        if failed > len(results) * NOTED_SHARE:
            raise CheckNote(said)
        return f"{len(results) - failed} of {len(results)} queries find their message: short, long, questions, scripts"

    async def _equal_reads(self) -> str:
        main, counts = self.main, 0
        note = ""
        for query in (" ".join(COMMON), *(message.query for message in self._expected()[-3:])):
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
                if self.memory.deterministic:
                    raise CheckFailed("equal reads return other items")
                note = "equal reads return other items, and the server does not declare `deterministic`"
        if note:
            raise CheckNote(note)
        return f"{counts} repeated reads return the same"

    async def _item_sources(self) -> str:
        if self.memory.sources == "none":
            raise CheckSkipped("not declared: wrong answers are not attributed by evidence")
        main, wrong, checked, wide = self.main, 0, 0, 0
        example, strange = "", list[str]()
        sent = {self._source(message.number) for message in main.messages}
        for item in await self._known_items():
            numbers = main.of_item(item)
            names = {number: self._source(number) for number in numbers}
            strange += [source for source in item.sources if source not in sent]
            if not numbers or (self.memory.design.merges and not item.sources):
                continue
            checked += 1
            absent = [name for name in names.values() if name not in item.sources]
            if absent and not self.memory.design.merges:
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
                f"{wrong} of {checked} items do not name the {self.memory.sources} that they are from: {example}"
            )
        if wide > checked / 2 and not self.memory.design.merges:
            raise CheckFailed(f"{wide} of {checked} items name many messages that they have no word of")
        return f"{checked} items name the {self.memory.sources} that they are from"

    async def _item_dates(self) -> str:
        if not self.memory.dates:
            raise CheckSkipped("not declared: memflow puts the date before each text")
        dates = {message.number: message.sent_at[:10] for message in self.main.messages}
        checked, without, wrong, example = 0, 0, 0, ""
        for item in await self._known_items():
            days = {dates[number] for number in self.main.of_item(item)}
            if len(days) != 1 or (self.memory.design.merges and item.sent_at is None):
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

    async def _time_travel(self) -> str:
        if not self.memory.time_travel:
            raise CheckSkipped("not declared: probes are asked when their checkpoint is reached")
        main, query = self.main, " ".join(COMMON)
        now = main.seen(await main.read(query, self.large))
        complete = not (
            self.memory.design.window or self.memory.design.merges or self.memory.design.max_items
        )
        future, missing, reads = 0, 0, 0
        for write in sorted({max(1, main.number * part // 8) for part in (1, 2, 4, 6, 7)}):
            later = [message for message in main.messages if main.writes[message.number] > write][:2]
            earlier = [message for message in main.messages if main.writes[message.number] <= write][-2:]
            for text in (query, *(message.query for message in (*later, *earlier))):
                then = main.seen(await main.read(text, self.large, write))
                reads += 1
                future += any(main.writes[number] > write for number in then)
                expected = (
                    {number for number in now if main.writes[number] <= write} if text == query else set()
                )
                missing += complete and not expected <= then
        if future:
            raise CheckFailed(
                f"{future} of {reads} reads as of an earlier write return later messages: it knows the future"
            )
        if missing:
            raise CheckFailed(
                f"{missing} reads as of an earlier write lack messages that were written by then"
            )
        return f"{reads} reads as of earlier writes return what was written by then, and nothing later"

    async def _speed(self) -> str:
        read, write = _percentile(self.times.reads), _percentile(self.times.writes)
        text = f"the 95th percentile of a read is {read:.2f} s, of a write {write:.2f} s"
        if read > READ_S or write > WRITE_S:
            hours = (sum(self.times.reads) / len(self.times.reads) * RUN_READS) / 3600
            writing = (sum(self.times.writes) / len(self.times.writes) * RUN_WRITES) / 3600
            raise CheckNote(
                f"{text}, above {READ_S:g} s or {WRITE_S:g} s: ten long conversations ({RUN_READS:,} questions) take "
                f"{hours:.1f} hours of reads and {writing:.1f} hours of writes, one after another"
            )
        return text

    async def compare_restarted(self, kill: Callable[[], Awaitable[None]]) -> str:
        """Read, end the server, and read again. Return what the reads show; raises CheckFailed for a loss."""
        main, expected = self.main, self._expected()
        queries = [" ".join(COMMON), *(message.query for message in expected[:: max(1, len(expected) // 8)])]
        before = [await main.read(query, self.large) for query in queries]
        await kill()
        after = [await main.read(query, self.large) for query in queries]
        kept = main.seen(item for items in before for item in items)
        found = main.seen(item for items in after for item in items)
        if kept - found:
            raise CheckFailed(
                f"{len(kept - found)} of {len(kept)} messages are lost after a restart, although all writes were "
                "repeated"
            )
        if self.memory.deterministic and [_texts(items) for items in before] != [
            _texts(items) for items in after
        ]:
            raise CheckFailed("reads return other items after a restart and a replay of the writes")
        return f"{len(queries)} reads find the same after a restart and a replay of {main.number} writes"

    # What the checks use

    def _expected(self) -> list[CheckMessage]:
        """Return the messages that the memory has by its design."""
        design = self.memory.design
        messages = [message for message in self.main.messages if message.role in design.roles]
        return messages[-design.window :] if design.window else messages

    def _of_design(self) -> str:
        design = self.memory.design
        window = f" of the declared window of {design.window}" if design.window else ""
        return f"{window} of the {design.roles[0]}" if len(design.roles) == 1 else window

    async def _known_items(self) -> list[WireItem]:
        stored = await self.main.space.stored()
        return [*self.main.items.values(), *(stored or ())]

    async def _find_all(self, messages: Sequence[CheckMessage]) -> list[bool]:
        running = asyncio.Semaphore(AT_ONCE)

        async def find(message: CheckMessage) -> bool:
            async with running:
                return await self.main.finds(message, message.query, self.large)

        return await asyncio.gather(*map(find, messages))

    def _place(self, message: CheckMessage, items: Sequence[WireItem]) -> tuple[int, int] | None:
        """Return the place of a message among items, and their number; None if it is not there."""
        for place, item in enumerate(items):
            if message.number in self.main.of_item(item):
                return place, len(items)
        return None

    def _source(self, number: int) -> str:
        return f"check-{number}" if self.memory.sources == "message" else str(self.main.writes[number])

    def _describe(self, messages: Sequence[CheckMessage], kept: Iterable[int]) -> str:
        kept = set(kept)
        where = concentration(
            [(self._traits(each), each.number in kept) for each in messages], MESSAGE_PHRASES
        )
        lost = [each for each in messages if each.number not in kept]
        return where or f"{len(lost)} messages of all kinds, such as {lost[0].text[:60]!r}"

    def _traits(self, message: CheckMessage) -> Mapping[str, int | str | bool]:
        return {
            "write": self.main.writes.get(message.number, 0),
            "session": message.session,
            "role": message.role,
            "ascii": message.text.isascii(),
            "script": message.script,
            "digits": any(letter.isdigit() for letter in message.text),
            "near-duplicate": message.kind == "duplicate",
            "code": message.kind == "code",
            "length": len(message.text),
        }


def _texts(items: Sequence[WireItem]) -> list[str]:
    return [item.text for item in items]


def _percentile(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.95)] if seconds else 0.0

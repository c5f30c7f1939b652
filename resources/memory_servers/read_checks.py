"""The checks of reads of the conversation: as many items as asked, of the space, ranked, for any query and time."""

from collections.abc import Awaitable, Callable, Sequence

from memflow.memories.server.protocol import WireItem
from memflow.resources.memory_servers.check_conversation import COMMON
from memflow.resources.memory_servers.check_lines import CheckFailed, CheckNote, CheckSkipped, check
from memflow.resources.memory_servers.check_queries import QUERIES_OF_SCRIPT, QUERY_PHRASES, queries_for
from memflow.resources.memory_servers.concentration import Traits, concentration
from memflow.resources.memory_servers.content_checks import WRITTEN, K
from memflow.resources.memory_servers.played_conversation import PlayedConversation

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


class ReadChecks:
    """The checks of reads."""

    def __init__(self, played: PlayedConversation) -> None:
        self.played = played
        self.is_ranked = False

    @check("Return k items where there are as many, or declare it in `design` (max_items).", after=WRITTEN)
    async def item_counts(self) -> str:
        """Compare numbers of items with k."""
        design = self.played.design
        if not self.played.has_k:
            raise CheckSkipped("a memory in Python has no k")
        if design.merges:
            raise CheckSkipped("the memory declares that it merges: its items are no messages")
        queries = (" ".join(COMMON), " ".join(COMMON[:2]))
        counts = {
            k: len(await self.played.main.read(queries[0], k)) for k in sorted({*COUNTS, self.played.large})
        }
        top = counts[self.played.large]
        if not top:
            raise CheckSkipped("a broad query finds nothing: `queries` says which do")
        if design.max_items is not None and top > design.max_items:
            raise CheckFailed(f"declares at most {design.max_items} items, and returned {top}")
        other = len(await self.played.main.read(queries[1], self.played.large))
        available = max(len({item.text for item in await self.played.known_items()}), top)
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
        return (
            f"as many as asked for k = {', '.join(map(str, COUNTS))}, and {top} for k = {self.played.large}"
        )

    @check("Filter reads by `space`, also caches and indexes.", after=(*WRITTEN, "spaces"))
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

    @check("Return the best item first, or declare ranked: false.", after=WRITTEN)
    async def ranked(self) -> str:
        """Compare the places of messages whose words are asked."""
        if not self.played.can.ranked:
            raise CheckSkipped("not declared: the order of items has no meaning")
        if self.played.design.merges:
            raise CheckSkipped("the memory declares that it merges: no item belongs to one message")
        better, judged = 0, 0
        known = [message for message in self.played.expected() if message.number in self.played.seen]
        plain = [message for message in known if message.kind == "statement"] or known
        for message in (plain + [other for other in known if other not in plain])[:RANKED]:
            query = f"{message.query} {' '.join(COMMON)}"
            place = self.played.place(message, await self.played.main.read(query, K))
            if (
                place is None
                and self.played.place(message, await self.played.main.read(query, self.played.large)) is None
            ):
                continue  # it is not found at all: `queries`
            if place is None or place[1] > 2:
                judged += 1
                better += place is not None and place[0] < place[1] / 2
        self.is_ranked = better >= judged * RANK_SHARE
        if not self.is_ranked:
            first, second = [
                _texts(await self.played.main.read(message.query, K)) for message in (plain[0], plain[-1])
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

    @check(
        "Answer every query, or declare it in `design` (threshold).",
        after=(*WRITTEN, "fresh_reads", "complete"),
    )
    async def queries(self) -> str:
        """Look for messages with queries in several styles."""
        main = self.played.main
        await main.read("?! ... ;;", K)  # an error is a fault, no items are none
        known = [message for message in self.played.expected() if message.number in self.played.kept]
        if not known or (self.played.design.merges):
            raise CheckSkipped("no item belongs to one message")
        k = K if self.is_ranked or not self.played.has_k else self.played.large
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
        if self.played.design.threshold and (where or failed):
            raise CheckNote(f"{said}; the memory declares a threshold")
        if failed > len(results) * FAILED_SHARE:
            said += " (a threshold that is too high?)"
        if where or failed > len(results) * FAILED_SHARE:
            raise CheckFailed(f"{said}: {where or 'also short ones'}{reason}")
        unread = [message for message in known if message.number not in self.played.seen]
        if unread and self.played.has_k and not self.played.design.max_items:
            raise CheckFailed(
                f"{len(unread)} of {len(known)} messages are stored, but no read with their own words finds them: "
                f"{self.played.describe(known, self.played.seen)}{reason}"
            )
        if failed > len(results) * NOTED_SHARE:
            raise CheckNote(said)
        return f"{len(results) - failed} of {len(results)} queries find their message: short, long, questions, scripts"

    @check("Filter by the number of the write, or declare as_of: none.", after=(*WRITTEN, "fresh_reads"))
    async def as_of(self) -> str:
        """Read as of earlier writes."""
        if self.played.can.as_of != "writes":
            raise CheckSkipped("not declared: probes are asked when their checkpoint is reached")
        main, query = self.played.main, " ".join(COMMON)
        now = main.seen(await main.read(query, self.played.large))
        design = self.played.design
        # A memory with a fixed number of items may return others when more messages compete.
        complete = self.played.has_k and not (design.window or design.merges or design.max_items)
        future, missing, reads = 0, 0, 0
        for write in sorted({max(1, main.number * part // 8) for part in (1, 2, 4, 6, 7)}):
            later = [message for message in main.messages if main.writes[message.number] > write][:2]
            earlier = [message for message in main.messages if main.writes[message.number] <= write][-2:]
            for text in (query, *(message.query for message in (*later, *earlier))):
                then = main.seen(await main.read(text, self.played.large, write))
                reads += 1
                future += any(main.writes[number] > write for number in then)
                expected = (
                    {number for number in now if main.writes[number] <= write} if text == query else set()
                )
                missing += complete and not expected <= then
        if future:
            raise CheckFailed(
                f"{future} of {reads} reads as of an earlier write return later messages: the memory knows the future"
            )
        if missing:
            raise CheckFailed(
                f"{missing} of {reads} reads as of an earlier write lack messages written by then"
            )
        return f"{reads} reads as of earlier writes return what was written by then, and nothing later"

    @check("Set `timeout`, or expect long runs.", after=WRITTEN)
    async def speed(self) -> str:
        """Report the seconds of reads and writes."""
        read, write = _percentile(self.played.read_seconds), _percentile(self.played.write_seconds)
        text = f"the 95th percentile of a read is {read:.2f} s, of a write {write:.2f} s"
        if read > READ_S or write > WRITE_S:
            hours = (sum(self.played.read_seconds) / len(self.played.read_seconds) * RUN_READS) / 3600
            writing = (sum(self.played.write_seconds) / len(self.played.write_seconds) * RUN_WRITES) / 3600
            raise CheckNote(
                f"{text}, above {READ_S:g} s or {WRITE_S:g} s: ten long conversations ({RUN_READS:,} questions) take "
                f"{hours:.1f} hours of reads and {writing:.1f} hours of writes, one after another"
            )
        return text


async def compare_restarted(played: PlayedConversation, kill: Callable[[], Awaitable[None]]) -> str:
    """Read, end the server, and read again. Return what the reads show; raises CheckFailed for a loss."""
    main, expected = played.main, played.expected()
    queries = [" ".join(COMMON), *(message.query for message in expected[:: max(1, len(expected) // 8)])]
    before = [await main.read(query, played.large) for query in queries]
    await kill()
    after = [await main.read(query, played.large) for query in queries]
    kept = main.seen(item for items in before for item in items)
    found = main.seen(item for items in after for item in items)
    if lost := kept - found:
        raise CheckFailed(
            f"{len(lost)} of {len(kept)} messages are lost after a restart, although all writes were repeated, "
            f"such as {main.messages[min(lost) - 1].text[:60]!r}"
        )
    if played.can.deterministic and [_texts(items) for items in before] != [_texts(items) for items in after]:
        raise CheckFailed("reads return other items after a restart and a replay of the writes")
    return f"{len(queries)} reads find the same after a restart and a replay of {main.number} writes"


def _texts(items: Sequence[WireItem]) -> list[str]:
    return [item.text for item in items]


def _percentile(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.95)] if seconds else 0.0

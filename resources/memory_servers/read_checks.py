"""The checks of reads of the conversation: as many items as asked, of the space, ranked, for any query and time."""

from memflow.resources.memory_servers.check_lines import CheckFailed, CheckNote, CheckSkipped, checks_of
from memflow.resources.memory_servers.check_messages import COMMON, PHRASES, QUERIES_OF_SCRIPT, queries_for
from memflow.resources.memory_servers.checked_memory import CheckedMemory, K
from memflow.resources.memory_servers.concentration import concentration
from memflow.resources.memory_servers.conversation_checks import BROAD

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


async def item_counts(memory: CheckedMemory) -> str:
    """Compare numbers of items with k."""
    design, main = memory.can.design, memory.main
    if not memory.has_k:
        raise CheckSkipped("a memory in Python has no k")
    if design.merges:
        raise CheckSkipped("the memory declares that it merges: its items are no messages")
    counts = {k: len(await main.read(BROAD, k)) for k in sorted({*COUNTS, memory.large})}
    top = counts[memory.large]
    if not top:
        raise CheckSkipped("a broad query finds nothing: `queries` says which do")
    if design.max_items is not None and top > design.max_items:
        raise CheckFailed(f"declares at most {design.max_items} items, and returned {top}")
    other = len(await main.read(" ".join(COMMON[:2]), memory.large))
    available = max(len({item.text for item in await memory.known_items()}), top)
    limit = design.max_items or available
    few = {k: count for k, count in counts.items() if count < min(k, top, limit)}
    # A search by words finds fewer items for another query; a limit is the same.
    if top == other and top < min(available, limit) * CAP_SHARE:
        few |= {k: top for k in counts if k > top}
    if few and not design.threshold:
        *first, last = map(str, sorted(few))
        ks = f"{', '.join(first)} and {last}" if first else last
        returned = ", ".join(map(str, dict.fromkeys(few.values())))
        raise CheckFailed(f"returned {returned} items for k = {ks} although {available} items are stored")
    return f"as many as asked for k = {', '.join(map(str, COUNTS))}, and {top} for k = {memory.large}"


async def isolation(memory: CheckedMemory) -> str:
    """Look for words of the other space in all items."""
    main, other = memory.main, memory.other
    if not other.messages:
        raise CheckSkipped("the server declares spaces: 1")
    await other.read(BROAD, memory.large)
    for reader, written in ((other, main.messages), (main, other.messages)):
        for message in written[:: max(1, len(written) // 12)]:
            await reader.read(message.query, K)
    leaks, reads = [*main.leaks, *other.leaks], main.reads + other.reads
    if leaks:
        raise CheckFailed(
            f"{len(leaks)} of {reads} reads return messages of another space, as for {leaks[0][:60]!r}"
        )
    return f"no item of {reads} reads is from another space"


async def ranked(memory: CheckedMemory) -> str:
    """Compare the places of messages whose words are asked."""
    if not memory.can.ranked:
        raise CheckSkipped("not declared: the order of items has no meaning")
    if memory.can.design.merges:
        raise CheckSkipped(
            "the memory declares `merges`, so an item may combine several messages and its rank cannot be checked"
        )
    main, better, judged = memory.main, 0, 0
    known = [message for message in memory.expected() if message.number in memory.seen]
    known.sort(key=lambda message: message.kind != "statement")
    for message in known[:RANKED]:
        query = f"{message.query} {BROAD}"
        items = await main.read(query, K)
        place = next((at for at, item in enumerate(items) if message.number in main.of_item(item)), None)
        # A message that is not found at all is the subject of `queries`.
        if (place is None and await main.finds(message, query, memory.large)) or (
            place is not None and len(items) > 2
        ):
            judged += 1
            better += place is not None and place < len(items) / 2
    memory.is_ranked = better >= judged * RANK_SHARE
    if not memory.is_ranked:
        plain = [message for message in known if message.kind == "statement"] or known
        first, second = [await main.read(message.query, K) for message in (plain[0], plain[-1])]
        if [item.text for item in first] == [item.text for item in second]:
            raise CheckNote("reads return the same items for every query: declare ranked: false")
        raise CheckFailed(
            f"the message whose words are asked is in the first half of the items in {better} of {judged} reads: the "
            "best item is not first"
        )
    if not judged:
        raise CheckNote("no read returned its message among others, so that there is no rank")
    return f"the message whose words are asked is among the first in {better} of {judged} reads"


async def queries(memory: CheckedMemory) -> str:
    """Look for messages with queries in several styles."""
    main, design = memory.main, memory.can.design
    await main.read("?! ... ;;", K)  # an error is a fault, no items are none
    known = [message for message in memory.expected() if message.number in memory.kept]
    if not known or design.merges:
        raise CheckSkipped("no item belongs to one message")
    k = K if memory.is_ranked or not memory.has_k else memory.large
    results = [(traits, await main.finds(message, query, k)) for message, query, traits in queries_for(known)]
    failed = sum(not is_found for _, is_found in results)
    where = concentration(results, PHRASES["query"], side_size=QUERIES_OF_SCRIPT)
    count = f"{failed} of {len(results)} queries do not find the message whose words they contain"
    reason = f". The server reports: {main.errors[0]}" if main.errors else ""
    if design.threshold and failed:
        raise CheckNote(f"{count}; the memory declares a threshold")
    if failed > len(results) * FAILED_SHARE:
        raise CheckFailed(f"{count} (a threshold that is too high?): {where or 'also short ones'}{reason}")
    if where:
        raise CheckFailed(f"{count}: {where}{reason}")
    unread = [message for message in known if message.number not in memory.seen]
    if unread and memory.has_k and not design.max_items:
        raise CheckFailed(
            f"{len(unread)} of {len(known)} messages are stored, but no read with their own words finds them: "
            f"{memory.describe(known, memory.seen)}{reason}"
        )
    if failed > len(results) * NOTED_SHARE:
        raise CheckNote(count)
    return f"{len(results) - failed} of {len(results)} queries find their message: short, long, questions, scripts"


async def as_of(memory: CheckedMemory) -> str:
    """Read as of earlier writes."""
    if memory.can.as_of != "writes":
        raise CheckSkipped("not declared: probes are asked when their checkpoint is reached")
    main, design = memory.main, memory.can.design
    now = main.seen(await main.read(BROAD, memory.large))
    # A memory with a fixed number of items may return others when more messages compete.
    complete = memory.has_k and not (design.window or design.merges or design.max_items)
    future, missing, reads = 0, 0, 0
    for write in sorted({max(1, main.number * part // 8) for part in (1, 2, 4, 6, 7)}):
        later = [message for message in main.messages if main.writes[message.number] > write][:2]
        earlier = [message for message in main.messages if main.writes[message.number] <= write][-2:]
        for query in (BROAD, *(message.query for message in (*later, *earlier))):
            then = main.seen(await main.read(query, memory.large, write))
            reads += 1
            future += any(main.writes[number] > write for number in then)
            if query == BROAD and complete:
                missing += not then >= {number for number in now if main.writes[number] <= write}
    if future:
        raise CheckFailed(
            f"{future} of {reads} reads as of an earlier write return later messages: the memory knows the future"
        )
    if missing:
        raise CheckFailed(f"{missing} of {reads} reads as of an earlier write lack messages written by then")
    return f"{reads} reads as of earlier writes return what was written by then, and nothing later"


READ = checks_of("read", globals())

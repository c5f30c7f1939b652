"""Checks of reads: item count, isolation, ranking, queries, time. Each returns what it found, or raises Finding."""

import asyncio

from memflow.resources.memory_servers.check_lines import Finding
from memflow.resources.memory_servers.check_messages import (
    BROAD,
    COMMON,
    PHRASES,
    QUERIES_OF_SCRIPT,
    concentration,
    queries_for,
)
from memflow.resources.memory_servers.checked_memory import CheckedMemory, K, difference

COUNTS = (1, 5, 10, 30, 50, 100)
"""The k at which item counts are compared, beside one above the number of messages."""
RANKED = 24
"""Messages whose rank is compared."""
RANK_SHARE = 0.5
"""A ranking is wrong if the message whose words are asked is in the first quarter in fewer reads. A random order has
.25 on average, with a standard deviation of .09, and a search by words or vectors has more than .9."""
FAILED_SHARE = 0.4
"""Share of queries without their message among the first 10 that is a fault, if nothing explains them. A healthy search
by words or vectors misses few of words that no other message has."""
CAP_SHARE = 0.9
"""A read for everything returns fewer than this share of the items if there is a limit."""


async def item_counts(memory: CheckedMemory) -> str:
    """Compare numbers of items with k."""
    design, main, large = memory.can.design, memory.main, memory.large
    counts = {k: len(await main.read(BROAD, k)) for k in (*COUNTS, large)}
    top, other = counts[large], len(await main.read(" ".join(COMMON[:2]), large))
    if not top:
        raise Finding(f"the query {BROAD!r} finds nothing; see the line `queries`", "skipped")
    stored = max(len({item.text for item, _ in await main.known_items()}), top)
    limit = design.max_items or stored
    if design.max_items and top > limit:
        raise Finding(f"declares at most {limit} items, and returned {top} for k = {large} and {BROAD!r}")
    # A search by words finds fewer items for another query; a limit is the same.
    is_limited = top == other and top < min(stored, limit) * CAP_SHARE
    few = [k for k, count in counts.items() if count < min(k, limit if is_limited else top)]
    if few and not design.threshold:
        raise Finding(
            f"returned {counts[few[-1]]} items for k = {', '.join(map(str, few))} although {stored} items are stored "
            f"(query {BROAD!r})"
        )
    return f"as many as asked for k = {', '.join(map(str, COUNTS))}, and {top} for k = {large}"


async def isolation(memory: CheckedMemory) -> str:
    """Check that concurrent reads of two spaces return no message of the other. Raises Finding if an item leaks."""
    main, other = memory.main, memory.other
    messages = (*main.messages[-6:], *other.messages[-6:])
    reads = [
        (reader, written, query)
        for query in (BROAD, *COMMON, *(message.query for message in messages))
        for reader, written in ((main, other), (other, main))
    ]
    answers = await asyncio.gather(*(reader.read(query, memory.large) for reader, _, query in reads))
    if leaks := [read for read, items in zip(reads, answers, strict=True) if read[1].seen(items)]:
        reader, _, query = leaks[0]
        raise Finding(
            f"{len(leaks)} of {len(reads)} concurrent reads return messages of another space, as for {query[:60]!r} in "
            f"{reader.space}"
        )
    return f"no item of {len(reads)} concurrent reads is from another space"


async def ranked(memory: CheckedMemory) -> str:
    """Compare the places of messages whose words are asked."""
    main, better, misplaced = memory.main, 0, list[str]()
    known = sorted(main.expected(main.found), key=lambda message: message.kind != "statement")
    for message in known[:RANKED]:
        items = await main.read(f"{message.query} {BROAD}", memory.large)
        places = [place for place, item in enumerate(items) if message in main.seen([item])]
        # A message that is not found at all is the subject of `queries`.
        if places and len(items) > 3:
            is_better = places[0] < len(items) / 4
            better += is_better
            misplaced += [] if is_better else [message.query]
    judged = better + len(misplaced)
    if not judged:
        raise Finding("no read returned its message among others, so that there is no rank", "note")
    memory.is_ranked = better >= judged * RANK_SHARE
    if memory.is_ranked:
        return f"the message whose words are asked is among the first in {better} of {judged} reads"
    if not difference(*[await memory.texts(main.space, message.query) for message in (known[0], known[-1])]):
        raise Finding(
            f"reads return the same items for {known[0].query!r} and {known[-1].query!r}: declare ranked: false "
            "(in Python: ranks_entries = False)",
            "note",
        )
    raise Finding(
        f"the message whose words are asked is in the first quarter of the items in {better} of {judged} reads: "
        f"the best item is not first, as for {misplaced[0]!r}"
    )


async def queries(memory: CheckedMemory) -> str:
    """Look for messages with queries in several styles."""
    main, design = memory.main, memory.can.design
    known = main.expected(main.stored)
    if not known:
        raise Finding("no read and no export returned a message; see the line `complete`", "skipped")
    k = K if memory.is_ranked or not memory.has_k else memory.large
    results, missed = [], list[str]()
    for message, query in queries_for(known):
        is_found = await main.finds(message, query, k)
        results.append((message.traits(query), is_found))
        missed += [] if is_found else [query]
    where = concentration(results, PHRASES["query"], side=QUERIES_OF_SCRIPT)
    count = f"{len(missed)} of {len(results)} queries do not find the message whose words they contain"
    count += f", such as {missed[0][:60]!r}" if missed else ""
    reason = f". The server reports: {main.errors[0]}" if main.errors else ""
    if missed and design.threshold:
        raise Finding(f"{count}; the memory declares a threshold", "note")
    if len(missed) > len(results) * FAILED_SHARE:
        raise Finding(f"{count} (a threshold that is too high?): {where or 'also short ones'}{reason}")
    if where:
        raise Finding(f"{count}: {where}{reason}")
    unread = {*known} - main.found
    if unread and memory.has_k and not design.max_items:
        raise Finding(
            f"{len(unread)} of {len(known)} messages are stored, but no read with their own words finds them: "
            f"{main.describe(known, main.found)}{reason}"
        )
    return f"{len(results) - len(missed)} of {len(results)} queries find their message: short, long, questions, scripts"


async def as_of(memory: CheckedMemory) -> str:
    """Read as of earlier writes."""
    main, design = memory.main, memory.can.design
    now = main.seen(await main.read(BROAD, memory.large))
    # A memory with a fixed number of items may return others when more messages compete.
    complete = memory.has_k and not (design.window or design.merges or design.max_items)
    future, missing, reads = list[str](), list[str](), 0
    for write in sorted({max(1, max(main.writes.values()) * part // 8) for part in (1, 2, 4, 6, 7)}):
        later = [message for message in main.messages if main.writes[message] > write]
        for query in (BROAD, later[0].query, later[-1].query):
            then = main.seen(await main.read(query, memory.large, write))
            reads += 1
            found = f"as of write {write}, {query[:60]!r}"
            future += [f"{found} finds {message.text[:60]!r}" for message in later if message in then][:1]
            absent = now.difference(later, then) if complete and query == BROAD else set()
            missing += [f"{found} does not find {message.text[:60]!r}" for message in absent][:1]
    if future:
        raise Finding(
            f"{len(future)} of {reads} reads as of an earlier write return later messages, so the memory knows the "
            f"future: {future[0]}"
        )
    if missing:
        raise Finding(
            f"{len(missing)} of {reads} reads as of an earlier write lack messages written by then: {missing[0]}"
        )
    return f"{reads} reads as of earlier writes return what was written by then, and nothing later"

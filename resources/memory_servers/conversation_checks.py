"""The checks of the conversation: of what the memory has of it, and of reads.

The memory returns each message, its text and date, the same at every read; and as many items as asked, of the space,
ranked, for any query and time.
"""

import asyncio

from memflow.resources.memory_servers.check_lines import CheckFailed, CheckNote, CheckSkipped
from memflow.resources.memory_servers.check_messages import (
    BROAD,
    COMMON,
    PHRASES,
    QUERIES_OF_SCRIPT,
    CheckMessage,
    check_messages,
    concentration,
    queries_for,
    words_of,
)
from memflow.resources.memory_servers.checked_memory import (
    READS,
    CheckedMemory,
    Conversation,
    K,
    contains,
    difference,
)

OTHER_WORDS = 100_000
"""The number of the first word of the conversation in another space."""
MOST_UNRELATED = 4
"""Sources that an item may name although it has no word of them; 3 for each of its own sources if that is more."""
SHORT = 300
"""Characters up to which a text has to be in one item. A longer one may be divided among items."""
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


async def conversation(memory: CheckedMemory) -> str:
    """Write the conversations as runs do."""
    size, other_size = memory.sizes
    first, second = check_messages(size), check_messages(other_size, OTHER_WORDS)
    main = memory.main = Conversation(memory, await memory.space("conversation-1"), first)
    await main.play(first[: size // 2])
    if second:
        memory.other = Conversation(memory, await memory.space("conversation-2"), second)
        await memory.other.play(second)
    await main.play(first[size // 2 :])
    failed = {**memory.other.failed, **main.failed}
    if failed:
        where = (
            main.describe(first, {*first} - main.failed.keys()) if main.failed else f"{len(failed)} messages"
        )
        raise CheckFailed(f"writes failed: {where}: {next(iter(failed.values()))}")
    return (
        f"{size} messages of {first[-1].session} sessions in {max(main.writes.values())} writes, and {other_size} in "
        "another space"
    )


async def stable_reads(memory: CheckedMemory) -> str:
    """Repeat reads."""
    note, queries = "", [BROAD, *(message.query for message in memory.main.expected()[-3:])]
    for query in queries:
        first, *repeated = [await memory.main.read(query) for _ in range(READS)]
        texts = [item.text for item in first]
        for items in repeated:
            if items and first and {item.id for item in items}.isdisjoint(item.id for item in first):
                raise CheckFailed(
                    f"two equal reads have no item id in common (first: {first[0].id!r}, second: {items[0].id!r})"
                )
            others = [item.text for item in items]
            if change := difference(texts, others):
                is_order = sorted(texts) == sorted(others)
                how = "the same items in another order" if is_order else "other items, or none,"
                note = f"equal reads return {how} (query {query!r}): {change}"
                if is_order or memory.can.deterministic or not (texts and others):
                    raise CheckFailed(note)
    if note:
        raise CheckNote(f"{note}; the server does not declare `deterministic`")
    return f"{len(queries) * (READS - 1)} repeated reads return the same"


async def complete(memory: CheckedMemory) -> str:
    """Look for every message, by reads and in the export."""
    main, design = memory.main, memory.can.design
    for query in (BROAD, main.messages[-1].query):
        main.found |= main.seen(await main.read(query, memory.large))
    expected = main.expected()
    for message in expected:
        if message not in main.found and await main.finds(message, message.query, memory.large):
            main.found.add(message)
    main.stored = main.found | main.seen(await memory.exported(main.space))
    declared = f" of the declared window of {design.window}" if design.window else ""
    declared += f" of the {design.roles[0]}" if len(design.roles) == 1 else ""
    if main.stored.issuperset(expected):
        return f"all {len(expected)} messages{declared} come back"
    stored = f"{len(main.expected(main.stored))} of {len(expected)} messages{declared}"
    if design.merges:
        return f"{stored} are found by their words; the memory declares `merges`"
    raise CheckFailed(f"stored {stored}: lost are {main.describe(expected, main.stored)}")


async def unchanged(memory: CheckedMemory) -> str:
    """Compare the texts of the items with those of the written messages."""
    main, texts = memory.main, dict[CheckMessage, list[str]]()
    for item, messages in await main.known_items():
        for message in messages:
            texts.setdefault(message, []).append(item.text)
    stored = [(message, texts[message]) for message in main.expected({*texts})]
    cut = [(message, own) for message, own in stored if not {*message.words} <= words_of(" ".join(own))]
    if cut:
        lengths = [len(message.text) for message, _ in cut]
        kept = max(len(text) for _, own in cut for text in own)
        raise CheckFailed(
            f"{len(cut)} of {len(stored)} texts came back without their end: those of {min(lengths):,} to "
            f"{max(lengths):,} characters, cut at about {kept:,}"
        )
    short = [(message.text, own) for message, own in stored if len(message.text) <= SHORT]
    changed = [(text, own) for text, own in short if not contains(own, text)]
    if len(changed) > 1:
        text, own = changed[0]
        raise CheckFailed(
            f"{len(changed)} of {len(stored)} texts came back changed: {own[0]!r} instead of {text!r}"
        )
    return "texts come back as they were written, with all of their sentences"


async def sources(memory: CheckedMemory) -> str:
    """Compare the sources of items with the messages whose words they have."""
    unit, main = memory.can.sources, memory.main
    source_of = {
        message: message.message_id if unit == "message" else str(write)
        for message, write in main.writes.items()
    }
    items = await main.known_items()
    if strange := sorted({source for item, _ in items for source in item.sources} - {*source_of.values()}):
        raise CheckFailed(f"items name sources that were never sent: {', '.join(strange[:3])}")
    checked, wrong, wide = 0, list[str](), list[str]()
    for item, messages in items:
        own, named = {source_of[message] for message in messages}, {*item.sources}
        shown = f"{', '.join(item.sources[:3]) or 'none'}: {item.text[:60]!r}"
        checked += bool(own)
        wrong += [f"an item with words of {absent} names {shown}" for absent in sorted(own - named)[:1]]
        is_wide = own and len(named - own) > max(MOST_UNRELATED, 3 * len(own))
        wide += [f"an item names {shown}"] if is_wide else []
    if memory.can.design.merges:
        return f"{checked} items name sources that were sent; the memory declares `merges`"
    if wrong:
        raise CheckFailed(
            f"{len(wrong)} of {checked} items do not name the {unit} that they are from: {wrong[0]}"
        )
    if len(wide) > checked / 2:
        raise CheckFailed(
            f"{len(wide)} of {checked} items name more than {MOST_UNRELATED} sources that share no words with them: "
            f"{wide[0]}"
        )
    return f"{checked} items name the {unit} that they are from"


async def dates(memory: CheckedMemory) -> str:
    """Compare the dates of items with those of their messages. A text may have the date itself."""
    checked, wrong = 0, list[str]()
    for item, messages in await memory.main.known_items():
        days = {str(message.sent_at)[:10] for message in messages}
        if len(days) != 1 or (memory.can.design.merges and item.sent_at is None):
            continue
        [day] = days
        checked += 1
        has_date = day[:4] in item.text if item.sent_at is None else item.sent_at.startswith(day)
        wrong += [] if has_date else [f"{item.sent_at or 'none'} instead of {day}: {item.text[:60]!r}"]
    if wrong:
        raise CheckFailed(
            f"declares dates, and {len(wrong)} of {checked} items have none, or another than their message, such as "
            f"{wrong[0]}"
        )
    return f"{checked} items have the dates of their messages"


async def item_counts(memory: CheckedMemory) -> str:
    """Compare numbers of items with k."""
    design, main, large = memory.can.design, memory.main, memory.large
    counts = {k: len(await main.read(BROAD, k)) for k in (*COUNTS, large)}
    top, other = counts[large], len(await main.read(" ".join(COMMON[:2]), large))
    if not top:
        raise CheckSkipped(f"the query {BROAD!r} finds nothing; see the line `queries`")
    stored = max(len({item.text for item, _ in await main.known_items()}), top)
    limit = design.max_items or stored
    if design.max_items and top > limit:
        raise CheckFailed(f"declares at most {limit} items, and returned {top} for k = {large} and {BROAD!r}")
    # A search by words finds fewer items for another query; a limit is the same.
    is_limited = top == other and top < min(stored, limit) * CAP_SHARE
    few = [k for k, count in counts.items() if count < min(k, limit if is_limited else top)]
    if few and not design.threshold:
        raise CheckFailed(
            f"returned {counts[few[-1]]} items for k = {', '.join(map(str, few))} although {stored} items are stored "
            f"(query {BROAD!r})"
        )
    return f"as many as asked for k = {', '.join(map(str, COUNTS))}, and {top} for k = {large}"


async def isolation(memory: CheckedMemory) -> str:
    """Read both spaces concurrently, and look for words of the other one in all items."""
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
        raise CheckFailed(
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
        raise CheckNote("no read returned its message among others, so that there is no rank")
    memory.is_ranked = better >= judged * RANK_SHARE
    if memory.is_ranked:
        return f"the message whose words are asked is among the first in {better} of {judged} reads"
    if not difference(*[await memory.texts(main.space, message.query) for message in (known[0], known[-1])]):
        raise CheckNote(
            f"reads return the same items for {known[0].query!r} and {known[-1].query!r}: declare ranked: false "
            "(in Python: ranks_entries = False)"
        )
    raise CheckFailed(
        f"the message whose words are asked is in the first quarter of the items in {better} of {judged} reads: "
        f"the best item is not first, as for {misplaced[0]!r}"
    )


async def queries(memory: CheckedMemory) -> str:
    """Look for messages with queries in several styles."""
    main, design = memory.main, memory.can.design
    known = main.expected(main.stored)
    if not known:
        raise CheckSkipped("no read and no export returned a message; see the line `complete`")
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
        raise CheckNote(f"{count}; the memory declares a threshold")
    if len(missed) > len(results) * FAILED_SHARE:
        raise CheckFailed(f"{count} (a threshold that is too high?): {where or 'also short ones'}{reason}")
    if where:
        raise CheckFailed(f"{count}: {where}{reason}")
    unread = {*known} - main.found
    if unread and memory.has_k and not design.max_items:
        raise CheckFailed(
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
        raise CheckFailed(
            f"{len(future)} of {reads} reads as of an earlier write return later messages, so the memory knows the "
            f"future: {future[0]}"
        )
    if missing:
        raise CheckFailed(
            f"{len(missing)} of {reads} reads as of an earlier write lack messages written by then: {missing[0]}"
        )
    return f"{reads} reads as of earlier writes return what was written by then, and nothing later"

"""The checks of what a memory has of the conversation: the same at every read, each message, its text and date."""

from memflow.resources.memory_servers.check_lines import Finding
from memflow.resources.memory_servers.check_messages import BROAD, CheckMessage, check_messages, words_of
from memflow.resources.memory_servers.checked_memory import (
    READS,
    CheckedMemory,
    Conversation,
    contains,
    difference,
)

OTHER_WORDS = 100_000
"""The number of the first word of the conversation in another space."""
MOST_UNRELATED = 4
"""Sources that an item may name although it has no word of them; 3 for each of its own sources if that is more."""
SHORT = 300
"""Characters up to which a text has to be in one item. A longer one may be divided among items."""


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
        raise Finding(f"writes failed: {where}: {next(iter(failed.values()))}")
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
                raise Finding(
                    f"two equal reads have no item id in common (first: {first[0].id!r}, second: {items[0].id!r})"
                )
            others = [item.text for item in items]
            if change := difference(texts, others):
                is_order = sorted(texts) == sorted(others)
                how = "the same items in another order" if is_order else "other items, or none,"
                note = f"equal reads return {how} (query {query!r}): {change}"
                if is_order or memory.can.deterministic or not (texts and others):
                    raise Finding(note)
    if note:
        raise Finding(f"{note}; the server does not declare `deterministic`", "note")
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
    raise Finding(f"stored {stored}: lost are {main.describe(expected, main.stored)}")


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
        raise Finding(
            f"{len(cut)} of {len(stored)} texts came back without their end: those of {min(lengths):,} to "
            f"{max(lengths):,} characters, cut at about {kept:,}"
        )
    short = [(message.text, own) for message, own in stored if len(message.text) <= SHORT]
    changed = [(text, own) for text, own in short if not contains(own, text)]
    if len(changed) > 1:
        text, own = changed[0]
        raise Finding(
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
        raise Finding(f"items name sources that were never sent: {', '.join(strange[:3])}")
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
        raise Finding(
            f"{len(wrong)} of {checked} items do not name the {unit} that they are from: {wrong[0]}"
        )
    if len(wide) > checked / 2:
        raise Finding(
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
        raise Finding(
            f"declares dates, and {len(wrong)} of {checked} items have none, or another than their message, such as "
            f"{wrong[0]}"
        )
    return f"{checked} items have the dates of their messages"

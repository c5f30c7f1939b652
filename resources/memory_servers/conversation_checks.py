"""The checks of what a memory has of the conversation: the same at every read, each message, its text and date."""

from memflow.resources.memory_servers.check_lines import CheckFailed, CheckNote, CheckSkipped, checks_of
from memflow.resources.memory_servers.check_messages import COMMON, check_messages
from memflow.resources.memory_servers.checked_memory import READS, CheckedMemory, Conversation, K, difference
from memflow.resources.memory_servers.text_changes import text_change

OTHER_WORDS = 100_000
"""The number of the first word of the conversation in another space."""
MOST_UNRELATED = 4
"""Sources that an item may name although it has no word of them; 3 for each of its own sources if that is more."""
BROAD = " ".join(COMMON)
"""A query for most messages."""


async def conversation(memory: CheckedMemory) -> str:
    """Write the conversations as runs do."""
    size, other_size = memory.sizes
    first, second = check_messages(size), check_messages(other_size, OTHER_WORDS)
    main = memory.main = Conversation(memory, await memory.space("conversation-1"), first, second)
    half = size // 2
    await main.play(first[:half])
    if second:
        memory.other = Conversation(memory, await memory.space("conversation-2"), second, first)
        await memory.other.play(second)
    await main.play(first[half:])
    failed = {**memory.other.failed, **main.failed}
    if failed:
        written = [message.number for message in first if message.number not in main.failed]
        where = memory.describe(first, written) if main.failed else f"{len(failed)} messages"
        raise CheckFailed(f"writes failed: {where}: {next(iter(failed.values()))}")
    return (
        f"{len(first)} messages of {first[-1].session} sessions in {main.number} writes, and {len(second)} in another "
        "space"
    )


async def stable_reads(memory: CheckedMemory) -> str:
    """Repeat reads."""
    note, queries = "", [BROAD, *(message.query for message in memory.expected()[-3:])]
    for query in queries:
        first, *repeated = [[item.text for item in await memory.main.read(query, K)] for _ in range(READS)]
        for texts in (texts for texts in repeated if texts != first):
            if not texts or not first:
                raise CheckFailed(
                    f"of two equal reads, one returned nothing, and one {len(texts or first)} items (query {query!r})"
                )
            change = f"(query {query!r}): {difference(first, texts)}"
            if sorted(texts) == sorted(first):
                raise CheckFailed(f"equal reads return the same items in another order {change}")
            if memory.can.deterministic:
                raise CheckFailed(f"equal reads return other items {change}")
            note = f"equal reads return other items {change}; the server does not declare `deterministic`"
    if note:
        raise CheckNote(note)
    return f"{len(queries) * (READS - 1)} repeated reads return the same"


async def complete(memory: CheckedMemory) -> str:
    """Look for every message, by reads and in the export."""
    main = memory.main
    for query in (BROAD, main.messages[-1].query):
        memory.seen |= main.seen(await main.read(query, memory.large))
    expected = memory.expected()
    for message in expected:
        if message.number not in memory.seen and await main.finds(message, message.query, memory.large):
            memory.seen.add(message.number)
    memory.kept = memory.seen | main.seen(await memory.stored())
    number = sum(message.number in memory.kept for message in expected)
    all_of = f"{len(expected)} messages"
    if number == len(expected):
        return f"all {all_of}{memory.of_design()} come back"
    if memory.can.design.merges:
        return f"{number} of {all_of} are found by their words; the memory declares `merges`"
    raise CheckFailed(
        f"stored {number} of {all_of}{memory.of_design()}: lost are {memory.describe(expected, memory.kept)}"
    )


async def unchanged(memory: CheckedMemory) -> str:
    """Compare the texts of the items with those of the written messages."""
    if memory.can.design.merges:
        raise CheckSkipped("the memory declares `merges`, so its texts may differ from the messages")
    stored = [message for message in memory.expected() if message.number in memory.kept]
    if change := text_change(memory.main, stored, await memory.known_items()):
        raise CheckFailed(change)
    return "texts come back as they were written, with all of their sentences"


async def sources(memory: CheckedMemory) -> str:
    """Compare the sources of items with the messages whose words they have."""
    unit, merges = memory.can.sources, memory.can.design.merges
    if unit == "none":
        raise CheckSkipped("not declared: wrong answers are not attributed by evidence")
    sent = {memory.source(message.number) for message in memory.main.messages}
    checked, wrong, wide = 0, list[str](), list[str]()
    items = await memory.known_items()
    if strange := sorted({source for item in items for source in item.sources} - sent):
        raise CheckFailed(f"items name sources that were never sent: {', '.join(strange[:3])}")
    for item in items:
        own = {memory.source(number) for number in memory.main.of_item(item)}
        if not own or (merges and not item.sources):
            continue
        checked += 1
        named = ", ".join(item.sources[:3]) or "none"
        if absent := sorted(own - {*item.sources}):
            wrong.append(f"an item with words of {absent[0]} names {named}: {item.text[:60]!r}")
        if len({*item.sources} - own) > max(MOST_UNRELATED, 3 * len(own)):
            wide.append(f"{item.text[:60]!r} names {named} and more")
    if wrong and not merges:
        raise CheckFailed(
            f"{len(wrong)} of {checked} items do not name the {unit} that they are from: {wrong[0]}"
        )
    if len(wide) > checked / 2 and not merges:
        raise CheckFailed(
            f"{len(wide)} of {checked} items name more than {MOST_UNRELATED} sources that share no words with them: "
            f"for example, {wide[0]}"
        )
    return f"{checked} items name the {unit} that they are from"


async def dates(memory: CheckedMemory) -> str:
    """Compare the dates of items with those of their messages."""
    if not memory.can.dates:
        raise CheckSkipped("not declared: memflow puts the date before each text")
    days = {message.number: message.sent_at[:10] for message in memory.main.messages}
    checked, without, wrong = 0, list[str](), list[str]()
    for item in await memory.known_items():
        own = {days[number] for number in memory.main.of_item(item)}
        if len(own) != 1 or (memory.can.design.merges and item.sent_at is None):
            continue
        [day] = own
        checked += 1
        if item.sent_at is None:
            without += [] if day[:4] in item.text else [item.text]
        elif not item.sent_at.startswith(day):
            wrong.append(f"{item.sent_at} instead of {day}: {item.text[:60]!r}")
    if without:
        raise CheckFailed(
            f"declares dates, and of {checked} items {len(without)} have no date, such as {without[0][:60]!r}"
        )
    if wrong:
        raise CheckFailed(
            f"declares dates, and of {checked} items {len(wrong)} have another date than their message ({wrong[0]})"
        )
    return f"{checked} items have the dates of their messages"


CONVERSATION = checks_of("conversation", globals())

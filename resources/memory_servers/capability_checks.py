"""The checks of what a memory declares: items keep their ids, reads leave nothing, copies are equal and separate."""

from memflow.resources.memory_servers.check_lines import CheckFailed, CheckNote, CheckSkipped, checks_of
from memflow.resources.memory_servers.check_messages import CODE_QUERY, WORDS
from memflow.resources.memory_servers.checked_memory import CheckedMemory, contains


async def stable_ids(memory: CheckedMemory) -> str:
    """Compare the ids of two equal reads."""
    space = await memory.two_secrets("stable_ids")
    first_ids, second_ids = [
        [item.id for item in (await memory.connection.read(space, CODE_QUERY, 10)).items] for _ in range(2)
    ]
    if first_ids and set(first_ids).isdisjoint(second_ids):
        second_id = repr(second_ids[0]) if second_ids else "no item"
        raise CheckFailed(
            f"two equal reads of space {space} have no item id in common (first: {first_ids[0]!r}, second: {second_id})"
        )
    return "items keep their ids"


async def pure_reads(memory: CheckedMemory) -> str:
    """Look for a query of a former read in the memory."""
    space, query = await memory.two_secrets("pure_reads"), "chinchilla vault code"
    await memory.texts(space, query)
    if not memory.can.pure_reads:
        raise CheckNote("declares that reads change the memory: a probe may change the answer to the next")
    if contains(await memory.texts(space, query), "chinchilla"):
        raise CheckFailed("a read finds the query of a former read: reads write")
    return "a read leaves nothing"


async def export(memory: CheckedMemory) -> str:
    """Compare the items of an export with the written messages."""
    if memory.can.export == "none":
        raise CheckSkipped("not declared: entries are known when a read returns them")
    items = (await memory.connection.export(await memory.two_secrets("export"))).items
    if not items:
        raise CheckFailed("the export of a space with two messages is empty")
    if not all(contains((item.text for item in items), word) for word in WORDS):
        raise CheckNote("the export does not contain the words of both messages")
    return f"{len(items)} items"


async def fork(memory: CheckedMemory) -> str:
    """Fork a space, and write to both: the same, if that is deterministic, and different messages."""
    if not memory.can.fork:
        raise CheckSkipped("not declared")
    space = await memory.two_secrets("fork")
    copy = f"{space}@copy"
    memory.written[copy] = memory.written[space]
    await memory.connection.fork(space, copy)
    await _compare_copy(memory, space, copy, "")
    if memory.can.deterministic:
        for name in (space, copy):
            await memory.write(name, memory.message(5, "The vault code of Lanfranc is quetzal."))
        await _compare_copy(memory, space, copy, ", after one more write to both")
    await memory.write(copy, memory.message(3, "The vault code of Fulbert is walrus."))
    await memory.write(space, memory.message(4, "The vault code of Argenteuil is ocelot."))
    for name, word, written_space in ((space, "walrus", copy), (copy, "ocelot", space)):
        if contains(await memory.texts(name, CODE_QUERY), word):
            raise CheckFailed(f"{name} returns {word!r}, which was written only to {written_space}")
    return f"{memory.copy_name} has the content of its origin, and is separate"


async def restore(memory: CheckedMemory) -> str:
    """Restore an export in another space, and compare reads."""
    if not memory.can.restore:
        raise CheckSkipped("not declared")
    if memory.can.export == "none":
        raise CheckFailed("declares restore, but no export whose items could be restored")
    space = await memory.two_secrets("restore")
    items = (await memory.connection.export(space)).items
    restored = await memory.space("restored")
    await memory.connection.restore(restored, items)
    if await memory.texts(restored, CODE_QUERY) != await memory.texts(space, CODE_QUERY):
        raise CheckFailed("a read of the restored space differs from a read of the living one")
    return "a restored space answers like the living one"


async def _compare_copy(memory: CheckedMemory, space: str, copy: str, when: str) -> None:
    if await memory.texts(copy, CODE_QUERY) != await memory.texts(space, CODE_QUERY):
        raise CheckFailed(f"a read of {memory.copy_name} differs from a read of its origin{when}")


CAPABILITIES = checks_of("capabilities", globals())

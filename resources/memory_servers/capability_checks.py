"""The checks of what a memory declares: reads leave nothing, copies are equal and separate, and it can forget."""

from memflow.memories.forgetting import ForgetRequest
from memflow.resources.memory_servers.check_lines import Finding
from memflow.resources.memory_servers.check_messages import CODE_QUERY, OLD_DATES, SECRETS, WORDS
from memflow.resources.memory_servers.checked_memory import CheckedMemory, contains, difference

GONE, KEPT = WORDS
"""The words of the message that is forgotten, and of its neighbor."""
_DAY, _NEVER = OLD_DATES[0][:10], "1990-01-01"
REQUESTS = {
    "message": (ForgetRequest("message", ("check-1",)), ForgetRequest("message", ("check-never",))),
    "text": (ForgetRequest("text", text=f"vault code {GONE}"), ForgetRequest("text", text="quagga")),
    "time": (ForgetRequest("time", (), "", _DAY, _DAY), ForgetRequest("time", (), "", _NEVER, _NEVER)),
}
"""By form: a request to forget the first of two messages, and one to forget what was never said."""
EVERYTHING = {"message": ForgetRequest("message", ("check-1", "check-2")), "time": ForgetRequest("time")}


async def pure_reads(memory: CheckedMemory) -> str:
    """Look for a query of a former read in the memory."""
    space, query = await memory.two_secrets("pure_reads"), "chinchilla vault code"
    await memory.texts(space, query)
    if not memory.can.pure_reads:
        raise Finding(
            "declares that reads change the memory: a probe may change the answer to the next", "note"
        )
    if contains(await memory.texts(space, query), "chinchilla"):
        raise Finding(
            f"a read of space {space} finds {query!r}, which was only the query of a former read: reads write"
        )
    return "a read leaves nothing"


async def export(memory: CheckedMemory) -> str:
    """Compare the items of an export with the written messages."""
    space = await memory.two_secrets("export")
    items = await memory.exported(space)
    if missing := [word for word in WORDS if not contains((item.text for item in items), word)]:
        raise Finding(
            f"the export of space {space} has {len(items)} items, and not {missing[0]!r} of its two messages",
            "note" if items else "wrong",
        )
    return f"{len(items)} items"


async def fork(memory: CheckedMemory) -> str:
    """Fork a space, and write to both: the same, if that is deterministic, and different messages."""
    space = await memory.two_secrets("fork")
    copy = f"{space}@copy"
    memory.written[copy] = memory.written[space]
    await memory.connection.fork(space, copy)
    await _compare_copy(memory, space, copy, "a fork")
    if memory.can.deterministic:
        for name in (space, copy):
            await memory.write_text(name, 5, "The vault code of Lanfranc is quetzal.")
        await _compare_copy(memory, space, copy, "a fork, after one more write to both,")
    await memory.write_text(copy, 3, "The vault code of Fulbert is walrus.")
    await memory.write_text(space, 4, "The vault code of Argenteuil is ocelot.")
    for name, other, word in ((space, copy, "walrus"), (copy, space, "ocelot")):
        if contains(await memory.texts(name, CODE_QUERY), word):
            raise Finding(f"a read of {name} returns {word!r}, which was written only to {other}")
    return "a fork has the content of its origin, and is separate"


async def restore(memory: CheckedMemory) -> str:
    """Restore an export in another space, and compare reads."""
    if memory.can.export == "none":
        raise Finding("declares restore, but no export whose items could be restored")
    space = await memory.two_secrets("restore")
    items = await memory.exported(space)
    restored = await memory.space("restored")
    await memory.connection.restore(restored, items)
    await _compare_copy(memory, space, restored, "a restored space")
    return "a restored space answers like the living one"


async def _compare_copy(memory: CheckedMemory, space: str, copy: str, name: str) -> None:
    texts, original = await memory.texts(copy, CODE_QUERY), await memory.texts(space, CODE_QUERY)
    if change := difference(texts, original):
        raise Finding(f"a read of {name} differs from a read of its origin, {space}: {change}")


async def forget(memory: CheckedMemory) -> str:
    """Forget one of two messages in each declared form, then again, what was never said, and everything."""
    forms = memory.can.forget
    if "time" in forms and not memory.can.dates:
        raise Finding("declares `forget` by time, and no `dates`")
    if merged := [f"by {form}, {where}" for form in forms if (where := await _check_form(memory, form))]:
        raise Finding(f"a forgotten message is still in a merged text: {'; '.join(merged)}", "note")
    return f"by {', '.join(forms)}: forgotten, also twice, and all; the message beside it stays"


async def _check_form(memory: CheckedMemory, form: str) -> str:
    """Return where a memory that merges still has the forgotten message. Raises Finding."""
    space, after = await memory.two_secrets(f"forget-{form}"), f"after a request by {form}"
    written = memory.written[space]
    request, never = REQUESTS[form]
    await _forget(memory, space, request, request, never)
    where = await _find(memory, space, GONE)
    if memory.can.design.merges:
        return where
    if where:
        raise Finding(f"{after}, {where} still contains the message {SECRETS[0]!r}")
    if not await _find(memory, space, KEPT):
        raise Finding(f"a request by {form} also deleted the message beside it, {SECRETS[1]!r}")
    if memory.can.as_of == "writes" and not contains(await memory.texts(space, SECRETS[0], written), GONE):
        raise Finding(
            f"{after}, a read as of write {written}, before the request, does not find {SECRETS[0]!r}"
        )
    if form in EVERYTHING:
        await _forget(memory, space, EVERYTHING[form])
        if where := await _find(memory, space, KEPT):
            raise Finding(f"after everything was forgotten by {form}, {where} still contains {SECRETS[1]!r}")
    return ""


async def _forget(memory: CheckedMemory, space: str, *requests: ForgetRequest) -> None:
    for request in requests:
        answer = await memory.connection.forget(space, memory.next_write(space), request)
        if answer.failures:
            raise Finding(f"a request by {request.by} failed: {answer.failures[0].why}")


async def _find(memory: CheckedMemory, space: str, word: str) -> str:
    """Return where a word is: a read, or the export; empty if it is nowhere."""
    for query in (*SECRETS, CODE_QUERY):
        if contains(map(str.lower, await memory.texts(space, query)), word):
            return "a read"
    current = (item.text.lower() for item in await memory.exported(space) if item.until is None)
    return "the export" if contains(current, word) else ""

"""The check of `forget`: what a memory was asked to forget is gone, and nothing else is."""

from memflow.errors import MemflowError
from memflow.memories.forgetting import ForgetRequest
from memflow.resources.memory_servers.check_lines import CheckFailed, CheckNote, CheckSkipped, checks_of
from memflow.resources.memory_servers.check_messages import CODE_QUERY, OLD_DATES, SECRETS, WORDS
from memflow.resources.memory_servers.checked_memory import CheckedMemory, contains

GONE, KEPT = WORDS
"""The words of the message that is forgotten, and of its neighbor."""
_DAY = OLD_DATES[0][:10]
REQUESTS = {
    "message": ForgetRequest("message", ("check-1",)),
    "text": ForgetRequest("text", text=f"vault code {GONE}"),
    "time": ForgetRequest("time", since=_DAY, until=_DAY),
}
"""Requests to forget the first of two messages."""
NEVER = {
    "message": ForgetRequest("message", ("check-never",)),
    "text": ForgetRequest("text", text="quagga"),
    "time": ForgetRequest("time", since="1990-01-01", until="1990-01-02"),
}
"""Requests to forget what was never said."""
EVERYTHING = {"message": ForgetRequest("message", ("check-1", "check-2")), "time": ForgetRequest("time")}


async def forget(memory: CheckedMemory) -> str:
    """Forget one of two messages in each declared form, then again, what was never said, and everything."""
    forms = memory.can.forget
    if not forms:
        raise CheckSkipped("not declared: a request to forget is only told in the conversation")
    if "time" in forms and not memory.can.dates:
        raise CheckFailed("declares `forget` by time, and no `dates`")
    merged = [f"by {form}, {where}" for form in forms if (where := await _check_form(memory, form))]
    if merged:
        raise CheckNote(f"a forgotten message is still in a merged text: {'; '.join(merged)}")
    return f"by {', '.join(forms)}: forgotten, also twice, and all; the message beside it stays"


async def _check_form(memory: CheckedMemory, form: str) -> str:
    """Return where a memory that merges still has the forgotten message. Raises CheckFailed."""
    space, merges = await memory.two_secrets(f"forget-{form}"), memory.can.design.merges
    written = memory.written[space]
    for request in (REQUESTS[form], REQUESTS[form], NEVER[form]):
        await _forget(memory, space, request)
    if (where := await _find(memory, space, GONE)) and not merges:
        raise CheckFailed(f"after a request by {form}, {where} still contains the message {SECRETS[0]!r}")
    if merges:
        return where
    if not await _find(memory, space, KEPT):
        raise CheckFailed(f"a request by {form} also deleted the message beside it, {SECRETS[1]!r}")
    if memory.can.as_of == "writes" and not contains(await memory.texts(space, SECRETS[0], written), GONE):
        raise CheckFailed(
            f"after a request by {form}, a read as of write {written}, before the request, does not find {SECRETS[0]!r}"
        )
    if form in EVERYTHING:
        await _forget(memory, space, EVERYTHING[form])
        if left := await _find(memory, space, KEPT):
            raise CheckFailed(
                f"after everything was forgotten by {form}, {left} still contains {SECRETS[1]!r}"
            )
    return ""


async def _forget(memory: CheckedMemory, space: str, request: ForgetRequest) -> None:
    try:
        answer = await memory.connection.forget(space, memory.next_write(space), request)
    except MemflowError as error:
        raise CheckFailed(f"a request by {request.by} failed: {error}") from error
    if answer.failures:
        raise CheckFailed(f"a request by {request.by} failed: {answer.failures[0].why}")


async def _find(memory: CheckedMemory, space: str, word: str) -> str:
    """Return where a word is: a read, or the export; empty if it is nowhere."""
    for query in (*SECRETS, CODE_QUERY):
        if contains(map(str.lower, await memory.texts(space, query)), word):
            return "a read"
    items = () if memory.can.export == "none" else (await memory.connection.export(space)).items
    is_stored = contains((item.text.lower() for item in items if item.until is None), word)
    return "the export" if is_stored else ""


FORGET = checks_of("forget", globals())

"""The check of `forget`: what a memory was asked to forget is gone, and nothing else is."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from memflow.errors import MemflowError
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.server.protocol import Capabilities
from memflow.resources.memory_servers.check_lines import CheckFailed, CheckNote, CheckSkipped, check
from memflow.resources.memory_servers.check_messages import CODE_QUERY, OLD_DATES, SECRETS, message
from memflow.resources.memory_servers.checked_spaces import PythonSpace, ServerSpace

GONE, KEPT = "xylophone", "zeppelin"
"""The words of the message that is forgotten, and of its neighbor."""
FIRST = "check-1"
REQUESTS = {
    "message": ForgetRequest("message", (FIRST,)),
    "text": ForgetRequest("text", text=f"vault code {GONE}"),
    "time": ForgetRequest("time", (FIRST,), since=OLD_DATES[0][:10], until=OLD_DATES[0][:10]),
}
"""Requests to forget the first of two messages."""
NEVER = {
    "message": ForgetRequest("message", ("check-never",)),
    "text": ForgetRequest("text", text="quagga"),
    "time": ForgetRequest("time", since="1990-01-01", until="1990-01-02"),
}
"""Requests to forget what was never said."""
EVERYTHING = {"message": ForgetRequest("message", (FIRST, "check-2")), "time": ForgetRequest("time")}


class ForgetChecks:
    """The check of the declared forms. `open_space` creates an empty space with a name."""

    def __init__(
        self, open_space: Callable[[str], Awaitable[ServerSpace | PythonSpace]], can: Capabilities
    ) -> None:
        self.open_space = open_space
        self.can = can

    @check("Delete what `forget` names and nothing else, or declare forget: [].", after=("write", "read"))
    async def forget(self) -> str:
        """Forget one of two messages in each declared form, then again, what was never said, and everything."""
        if not self.can.forget:
            raise CheckSkipped("not declared: a request to forget is only told in the conversation")
        if "time" in self.can.forget and not self.can.dates:
            raise CheckFailed("declares `forget` by time, and no `dates`")
        merged = [
            f"by {form}, {where}" for form in self.can.forget if (where := await self._check_form(form))
        ]
        if merged:
            raise CheckNote(f"a forgotten message is still in a merged text: {'; '.join(merged)}")
        return f"by {', '.join(self.can.forget)}: forgotten, also twice, and all; the message beside it stays"

    async def _check_form(self, form: str) -> str:
        """Return where a memory that merges still has the forgotten message. Raises CheckFailed."""
        space, merges = await self.open_space(f"forget-{form}"), self.can.design.merges
        for number, (text, date) in enumerate(zip(SECRETS, OLD_DATES, strict=True), 1):
            await space.write([message(number, text, self.can.design.roles[0], date)])
        for request in (REQUESTS[form], REQUESTS[form], NEVER[form]):
            await self._forget(space, request)
        if (where := await self._find(space, GONE)) and not merges:
            raise CheckFailed(f"after a request by {form}, {where} still contains the message")
        if not (merges or await self._find(space, KEPT)):
            raise CheckFailed(f"a request by {form} also deleted the message beside it")
        if self.can.as_of == "writes" and not (merges or await self._find(space, GONE, as_of=2)):
            raise CheckFailed(
                f"after a request by {form}, a read as of an earlier write does not find the message"
            )
        if form != "text":
            await self._forget(space, EVERYTHING[form])
            if (left := await self._find(space, KEPT)) and not merges:
                raise CheckFailed(f"after everything was forgotten by {form}, {left} contains a message")
        return where

    async def _forget(self, space: ServerSpace | PythonSpace, request: ForgetRequest) -> None:
        try:
            await space.forget(
                replace(request, message_ids=() if request.by == "time" else request.message_ids)
            )
        except MemflowError as error:
            raise CheckFailed(f"a request by {request.by} failed: {error}") from error

    async def _find(self, space: ServerSpace | PythonSpace, word: str, as_of: int | None = None) -> str:
        """Return where a word is: a read, or what is stored; empty if it is nowhere."""
        text = next(secret for secret in SECRETS if word in secret)
        for query in (text, CODE_QUERY):
            if any(word in item.text.lower() for item in await space.read(query, 10, as_of)):
                return "a read"
        stored = await space.stored() if as_of is None else None
        return (
            "the export"
            if any(word in item.text.lower() for item in stored or () if item.until is None)
            else ""
        )

"""The checks of the capabilities that a memory server declares: each does what it says."""

import datetime
from typing import TYPE_CHECKING

from resources.memory_servers.check_lines import Check, CheckFailed, CheckNote, CheckSkipped
from resources.memory_servers.check_messages import CODE_QUERY, OLD_DATES, SECRETS, message

if TYPE_CHECKING:
    from resources.memory_servers.server_checks import ServerChecks

READS = 8
"""Equal reads, to find a random difference: one in two is missed once in 128 checks."""


def capability_checks(checks: "ServerChecks") -> list[Check]:
    """Return the checks of capabilities, for the checks of a server."""
    on = CapabilityChecks(checks)
    return [
        Check("stable_reads", on.stable_reads, "Sort by score and then by a fixed order."),
        Check("stable_ids", on.stable_ids, "Give an item the same id at every read."),
        Check("pure_reads", on.pure_reads, "Store nothing at a read, or declare pure_reads: false."),
        Check("deterministic", on.deterministic, "Declare deterministic: false."),
        Check("as_of", on.as_of, "Filter by the number of the write, or declare as_of: none."),
        Check("sources", on.sources, "Return the ids of the messages, or declare another `sources`."),
        Check("dates", on.dates, "Store `sent_at`, not the time of the write, or declare dates: false."),
        Check("export", on.export, "Return all items, or declare export: none."),
        Check("fork", on.fork, "Copy the items of the space, or declare fork: false."),
        Check("restore", on.restore, "Store the items as they are, or declare restore: false."),
    ]


class CapabilityChecks:
    """The checks of declared capabilities."""

    def __init__(self, checks: "ServerChecks") -> None:
        self.checks = checks

    async def _two_secrets(self, name: str) -> str:
        space = await self.checks.space(name)
        await self.checks.write(space, message(1, SECRETS[0], sent_at=OLD_DATES[0]))
        await self.checks.write(space, message(2, SECRETS[1], sent_at=OLD_DATES[1]))
        return space

    async def stable_reads(self) -> str:
        """Compare equal reads."""
        space = await self._two_secrets("stable_reads")
        first = await self.checks.texts(space, CODE_QUERY)
        for _ in range(READS - 1):
            again = await self.checks.texts(space, CODE_QUERY)
            if again != first and sorted(again) == sorted(first):
                raise CheckFailed("equal reads return the same items in another order")
            if again != first and self.checks.can.deterministic:
                raise CheckFailed("equal reads return other items")
            if again != first:
                raise CheckNote(
                    "equal reads return other items, and the server does not declare `deterministic`"
                )
        return f"{READS} equal reads return the same"

    async def stable_ids(self) -> str:
        """Compare the ids of two equal reads."""
        space = await self._two_secrets("stable_ids")
        ids = [
            {item.id for item in (await self.checks.server.read(space, CODE_QUERY, 10)).items}
            for _ in range(2)
        ]
        if ids[0] and not ids[0] & ids[1]:
            raise CheckFailed("an item has another id at every read, so that its history cannot be followed")
        return "items keep their ids"

    async def pure_reads(self) -> str:
        """Look for a query of a former read in the memory."""
        space = await self._two_secrets("pure_reads")
        query = "chinchilla vault code"
        await self.checks.server.read(space, query, 10)
        changed = any("chinchilla" in text for text in await self.checks.texts(space, query))
        if changed and self.checks.can.pure_reads:
            raise CheckFailed("a read finds the query of a former read: reads write")
        if not self.checks.can.pure_reads:
            raise CheckNote(
                "declares that reads change the memory: a probe may change the answer to the next"
            )
        return "a read leaves nothing"

    async def deterministic(self) -> str:
        """Write the same to two spaces, and compare their reads."""
        if not self.checks.can.deterministic:
            raise CheckSkipped("not declared")
        first, second = await self._two_secrets("same-1"), await self._two_secrets("same-2")
        for _ in range(READS):
            if await self.checks.texts(first, CODE_QUERY) != await self.checks.texts(second, CODE_QUERY):
                raise CheckFailed("two spaces with the same writes return different items")
        return "two spaces with the same writes return the same"

    async def as_of(self) -> str:
        """Write, write again, and read as of the first write."""
        declared = self.checks.can.as_of
        if declared == "none":
            raise CheckSkipped("not declared: probes are asked when their checkpoint is reached")
        if declared == "dates":
            raise CheckSkipped("a filter by date is no state of the memory, and is not used")
        space = await self._two_secrets("as_of")
        then = await self.checks.server.read(space, CODE_QUERY, 10, as_of=1)
        texts = " ".join(item.text for item in then.items)
        if "zeppelin77" in texts:
            raise CheckFailed("a read as of the first write finds the second: it knows the future")
        if "xylophone42" not in texts:
            raise CheckFailed("a read as of the first write does not find the first")
        return "a read as of the first write finds the first, and not the second"

    async def sources(self) -> str:
        """Compare the sources of items with the ids of the messages sent."""
        declared = self.checks.can.sources
        if declared == "none":
            raise CheckSkipped("not declared: wrong answers are not attributed by evidence")
        space = await self._two_secrets("sources")
        found = await self.checks.server.read(space, CODE_QUERY, 10)
        known = {"message": {"check-1", "check-2"}, "write": {"1", "2"}}[declared]
        named = {source for item in found.items for source in item.sources}
        if found.items and not named:
            raise CheckFailed(f"declares sources: {declared}, and items have none")
        if strange := sorted(named - known):
            raise CheckFailed(f"items name sources that were never sent: {', '.join(strange[:3])}")
        mine = {"message": "check-1", "write": "1"}[declared]
        wrong = [item for item in found.items if "xylophone42" in item.text and mine not in item.sources]
        if wrong:
            raise CheckFailed("an item does not name the message that its text is from")
        return f"items name the {declared} that they are from"

    async def dates(self) -> str:
        """Write messages dated ten years ago, and look for today's date."""
        space = await self._two_secrets("dates")
        found = await self.checks.server.read(space, CODE_QUERY, 10)
        today = datetime.datetime.now(datetime.UTC)
        days = {(today + datetime.timedelta(days=days)).strftime("%Y-%m-%d") for days in (-1, 0, 1)}
        seen = [" ".join((item.text, item.sent_at or "")) for item in found.items]
        if any(day in text for text in seen for day in days):
            raise CheckFailed("messages dated 2015 come back with today's date")
        if not self.checks.can.dates:
            raise CheckNote("not declared: memflow puts the date before each text")
        if found.items and not any("2015" in text for text in seen):
            raise CheckFailed("declares dates, and no item has the date of its message")
        return "items have the dates of their messages"

    async def export(self) -> str:
        """Compare an export with what was written."""
        if self.checks.can.export == "none":
            raise CheckSkipped("not declared: entries are known when a read returns them")
        space = await self._two_secrets("export")
        before = await self.checks.server.export(space)
        texts = " ".join(item.text for item in before.items)
        if not before.items:
            raise CheckFailed("the export of a space with two messages is empty")
        if "xylophone42" not in texts or "zeppelin77" not in texts:
            raise CheckNote("the export does not contain the words of both messages")
        return f"{len(before.items)} items"

    async def fork(self) -> str:
        """Fork a space, and write to both."""
        if not self.checks.can.fork:
            raise CheckSkipped("not declared")
        space = await self._two_secrets("fork")
        copy = f"{space}@copy"
        self.checks.written[copy] = self.checks.written[space]
        self.checks.spaces.append(copy)
        await self.checks.server.fork(space, copy)
        if await self.checks.texts(copy, CODE_QUERY) != await self.checks.texts(space, CODE_QUERY):
            raise CheckFailed("a read of a fork differs from a read of its origin")
        await self.checks.write(copy, message(3, "The vault code of Fulbert is walrus99."))
        await self.checks.write(space, message(4, "The vault code of Argenteuil is ocelot11."))
        for name, other in ((space, "walrus99"), (copy, "ocelot11")):
            if any(other in text for text in await self.checks.texts(name, CODE_QUERY)):
                raise CheckFailed("a write to a fork or its origin is found in the other")
        return "a fork has the content of its origin, and is separate"

    async def restore(self) -> str:
        """Restore an export in another space, and compare reads."""
        can = self.checks.can
        if not can.restore:
            raise CheckSkipped("not declared")
        if can.export == "none":
            raise CheckFailed("declares restore, but no export whose items could be restored")
        space = await self._two_secrets("restore")
        items = (await self.checks.server.export(space)).items
        restored = await self.checks.space("restored")
        await self.checks.server.restore(restored, items)
        if await self.checks.texts(restored, CODE_QUERY) != await self.checks.texts(space, CODE_QUERY):
            raise CheckFailed("a read of the restored space differs from a read of the living one")
        return "a restored space answers like the living one"

"""The checks of the capabilities that a memory server declares: each does what it says."""

from typing import TYPE_CHECKING

from resources.memory_servers.check_lines import Check, CheckFailed, CheckNote, CheckSkipped
from resources.memory_servers.check_messages import CODE_QUERY

if TYPE_CHECKING:
    from resources.memory_servers.server_checks import ServerChecks


WRITTEN = ("indexed", "reused_ids")


def capability_checks(checks: "ServerChecks") -> list[Check]:
    """Return the checks of capabilities, for the checks of a server."""
    on = CapabilityChecks(checks)
    return [
        Check("stable_ids", on.stable_ids, "Give an item the same id at every read.", after=WRITTEN),
        Check(
            "pure_reads",
            on.pure_reads,
            "Store nothing at a read, or declare pure_reads: false.",
            after=WRITTEN,
        ),
        Check("export", on.export, "Return all items, or declare export: none.", after=WRITTEN),
        Check("fork", on.fork, "Copy the items of the space, or declare fork: false.", after=WRITTEN),
        Check(
            "restore",
            on.restore,
            "Store the items as they are, or declare restore: false.",
            after=WRITTEN,
        ),
    ]


class CapabilityChecks:
    """The checks of declared capabilities."""

    def __init__(self, checks: "ServerChecks") -> None:
        self.checks = checks

    async def stable_ids(self) -> str:
        """Compare the ids of two equal reads."""
        space = await self.checks.two_secrets("stable_ids")
        ids = [
            {item.id for item in (await self.checks.server.read(space, CODE_QUERY, 10)).items}
            for _ in range(2)
        ]
        if ids[0] and not ids[0] & ids[1]:
            raise CheckFailed("an item has another id at every read, so that its history cannot be followed")
        return "items keep their ids"

    async def pure_reads(self) -> str:
        """Look for a query of a former read in the memory."""
        space = await self.checks.two_secrets("pure_reads")
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

    async def export(self) -> str:
        """Compare an export with what was written."""
        if self.checks.can.export == "none":
            raise CheckSkipped("not declared: entries are known when a read returns them")
        space = await self.checks.two_secrets("export")
        before = await self.checks.server.export(space)
        texts = " ".join(item.text for item in before.items)
        if not before.items:
            raise CheckFailed("the export of a space with two messages is empty")
        if "xylophone" not in texts or "zeppelin" not in texts:
            raise CheckNote("the export does not contain the words of both messages")
        return f"{len(before.items)} items"

    async def fork(self) -> str:
        """Fork a space, and write to both."""
        if not self.checks.can.fork:
            raise CheckSkipped("not declared")
        space = await self.checks.two_secrets("fork")
        copy = f"{space}@copy"
        self.checks.written[copy] = self.checks.written[space]
        self.checks.spaces.append(copy)
        await self.checks.server.fork(space, copy)
        if await self.checks.texts(copy, CODE_QUERY) != await self.checks.texts(space, CODE_QUERY):
            raise CheckFailed("a read of a fork differs from a read of its origin")
        await self.checks.write(copy, self.checks.message(3, "The vault code of Fulbert is walrus."))
        await self.checks.write(space, self.checks.message(4, "The vault code of Argenteuil is ocelot."))
        for name, other in ((space, "walrus"), (copy, "ocelot")):
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
        space = await self.checks.two_secrets("restore")
        items = (await self.checks.server.export(space)).items
        restored = await self.checks.space("restored")
        await self.checks.server.restore(restored, items)
        if await self.checks.texts(restored, CODE_QUERY) != await self.checks.texts(space, CODE_QUERY):
            raise CheckFailed("a read of the restored space differs from a read of the living one")
        return "a restored space answers like the living one"

"""The checks of the capabilities that a memory server declares: each does what it says."""

from memflow.resources.memory_servers.check_lines import CheckFailed, CheckNote, CheckSkipped, check
from memflow.resources.memory_servers.check_messages import CODE_QUERY
from memflow.resources.memory_servers.checked_server import CheckedServer

WRITTEN = ("indexed", "reused_ids")


class CapabilityChecks:
    """The checks of declared capabilities."""

    def __init__(self, server: CheckedServer) -> None:
        self.server = server

    @check("Give an item the same id at every read.", after=WRITTEN)
    async def stable_ids(self) -> str:
        """Compare the ids of two equal reads."""
        space = await self.server.two_secrets("stable_ids")
        ids = [
            {item.id for item in (await self.server.connection.read(space, CODE_QUERY, 10)).items}
            for _ in range(2)
        ]
        if ids[0] and not ids[0] & ids[1]:
            raise CheckFailed("an item has another id at every read, so that its history cannot be followed")
        return "items keep their ids"

    @check("Store nothing at a read, or declare pure_reads: false.", after=WRITTEN)
    async def pure_reads(self) -> str:
        """Look for a query of a former read in the memory."""
        space = await self.server.two_secrets("pure_reads")
        query = "chinchilla vault code"
        await self.server.connection.read(space, query, 10)
        changed = any("chinchilla" in text for text in await self.server.texts(space, query))
        if changed and self.server.can.pure_reads:
            raise CheckFailed("a read finds the query of a former read: reads write")
        if not self.server.can.pure_reads:
            raise CheckNote(
                "declares that reads change the memory: a probe may change the answer to the next"
            )
        return "a read leaves nothing"

    @check("Return all items, or declare export: none.", after=WRITTEN)
    async def export(self) -> str:
        """Compare the items of an export with the written messages."""
        if self.server.can.export == "none":
            raise CheckSkipped("not declared: entries are known when a read returns them")
        space = await self.server.two_secrets("export")
        before = await self.server.connection.export(space)
        texts = " ".join(item.text for item in before.items)
        if not before.items:
            raise CheckFailed("the export of a space with two messages is empty")
        if "xylophone" not in texts or "zeppelin" not in texts:
            raise CheckNote("the export does not contain the words of both messages")
        return f"{len(before.items)} items"

    @check("Copy the items of the space, or declare fork: false.", after=WRITTEN)
    async def fork(self) -> str:
        """Fork a space, and write to both."""
        if not self.server.can.fork:
            raise CheckSkipped("not declared")
        space = await self.server.two_secrets("fork")
        copy = f"{space}@copy"
        self.server.written[copy] = self.server.written[space]
        self.server.spaces.append(copy)
        await self.server.connection.fork(space, copy)
        if await self.server.texts(copy, CODE_QUERY) != await self.server.texts(space, CODE_QUERY):
            raise CheckFailed("a read of a fork differs from a read of its origin")
        await self.server.write(copy, self.server.message(3, "The vault code of Fulbert is walrus."))
        await self.server.write(space, self.server.message(4, "The vault code of Argenteuil is ocelot."))
        for name, other in ((space, "walrus"), (copy, "ocelot")):
            if any(other in text for text in await self.server.texts(name, CODE_QUERY)):
                raise CheckFailed("a write to a fork or its origin is found in the other")
        return "a fork has the content of its origin, and is separate"

    @check("Store the items as they are, or declare restore: false.", after=WRITTEN)
    async def restore(self) -> str:
        """Restore an export in another space, and compare reads."""
        can = self.server.can
        if not can.restore:
            raise CheckSkipped("not declared")
        if can.export == "none":
            raise CheckFailed("declares restore, but no export whose items could be restored")
        space = await self.server.two_secrets("restore")
        items = (await self.server.connection.export(space)).items
        restored = await self.server.space("restored")
        await self.server.connection.restore(restored, items)
        if await self.server.texts(restored, CODE_QUERY) != await self.server.texts(space, CODE_QUERY):
            raise CheckFailed("a read of the restored space differs from a read of the living one")
        return "a restored space answers like the living one"

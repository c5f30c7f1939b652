"""The check of a memory server of the settings, with the models that memflow gives it; its result is stored."""

from typing import TYPE_CHECKING

from memflow.chat.ledger import RequestContext
from memflow.resources.memory_servers.check_lines import CheckLine
from memflow.resources.memory_servers.connection import ServerConnection
from memflow.resources.memory_servers.declaration import open_server, store_check
from memflow.resources.memory_servers.server_checks import check_server
from memflow.resources.models.chats import Chats

if TYPE_CHECKING:
    from memflow.resources.models.models import Models
    from memflow.resources.settings.own_sections import OwnMemory

STAGE = "memories"


def check_memory_server(models: "Models", name: str, own: "OwnMemory") -> list[CheckLine]:
    """Check the memory server `name`, and store the result. Its requests to models are in the ledger."""
    account = RequestContext(run="memories check", stage=STAGE, assistant=name)

    async def work(chats: Chats) -> list[CheckLine]:
        clients = chats.clients
        access = await clients.model_access(account, name, {}, await chats.embedder())
        proxy = await clients.model_proxy()
        proxy.admit(access)
        starts = iter(range(1000))

        def connect() -> ServerConnection:
            return open_server(
                name,
                own,
                clients.settings.home,
                log=f"{name}/check.{next(starts)}",
                access=access,
            )

        try:
            lines, server = await check_server(connect)
        finally:
            proxy.withdraw(access)
        if server.greeting is not None:
            store_check(name, own, clients.settings.home, server.greeting, lines)
        return lines

    return models.run(account, work)

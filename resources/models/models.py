"""The models of a run: one event loop, the clients on it, the ledger and started servers.

clients.py opens the models of the settings; resources/vllm_servers/ starts servers.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Self, TypeVar

from memflow.chat.budget import Budget
from memflow.chat.ledger import RequestContext
from memflow.concurrency import run_coroutine
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.chats import Chats, Watch
from memflow.resources.models.clients import Clients
from memflow.resources.models.event_loop import EventLoopThread, detached
from memflow.resources.settings.settings import Settings
from memflow.resources.vllm_servers.servers import VllmServers

T = TypeVar("T")


class Models:
    """The models of the settings: runs coroutines that call models, and owns the ledger and started servers.

    Coroutines of several threads share one event loop, one client for each model, and one limit for each address. Close
    this object after use.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: SqlLedger,
        budget: Budget | None = None,
        servers: VllmServers | None = None,
    ) -> None:
        self.settings = settings
        self.ledger = ledger
        self.budget = budget
        self.watch: Watch = lambda account, done, total: None
        self.servers = servers or VllmServers(settings.models, settings.home)
        self._loop = EventLoopThread()
        self._clients: Clients | None = None

    def run(
        self, account: RequestContext, work: Callable[[Chats], Coroutine[Any, Any, T]], *, shared: bool = True
    ) -> T:
        """Run `work`, flush the ledger, and return the result. Raises Interrupted after `interrupt`.

        Long computations without model calls would delay all requests on the shared event loop. Such work gets
        a separate loop and separate clients.
        """

        async def session() -> T:
            if self._clients is None:
                self._clients = self._open_clients()
            return await work(Chats(self._clients, account, self.watch))

        async def own_session() -> T:
            clients = self._open_clients()
            try:
                return await work(Chats(clients, account, self.watch))
            finally:
                await clients.close()

        try:
            return self._loop.run(session()) if shared else run_coroutine(own_session())
        finally:
            self.ledger.flush()

    def _open_clients(self) -> Clients:
        return Clients(self.settings, self.ledger, self.servers, self.budget)

    def end_run(self, run_id: str) -> None:
        """End the run's memory servers."""
        clients = self._clients
        if clients is not None:
            self._loop.call(lambda: detached(clients.end_run(run_id)))

    def interrupt(self) -> None:
        """Cancel all running coroutines, and reject new ones."""
        self._loop.interrupt()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close_clients(self) -> None:
        """Close the connections and end the event loop."""
        if self._clients is not None:
            clients, self._clients = self._clients, None
            self._loop.close(clients.close())

    def close(self) -> None:
        """Close the connections, give the started servers back and close the ledger."""
        self.close_clients()
        self.servers.close()
        self.ledger.close()

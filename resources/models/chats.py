"""The chats of a step by role and model; every request is recorded in the ledger."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from memflow.benchmarks.domains import RoleDecoding
from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.memories.memory import Embedder, Tools
from memflow.repeats import request_repeat
from memflow.resources.models.cached_embedder import CachedEmbedder
from memflow.resources.models.clients import Clients
from memflow.resources.models.recorded_embedder import EMBEDDING, RecordedEmbedder

Watch = Callable[[RequestContext, int, int], None]
"""Called with the step's context, the number of finished items and the total."""


@dataclass
class Chats:
    """The chat models of one step, by role. Every request is recorded with the step's run, stage and partition.

    `done` of the `total` items of the step, which `expect` announces, are finished.
    """

    clients: Clients
    account: RequestContext
    watch: Watch
    decoding: Mapping[str, RoleDecoding] = field(default_factory=dict)
    """The decoding that the profile of the step's domain sets, by role."""
    done: int = 0
    total: int = 0
    _ledgered: dict[tuple[str, str], LedgeredChat] = field(default_factory=dict)

    async def role(self, role: str) -> LedgeredChat:
        """Return the chat of a role in the settings. For several judges, return the chat of the first."""
        return await self.model(dict(reversed(self.clients.settings.roles.assigned()))[role], role)

    async def judges(self, domain: str) -> dict[str, LedgeredChat]:
        """Return the chats of the judges of a domain, by the name of their model."""
        return {name: await self.model(name, "judge") for name in self.clients.settings.judges_of(domain)}

    async def model(self, name: str, role: str) -> LedgeredChat:
        """Return the chat of the model `name`, with the token limit of a role, in whose name usage is recorded."""
        chat = await self.clients.chat(name)
        if (name, role) not in self._ledgered:
            account = replace(self.account, role=role, model=name)
            decoding = self.decoding.get(role, RoleDecoding())
            bound, sampling = decoding.applied(self.clients.settings.token_limits.of(role), chat.sampling)
            repeat = request_repeat(account.assistant, account.stage)
            self._ledgered[name, role] = LedgeredChat(
                chat, self.clients.ledger, account, bound, sampling, repeat
            )
        return self._ledgered[name, role]

    async def answering(self, assistant: str) -> LedgeredChat:
        """Return the chat that answers for `assistant`."""
        return await self.model(self.clients.settings.model_of(assistant), "assistant")

    async def tools(self, assistant: str) -> Tools:
        """Return the chat, embedder, context window and memory server for the memory of `assistant`.

        Raises BadSettings without an embedder, and ServerDown if the server cannot be started.
        """
        self.clients.settings.check_embedder([assistant])
        model = self.clients.settings.model_of(assistant)
        window = self.clients.settings.window_of(assistant)
        embedder = await self.embedder()
        server = await self.clients.memory_server(self.account, assistant, self.decoding, embedder)
        return Tools(await self.model(model, "memory"), embedder, window, server)

    async def embedder(self) -> Embedder:
        """Return the embedder of the settings, with open connections. Its failed requests are recorded."""
        embedder = await self.clients.embedder()
        if not isinstance(embedder, CachedEmbedder):
            return embedder
        account = replace(self.account, role=EMBEDDING, model=embedder.model)
        return RecordedEmbedder(embedder, self.clients.ledger, account)

    def expect(self, total: int) -> Callable[[], None]:
        """Set the number of items of this step, for the progress bar. Return a function to call after each item."""
        self.done, self.total = 0, total

        def tick() -> None:
            self.done += 1
            self.watch(self.account, self.done, self.total)

        return tick

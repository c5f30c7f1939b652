"""The access of one memory server to memflow's models: its key, addresses and variables.

server.py answers the requests. clients.py opens an access for each partition.
"""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memflow.benchmarks.domains import RoleDecoding
from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.errors import MemflowError
from memflow.memories.memory import Embedder
from memflow.memories.server.protocol import Endpoint
from memflow.repeats import request_repeat
from resources.endpoints.chat import OpenAIChat
from resources.model_proxy.forwarding import ForwardingChat
from resources.model_proxy.scripted_answers import ScriptedAnswers

if TYPE_CHECKING:
    from resources.models.clients import Clients

ROLE = "memory"
"""The role and the stage under which the ledger records the requests of a memory server."""
OPENAI = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
"""The variables of OpenAI's clients, and of libraries that use them. They belong together."""


@dataclass(eq=False)
class ModelAccess:
    """The models that the server of one partition may use, and the key that identifies its requests."""

    chat: LedgeredChat
    chat_model: str
    embedder: Embedder | None = None
    """None if the settings choose no embedder."""
    embedding_model: str = ""
    key: str = field(default_factory=lambda: f"memflow-{secrets.token_urlsafe(32)}", repr=False)
    requests: int = 0
    """The number of requests, including those that the ledger answered."""
    failure: MemflowError | None = None
    """The error after which every further request would fail, such as a spent budget."""

    url: str = ""
    """The base URL of the proxy that admitted the access."""

    def endpoints(self) -> dict[str, Endpoint]:
        """Return the addresses for `hello`."""
        found = {"chat": Endpoint(url=self.url, model=self.chat_model, key=self.key)}
        if self.embedder is not None:
            found["embed"] = Endpoint(url=self.url, model=self.embedding_model, key=self.key)
        return found

    def variables(self, allowed: Collection[str]) -> dict[str, str]:
        """Return the environment variables for a server. Those that its settings allow are the user's own."""
        models = {"MEMFLOW_CHAT_MODEL": self.chat_model, "MEMFLOW_EMBEDDING_MODEL": self.embedding_model}
        given = {"MEMFLOW_MODEL_URL": self.url, "MEMFLOW_MODEL_KEY": self.key}
        given |= {name: value for name, value in models.items() if value}
        if not {*OPENAI} & {*allowed}:
            given |= dict(zip(OPENAI, (self.url, self.key), strict=True))
        return {name: value for name, value in given.items() if name not in allowed}


async def open_access(
    clients: "Clients",
    account: RequestContext,
    assistant: str,
    decoding: Mapping[str, RoleDecoding],
    embedder: Embedder,
) -> ModelAccess:
    """Return the access of a memory server to the assistant's model, and to the embedder if one is chosen."""
    settings = clients.settings
    model = settings.model_of(assistant)
    inner = await clients.chat(model)
    chat = ForwardingChat(inner) if isinstance(inner, OpenAIChat) else ScriptedAnswers(inner)
    bound, sampling = decoding.get(ROLE, RoleDecoding()).applied(settings.bounds.of(ROLE), inner.sampling)
    context = replace(account, stage=ROLE, role=ROLE, model=model)
    repeat = request_repeat(assistant, ROLE)
    ledgered = LedgeredChat(chat, clients.ledger, context, bound, sampling, repeat)
    if settings.offers_embedder(assistant):
        return ModelAccess(ledgered, model, embedder, settings.embedder.name)
    return ModelAccess(ledgered, model)

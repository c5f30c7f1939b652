"""The access of one memory server to memflow's models: its key, addresses and variables.

server.py answers the requests. resources/models/clients.py opens an access for each partition.
"""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field

from memflow.chat.ledger import LedgeredChat
from memflow.errors import MemflowError
from memflow.memories.memory import Embedder
from memflow.memories.server.protocol import Endpoint

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
        """Return the addresses for `hello`: `chat`, and `embed` if there is an embedder."""
        found = {"chat": Endpoint(url=self.url, model=self.chat_model, key=self.key)}
        if self.embedder is not None:
            found["embed"] = Endpoint(url=self.url, model=self.embedding_model, key=self.key)
        return found

    def variables(self, allowed: Collection[str]) -> dict[str, str]:
        """Return environment variables for a server, such as MEMFLOW_MODEL_URL, without those in `allowed`."""
        models = {"MEMFLOW_CHAT_MODEL": self.chat_model, "MEMFLOW_EMBEDDING_MODEL": self.embedding_model}
        given = {"MEMFLOW_MODEL_URL": self.url, "MEMFLOW_MODEL_KEY": self.key}
        given |= {name: value for name, value in models.items() if value}
        if not {*OPENAI} & {*allowed}:
            given |= dict(zip(OPENAI, (self.url, self.key), strict=True))
        return {name: value for name, value in given.items() if name not in allowed}

"""The declaration of a memory server: how it is started or reached, and its last answer to `hello`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memflow.fingerprint import digest
from memflow.memories.server.protocol import Hello

OWN_MODELS = "own models, not counted"
"""The text for a memory server that calls models at its own addresses: usage and budget exclude its requests."""
MEMORY_MODELS = "memory_models"
"""The metadata key of a partition with that text."""


@dataclass(frozen=True)
class ServerConfig:
    """The declaration of a memory server in memflow.toml: a command, or the address of a running server.

    `settings` are passed to the server. `revision` is a text of the user that identifies what `hello` does not, such as
    an image digest. `hello` is the server's last answer, None before its first start: planning reads it and starts no
    server. `files` are digests of the files that the command names, such as its script.
    """

    command: tuple[str, ...] = ()
    url: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    revision: str = ""
    hello: Hello | None = None
    files: tuple[str, ...] = ()

    @property
    def models(self) -> str:
        """Whose models the server calls, `own`, `given` or `none`; empty before its first start."""
        return "" if self.hello is None else self.hello.can.models

    def key(self) -> str:
        """Return the digest of the declaration, without the answer to `hello`."""
        return digest(self.command, self.url, dict(self.settings), self.revision, *self.files)

    def fingerprint(self) -> str:
        """Return the digest of the declaration and of the last answer to `hello`, without a `forget` that it lacks."""
        if self.hello is None:
            return digest(self.key(), None)
        lacking = {} if self.hello.can.forget else {"can": {"forget"}}
        return digest(self.key(), self.hello.model_dump(mode="json", exclude=lacking))

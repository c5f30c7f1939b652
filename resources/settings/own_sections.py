"""The sections of what a user adds: [memories.NAME], [own_datasets.NAME] and [own_domains.NAME]."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domain_names import DEFAULT_PROFILE, ProtocolProfile
from memflow.resources.endpoints.addresses import reaches_loopback
from memflow.resources.settings.values import StrictModel, Url

SECRET = re.compile(r"(?i)(^|_|-)(api_?key|token|secret|password|passwd|credentials?)$")
"""Names of settings whose values are secrets."""


def _names(settings: Any) -> Iterator[str]:
    """Yield the names in nested tables."""
    if isinstance(settings, dict):
        for name, value in settings.items():
            yield name
            yield from _names(value)
    elif isinstance(settings, list):
        for item in settings:
            yield from _names(item)


class ServerTimeLimits(StrictModel):
    """The maximum number of seconds between a request to a memory server and its answer."""

    hello: float = Field(30.0, gt=0, description="Of the first request, which includes the start.")
    read: float = Field(60.0, gt=0, description="Of reads, and of requests without messages.")
    write: float = Field(600.0, gt=0, description="Of writes, exports, forks and restores.")

    def of(self, operation: str) -> float:
        """Return the limit of an operation."""
        if operation == "hello":
            return self.hello
        return self.read if operation in ("read", "reset", "close") else self.write


class OwnMemory(StrictModel):
    """A user's memory system: a class, a shipped system with other parameters, or a memory server."""

    path: str = Field("", description="The import path of its class: my_package.my_module:MyMemory.")
    system: str = Field("", description="Instead of a path: the name of a known system, such as rag.")
    command: tuple[str, ...] = Field(
        (),
        description="Instead of a path: the program of a memory server and its arguments, without a shell. Paths are "
        "relative to the settings file.",
    )
    url: Url = Field("", description="Instead of a path: the address of a memory server that runs already.")
    contract: Literal["memflow", "mcp"] = Field(
        "memflow",
        description="Of a memory server: what it understands. `mcp` is tools of an MCP server: a `command`, or a "
        "`url` (streamable HTTP), which is https or on this machine.",
    )
    parameters: dict[str, int | float | str | bool | tuple[str, ...]] = Field(default_factory=dict)
    mode: str = Field(
        "",
        description="Of a memory server: how it is read as of a checkpoint (docs/how-to/memory_server.md); by default "
        "the best mode that its capabilities allow.",
    )
    k: int | None = Field(None, ge=1, description="Of a memory server: the items that a read requests.")
    budget: int | None = Field(
        None, ge=0, description="Of a memory server: the tokens of its notes in a prompt; 0 is no limit."
    )
    timeout: ServerTimeLimits = Field(
        ServerTimeLimits(),
        description="Of a memory server: the time limits in seconds, as a number or by operation.",
    )
    variables: tuple[str, ...] = Field(
        (),
        description="Of a command: the names of environment variables that it receives, such as those with keys. "
        "Others than PATH, HOME and the locale are not passed on.",
    )
    key_variable: str = Field(
        "", description="Of an address: the environment variable with the key (Authorization: Bearer)."
    )
    settings: dict[str, Any] = Field(
        default_factory=dict,
        description="Of a memory server: sent to it with `hello`, and in the fingerprint. With the contract mcp: "
        "capabilities that differ from the default, the names of the tools `write` and `read`, and `words = true`, "
        "which searches a question that finds nothing word by word.",
    )
    revision: str = Field(
        "", description="Of a memory server: what its version does not identify, such as an image digest."
    )
    unchecked: bool = Field(
        False, description="Of a memory server: run it without a passed `memflow memories check`."
    )
    folder: Path = Field(
        Path(), description="Of a command: the folder in which it runs, relative to the settings file."
    )

    @field_validator("command", mode="before")
    @classmethod
    def _is_a_list(cls, command: Any) -> Any:
        if isinstance(command, str):
            raise ValueError(
                f"`command` is a text, and a memory server starts without a shell. Write a list of words: "
                f"command = {json.dumps(command.split())}"
            )
        if isinstance(command, list | tuple) and command and not str(command[0]).strip():
            raise ValueError(
                '`command` begins with an empty word. Write the program first: command = ["python", ...]'
            )
        return command

    @field_validator("settings")
    @classmethod
    def _has_no_secret(cls, settings: dict[str, Any]) -> dict[str, Any]:
        if secret := next(filter(SECRET.search, _names(settings)), None):
            raise ValueError(
                f"`settings` has the name {secret!r} of a secret, and settings contain no secrets. Remove it, name an "
                "environment variable in `variables`, and read the variable in the server."
            )
        return settings

    @field_validator("timeout", mode="before")
    @classmethod
    def _of_all_operations(cls, timeout: Any) -> Any:
        if isinstance(timeout, int | float) and not isinstance(timeout, bool):
            return dict.fromkeys(ServerTimeLimits.model_fields, timeout)
        return timeout

    @model_validator(mode="after")
    def _is_one_thing(self) -> "OwnMemory":
        kinds = [name for name in ("path", "system", "command", "url") if getattr(self, name)]
        if len(kinds) != 1:
            state = f"has {' and '.join(f'`{name}`' for name in kinds)}" if kinds else "has none of them"
            raise ValueError(
                "a memory in memflow.toml has exactly one of `path`, `system`, `command` and `url`, and this one "
                f'{state}. Keep one: path = "my_package.my_module:MyMemory", system = "rag", '
                'command = ["python", "server.py"] or url = "http://127.0.0.1:9000".'
            )
        if not self.is_server:
            extra = sorted(self.model_fields_set - {"path", "system", "parameters"})
            if extra:
                raise ValueError(
                    f"`{extra[0]}` ({self._shown(extra[0])}) belongs to a memory server, and this memory has "
                    f"`{kinds[0]}`. Remove it, or use `parameters`."
                )
        if self.contract == "mcp" and self.url.startswith("http://") and not reaches_loopback(self.url):
            raise ValueError(
                f"`url` ({self._shown('url')}) sends the messages to another machine without encryption. Use https, or "
                "an address of this machine."
            )
        wrong = {"variables", "folder"} if self.url else {"key_variable"}
        if self.is_server and (unused := sorted(self.model_fields_set & wrong)):
            raise ValueError(
                f"`{unused[0]}` ({self._shown(unused[0])}) has no effect beside `{kinds[0]}`. Remove it."
            )
        return self

    def _shown(self, name: str) -> str:
        return json.dumps(getattr(self, name), default=str)

    @property
    def is_server(self) -> bool:
        """Whether the memory is a memory server."""
        return bool(self.command or self.url)

    @property
    def address(self) -> str:
        """The memory as it is named on the command line; empty if it needs a section of the settings."""
        if self.contract == "memflow":
            return self.url
        return f"{self.contract}:{self.url or shlex.join(self.command)}"

    def own_parameters(self) -> dict[str, Any]:
        """Return the parameters of the memory by name; `mode`, `k` and `budget` only if set."""
        of_server = {"mode": self.mode or None, "k": self.k, "budget": self.budget}
        return {**self.parameters, **{name: value for name, value in of_server.items() if value is not None}}


class OwnDataset(StrictModel):
    """A user's data set that a benchmark can read: personas, users, or a recorded run."""

    benchmark: str = Field(description="The benchmark whose reader reads them.")
    files: tuple[str, ...] = Field(
        min_length=1,
        description="Paths: absolute, from ~, or relative to the settings file or to the data folder; * matches any "
        "name.",
    )
    title: str = ""
    licence: str = Field("the user's own", description="Stored with every record.")
    origin: str = Field("memflow.toml", description="The source; stored with every record.")
    sums: dict[str, str] = Field(
        default_factory=dict, description="SHA-256 by path; a file with another one is rejected."
    )

    def dataset(self, name: str) -> Dataset:
        """Return the data set in the form that the benchmark's reader expects."""
        return Dataset(
            name,
            self.title or name,
            self.benchmark,
            self.files,
            self.licence,
            self.origin,
            f"It is your own data set: put its files there, or fix [own_datasets.{name}].",
            self.sums,
            own=True,
        )


class OwnDomain(StrictModel):
    """A user's domain: a benchmark with other parameters or data."""

    benchmark: str
    datasets: tuple[str, ...]
    title: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    profile: ProtocolProfile = Field(
        DEFAULT_PROFILE,
        description="The protocol profile, which sets what `parameters` leaves open (`memflow show deviations`).",
    )
    seed: int = 42

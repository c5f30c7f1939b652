"""vLLM servers: the addresses of existing ones, and one server that is started for each other model.

vLLM needs a separate environment; `executable` is the program in that environment. vllm_servers/ starts servers,
endpoints/ sends requests.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from memflow.errors import EndpointDown
from memflow.resources.process import log_tail
from memflow.resources.settings.chat_models import Model
from memflow.resources.vllm_servers.arguments import serve_command
from memflow.resources.vllm_servers.started import StartedServer, hold_lease

TAIL_LINES = 5
"""Lines of a log in the metadata of a run."""


class VllmServers:
    """The vLLM servers of the settings. Each starts when its model is first used, unless another process has.

    Processes with the same home folder share servers. A server ends with the last of them: `memflow run`, the processes
    of the daemon's runs, or `memflow dev`, which keeps servers between its runs.
    """

    def __init__(self, models: Mapping[str, Model], home: Path) -> None:
        self._models = models
        self._home = home
        self._lock = threading.Lock()
        self._given_up = threading.Event()
        self._lease: IO[str] | None = None
        self._started: dict[str, tuple[StartedServer, str]] = {}

    def url(self, name: str) -> str:
        """Return the address of a model's server; start the server if it has none.

        Raises BadSettings if the program cannot be run, and EndpointDown if the server does not work.
        """
        model = self._models[name]
        if model.url:
            return model.url
        with self._lock:
            if name not in self._started:
                self._started[name] = self._start(model)
            return self._started[name][1]

    def outage(self, name: str) -> str | None:
        """Return why a server that memflow started has ended; None for another server, or if it runs."""
        server, _ = self._started.get(name, (None, ""))
        return str(server.failure("has ended")) if server and not server.is_running() else None

    def facts(self) -> dict[str, dict[str, Any]]:
        """Return address, command, variables and log of the started servers in use, by model, as metadata of a run."""
        return {
            name: {
                "address": url,
                "command": [word or str(urlsplit(url).port) for word in server.command],
                "variables": dict(server.variables),
                "log": str(server.log),
                "log_end": log_tail(server.log, TAIL_LINES),
            }
            for name, (server, url) in list(self._started.items())
        }

    def close(self) -> None:
        """Let the servers end that no other process uses. A thread that waits for the start of a server gives it up."""
        self._given_up.set()
        with self._lock:
            if self._lease is not None:
                self._lease.close()

    def _start(self, model: Model) -> tuple[StartedServer, str]:
        if self._given_up.is_set():
            raise EndpointDown("the start of vLLM was given up, since the run ends.")
        if self._lease is None:
            self._lease = hold_lease(self._home, self._given_up)
        variables = {"CUDA_VISIBLE_DEVICES": model.gpus} if model.gpus else {}
        server = StartedServer(
            self._home, model.model, serve_command(model), variables, model.startup, self._given_up
        )
        return server, server.attach()

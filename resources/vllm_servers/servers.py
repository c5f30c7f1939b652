"""vLLM servers: existing servers that are checked, or servers that are started for a model.

vLLM needs a separate environment; `executable` is the program in that environment. vllm_servers/ starts servers,
endpoints/ sends requests.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from memflow.errors import EndpointDown
from resources.endpoints.api_keys import ApiKey
from resources.endpoints.endpoint import Outage
from resources.process import log_tail
from resources.settings.chat_models import Model
from resources.vllm_servers.addresses import ServedModel, check_server
from resources.vllm_servers.arguments import serve_command
from resources.vllm_servers.started import StartedServer, hold_lease

TAIL_LINES = 5
"""Lines of a log in the metadata of a run."""
VISIBLE = "CUDA_VISIBLE_DEVICES"


def check_model(url: str, model: Model, at_least: int | None = None) -> ServedModel:
    """Return what the server at an address says of a model. Raises EndpointDown if it does not serve the model."""
    key = ApiKey.of(model.key_variable)
    return check_server(url, model.served_as, at_least, key.headers(model.profile.auth))


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
        self._urls: dict[str, str] = {}
        self._started: dict[str, StartedServer] = {}
        self._served: dict[str, ServedModel] = {}

    def url(self, name: str) -> str:
        """Return the address of a model; start a server if it has none.

        Raises BadSettings if the program cannot be run, and EndpointDown if a server does not work.
        """
        with self._lock:
            model = self._models[name]
            if name not in self._urls:
                url = model.url or self._start(name, model)
                self._served[name] = check_model(url, model, model.max_model_len)
                self._urls[name] = url
            return self._urls[name]

    def outage(self, name: str) -> Outage | None:
        """Return what is known of a server that does not respond: one that memflow started has ended."""
        server = self._started.get(name)
        if server is None or server.is_running():
            return None
        return Outage(str(server.failure("has ended")))

    def facts(self) -> dict[str, dict[str, Any]]:
        """Return the facts of the servers in use, by model name, for the metadata of a run."""
        return {name: self._facts(name, url) for name, url in list(self._urls.items())}

    def close(self) -> None:
        """Let the servers end that no other process uses. A thread that waits for the start of a server gives it up."""
        self._given_up.set()
        with self._lock:
            if self._lease is not None:
                self._lease.close()

    def _start(self, name: str, model: Model) -> str:
        if self._given_up.is_set():
            raise EndpointDown("the start of vLLM was given up, since the run ends.")
        if self._lease is None:
            self._lease = hold_lease(self._home, self._given_up)
        variables = {VISIBLE: model.gpus} if model.gpus else {}
        server = StartedServer(
            self._home, model.served_as, serve_command(model), variables, model.startup, self._given_up
        )
        url = server.attach()
        self._started[name] = server
        return url

    def _facts(self, name: str, url: str) -> dict[str, Any]:
        served = self._served[name]
        facts = {"address": url, "vllm": served.version, "max_model_len": served.max_model_len}
        server = self._started.get(name)
        if server is None:
            return facts
        return facts | {
            "devices": server.variables.get(VISIBLE, ""),
            "command": [word or str(urlsplit(url).port) for word in server.command],
            "log": str(server.log),
            "log_end": log_tail(server.log, TAIL_LINES),
        }

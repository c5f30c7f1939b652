"""vLLM servers: existing servers that are checked, or servers that are started for a model and shared.

vLLM needs a separate environment; `executable` is the program in that environment. vllm_servers/ starts and supervises
servers, endpoints/ sends requests.
"""

import logging
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memflow.errors import EndpointDown
from resources.endpoints.api_keys import ApiKey
from resources.endpoints.endpoint import Outage
from resources.process import log_tail
from resources.settings.chat_models import Model
from resources.vllm_servers.addresses import ServedModel, UnhealthyServer, check_server
from resources.vllm_servers.arguments import Adapter, serve_command
from resources.vllm_servers.devices import VISIBLE, gpu_facts, replica_devices, visible_devices
from resources.vllm_servers.shared import ServerPlan, SharedServer, is_supervised

__all__ = ["Adapter", "VllmServers", "check_model", "server_plan"]

TAIL_LINES = 5
"""Lines of a log in the metadata of a run."""
OUTAGE_S = 0.5
"""Seconds for which the state of a server is not read again."""


def server_plan(model: Model) -> ServerPlan:
    """Return what is started for a model. Raises BadSettings if that is not possible on this machine."""
    command = serve_command(model)
    devices = model.tensor_parallel * model.data_parallel
    groups = replica_devices(model.replicas, devices, model.gpus, visible_devices())
    variables = [{VISIBLE: ",".join(group)} if group else {} for group in groups]
    return ServerPlan(
        model.served_as, [command] * model.replicas, variables, idle=model.idle, startup=model.startup
    )


def check_model(url: str, model: Model, at_least: int | None = None) -> ServedModel:
    """Return what the server at an address says of a model. Raises EndpointDown if it does not serve the model."""
    key = ApiKey.of(model.key_variable)
    return check_server(url, model.served_as, at_least, key.headers(model.profile.auth))


def _check_all(urls: Sequence[str], model: Model) -> list[ServedModel]:
    """Return what the servers of a model say of it. Raises EndpointDown if one serves another, or none responds.

    Requests go to the servers that respond; the others are tried again (resources/endpoints/replicas.py).
    """
    served, unhealthy = [], []
    for url in urls:
        try:
            served.append(check_model(url, model, model.max_model_len))
        except UnhealthyServer as error:
            if not model.url:
                raise  # memflow started it, so it has just responded
            unhealthy.append(error)
    if not served:
        raise EndpointDown(" ".join(map(str, unhealthy)))
    for problem in unhealthy:
        logging.getLogger("memflow").warning("%s It is tried again during the run.", problem)
    return served


class VllmServers:
    """The vLLM servers of the settings, shared with the other processes of the same home folder.

    A server starts when its model is first used. Closing this object gives the leases on all servers back; a server
    without leases ends after `idle` seconds.
    """

    def __init__(self, models: Mapping[str, Model], home: Path | None = None) -> None:
        self._models = models
        self._home = home
        self._lock = threading.Lock()
        self._given_up = threading.Event()
        self._urls: dict[str, tuple[str, ...]] = {}
        self._servers: dict[str, SharedServer] = {}
        self._served: dict[str, list[ServedModel]] = {}
        self._outages: dict[str, tuple[float, Outage | None]] = {}

    def urls(self, name: str) -> tuple[str, ...]:
        """Return the addresses of a model's replicas; start them if necessary.

        Raises BadSettings if the settings do not fit this machine, and EndpointDown if a server does not work.
        """
        with self._lock:
            if self._given_up.is_set():
                raise EndpointDown(f"the start of vLLM for {name} was given up, since the run ends.")
            if name not in self._urls:
                model = self._models[name]
                self._urls[name] = (model.url,) if model.url else self._acquire(name, model)
                try:
                    self._served[name] = _check_all(self._urls[name], model)
                except BaseException:
                    self._urls.pop(name)
                    self._release(name)
                    raise
            return self._urls[name]

    def outage(self, name: str) -> Outage | None:
        """Return what is known of a server that does not respond: it restarts, or has ended. None if nothing is."""
        server = self._server(name)
        if server is None:
            return None
        known_at, outage = self._outages.get(name, (float("-inf"), None))
        if time.monotonic() - known_at > OUTAGE_S:
            outage = _outage(server)
            self._outages[name] = time.monotonic(), outage
        return outage

    def facts(self) -> dict[str, dict[str, Any]]:
        """Return the facts of the servers in use, by model name, for the metadata of a run."""
        return {name: self._facts(name) for name in list(self._urls)}

    def close(self) -> None:
        """Give the leases on all servers back. A thread that waits for the start of a server gives it up."""
        self._given_up.set()
        with self._lock:
            self._urls.clear()
            for name in list(self._servers):
                self._release(name)

    def _server(self, name: str) -> SharedServer | None:
        """Return the server of a model that is started; None for an existing one."""
        model = self._models.get(name)
        if model is None or model.kind != "vllm" or model.url:
            return None
        if name not in self._servers:
            self._servers[name] = SharedServer(self._folder(), server_plan(model), self._given_up)
        return self._servers[name]

    def _folder(self) -> Path:
        if self._home is None:
            self._home = Path(tempfile.mkdtemp(prefix="memflow-vllm-"))
        return self._home

    def _acquire(self, name: str, model: Model) -> tuple[str, ...]:
        server = self._server(name)
        assert server is not None, f"the model {name} is started"
        try:
            return server.acquire()
        except EndpointDown:
            self._release(name)
            raise

    def _release(self, name: str) -> None:
        server = self._servers.pop(name, None)
        if server is not None:
            server.release()

    def _facts(self, name: str) -> dict[str, Any]:
        served = self._served.get(name, [])
        facts: dict[str, Any] = {
            "addresses": list(self._urls.get(name, ())),
            "vllm": sorted({each.version for each in served if each.version}),
            "max_model_len": [each.max_model_len for each in served],
        }
        server = self._servers.get(name)
        if server is None:
            return facts
        replicas = server.state().get("replicas", [])
        return facts | {
            "gpus": [dict(each) for each in gpu_facts()],
            "replicas": [
                {
                    "command": each["command"],
                    "devices": each["variables"].get(VISIBLE, ""),
                    "startup_s": each["startup_s"],
                    "restarts": each["restarts"],
                    "log": each["log"],
                    "log_end": log_tail(Path(each["log"]), TAIL_LINES) if Path(each["log"]).exists() else "",
                }
                for each in replicas
            ],
        }


def _outage(server: SharedServer) -> Outage | None:
    model, supervised = (
        server.plan.model,
        is_supervised(server.folder),
    )  # before the state, which is written first
    state = server.state()
    if state.get("status") in ("failed", "ending", "ended"):
        return Outage(str(server.failure(state)))
    if not supervised:
        return Outage(
            f"the process that supervises vLLM for {model} was killed, and its servers with it. Rerun."
        )
    if any(each["status"] == "restarting" for each in state.get("replicas", ())):
        return Outage(f"vLLM for {model} restarts", ends=True)
    return None

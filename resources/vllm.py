"""vLLM servers: an existing server, or a server that is started for a model and stopped afterwards.

vLLM needs a separate environment; `executable` is the program in that environment. endpoints/ sends requests.
"""

import json
import os
import shlex
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memflow.errors import BadSettings, EndpointDown
from resources.adapter import Manifest, load_adapter
from resources.process import default_signals, log_tail, terminate
from resources.settings_sections import Model

DEFAULTS = (
    # The default xgrammar allows control characters in bounded strings, and a model may repeat whitespace between JSON
    # tokens forever.
    "--structured-outputs-config",
    '{"backend":"guidance","disable_any_whitespace":true}',
    "--enable-prompt-tokens-details",
)
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM accepts as the maximum rank of adapters."""


@dataclass(frozen=True)
class Adapter:
    """An adapter that a server loads together with its base model. Requests select the adapter by `name`."""

    folder: Path
    rank: int

    @classmethod
    def of(cls, folder: Path, manifest: Manifest) -> "Adapter":
        """Return the adapter in a folder, described by its manifest."""
        return cls(folder.absolute(), int(manifest.parameters["rank"]))

    @property
    def name(self) -> str:
        """The model name in requests: the name of the adapter's folder."""
        return self.folder.name

    def arguments(self) -> list[str]:
        """Return the adapter's arguments for `vllm serve`. Raises BadSettings if vLLM does not support the rank."""
        most = next((rank for rank in RANKS if rank >= self.rank), None)
        if most is None:
            raise BadSettings(
                f"the adapter {self.folder} has rank {self.rank}, but vLLM supports at most {RANKS[-1]}. "
                "Train an adapter with a lower rank."
            )
        return ["--enable-lora", "--max-lora-rank", str(most), "--lora-modules", f"{self.name}={self.folder}"]


@dataclass
class VllmServer:
    """A context manager that yields a server's base URL, such as http://127.0.0.1:8000/v1.

    Raises EndpointDown if the server cannot be reached, does not serve the model, exits, or is not ready in time;
    BadSettings if the program cannot be run.
    """

    model: str
    """The model for `vllm serve`, and its name in requests unless there is an adapter."""
    url: str = ""
    """The base address of an existing server; empty: start one."""
    executable: str = "vllm"
    """The vLLM program, with arguments if needed."""
    arguments: Sequence[str] = ()
    """Further arguments of `vllm serve`, which override the defaults."""
    adapter: Adapter | None = None
    """An adapter of the model, which requests then name."""
    port: int = 0
    """The port of a started server; 0: any free port."""
    patience: float = 900.0
    """Seconds within which a started server must be ready."""
    log: Path | None = None
    """The file of its output; None: a temporary file."""
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> str:
        if self.url:
            self._check(self.url)
            return self.url
        port = self.port or _free_port()
        url = f"http://127.0.0.1:{port}/v1"
        self._start(port)
        try:
            self._wait(url)
            self._check(url)
        except BaseException:
            self._stop()
            raise
        return url

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _start(self, port: int) -> None:
        if self.log is None:
            handle, name = tempfile.mkstemp(prefix="memflow-vllm-", suffix=".log")
            os.close(handle)
            self.log = Path(name)
        address = ["--host", "127.0.0.1", "--port", str(port)]
        command = [*shlex.split(self.executable), "serve", self.model, *address]
        beside = [] if self.adapter is None else self.adapter.arguments()
        try:
            with self.log.open("wb") as log:
                self._process = subprocess.Popen(
                    [*command, *DEFAULTS, *beside, *self.arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # its own process group: its workers end with it
                    preexec_fn=default_signals(),  # noqa: PLW1509  (None unless signals are ignored)
                )
        except OSError as error:
            raise BadSettings(
                f"cannot run {self.executable!r} ({error}). Set `executable` of the model in memflow.toml "
                "to the vllm program of an environment that has vLLM."
            ) from error

    def _wait(self, url: str) -> None:
        assert self._process is not None and self.log is not None
        over = time.monotonic() + self.patience
        while _status(_root(url) + "/health") != 200:
            if self._process.poll() is not None:
                raise EndpointDown(
                    f"vLLM for {self.model} exited with status {self._process.returncode}. Fix the error in "
                    f"its log, then rerun: {log_tail(self.log)}"
                )
            if time.monotonic() > over:
                raise EndpointDown(
                    f"vLLM for {self.model} was not ready after {self.patience:g} s. See its log, then rerun: "
                    f"{log_tail(self.log)}"
                )
            time.sleep(0.1)

    def _check(self, url: str) -> None:
        health = _status(_root(url) + "/health")
        if health not in (200, 404):  # 404: an OpenAI-compatible server other than vLLM
            problem = "cannot connect" if health is None else f"/health returned {health}"
            raise EndpointDown(
                f"no healthy server at {url}: {problem}. Start the server, or fix `url` in memflow.toml."
            )
        try:
            served = [one["id"] for one in _json(url.rstrip("/") + "/models")["data"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EndpointDown(
                f"cannot read the model list at {url}/models ({error}). Check that it is an "
                "OpenAI-compatible server."
            ) from error
        wanted = self.model if self.adapter is None else self.adapter.name
        if wanted not in served:
            raise EndpointDown(
                f"{url} serves {', '.join(served)}, but not {wanted!r}. Fix `model` in memflow.toml."
            )

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            terminate(process)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _root(url: str) -> str:
    return url.rstrip("/").removesuffix("/v1")


_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _status(url: str) -> int | None:
    try:
        with _opener.open(url, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def _json(url: str) -> Any:
    with _opener.open(url, timeout=10) as response:
        return json.load(response)


class VllmServers:
    """The vLLM servers of the settings.

    A server starts when its model is first used; closing this object stops all servers.
    """

    def __init__(self, models: Mapping[str, Model]) -> None:
        self._models = models
        self._stack = ExitStack()
        self._urls: dict[str, str] = {}
        self._lock = threading.Lock()

    def urls(self, name: str) -> tuple[str, ...]:
        """Return the addresses of a model's servers; start the servers if necessary."""
        with self._lock:
            if name not in self._urls:
                model = self._models[name]
                server = VllmServer(
                    model=model.model,
                    executable=model.executable,
                    arguments=model.arguments,
                    adapter=_adapter(model),
                )
                self._urls[name] = self._stack.enter_context(server)
            return (self._urls[name],)

    def close(self) -> None:
        self._stack.close()
        self._urls.clear()


def _adapter(model: Model) -> Adapter | None:
    folder = Path(model.adapter).expanduser()
    return Adapter.of(folder, load_adapter(folder, model.revision)) if model.adapter else None

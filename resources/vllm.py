"""A vLLM server: one that runs already, or one that is started for a model and ended afterwards.

How a model is asked is chat.py. The server lives in its own environment, since its pins exclude ours:
`executable` is that environment's program.
"""

import json
import os
import shlex
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memflow.errors import BadSettings, EndpointDown
from resources.adapter import Manifest
from resources.process import default_signals, log_tail, terminate

DEFAULTS = (
    # xgrammar, the server's default, lets control characters into bounded strings; and a model that may write
    # white space between JSON tokens may do so for ever.
    "--structured-outputs-config",
    '{"backend":"guidance","disable_any_whitespace":true}',
    "--enable-prompt-tokens-details",
)
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""The largest ranks of adapters that a server can be told."""


@dataclass(frozen=True)
class Adapter:
    """An adapter that a server has beside its model: asked for by `name`, which is its folder's."""

    folder: Path
    rank: int

    @classmethod
    def of(cls, folder: Path, manifest: Manifest) -> "Adapter":
        """The adapter in a folder with that manifest."""
        return cls(folder.absolute(), int(manifest.parameters["rank"]))

    @property
    def name(self) -> str:
        """By which it is asked for."""
        return self.folder.name

    def arguments(self) -> list[str]:
        """Those of `vllm serve`. Raises BadSettings where no server takes the rank."""
        most = next((rank for rank in RANKS if rank >= self.rank), None)
        if most is None:
            raise BadSettings(
                f"the adapter {self.folder} is of rank {self.rank}; vLLM serves up to {RANKS[-1]}"
            )
        return ["--enable-lora", "--max-lora-rank", str(most), "--lora-modules", f"{self.name}={self.folder}"]


@dataclass
class VllmServer:
    """A context manager that gives the base address, such as http://127.0.0.1:8000/v1.

    Raises EndpointDown when the server is not there, does not serve the model, ends early or is not ready in
    time; BadSettings when there is no such program.
    """

    model: str
    """The model, as `vllm serve` is given it, and as it is asked for, unless there is an adapter."""
    url: str = ""
    """The base address of a server that runs already; empty: start one."""
    executable: str = "vllm"
    """The program that serves, with arguments of its own where it needs them."""
    arguments: Sequence[str] = ()
    """Further arguments of `vllm serve`; they go over the defaults."""
    adapter: Adapter | None = None
    """An adapter of the model, which is then what is asked for."""
    port: int = 0
    """The port of a server that is started; 0: a free one."""
    patience: float = 900.0
    """Seconds until a server that is started has to be ready."""
    log: Path | None = None
    """Where its output goes; none: a temporary file."""
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
            self._end()
            raise
        return url

    def __exit__(self, *_: object) -> None:
        self._end()

    def _start(self, port: int) -> None:
        if self.log is None:
            handle, name = tempfile.mkstemp(prefix="memflow-vllm-", suffix=".log")
            os.close(handle)
            self.log = Path(name)
        command = [
            *shlex.split(self.executable),
            "serve",
            self.model,
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
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
                f"{self.executable!r} cannot be run ({error}); as `executable` of the model in memflow.toml, "
                "name the program of an environment that has vLLM"
            ) from error

    def _wait(self, url: str) -> None:
        assert self._process is not None and self.log is not None
        over = time.monotonic() + self.patience
        while _status(_root(url) + "/health") != 200:
            if self._process.poll() is not None:
                raise EndpointDown(
                    f"vLLM for {self.model} ended with {self._process.returncode}: {log_tail(self.log)}"
                )
            if time.monotonic() > over:
                raise EndpointDown(
                    f"vLLM for {self.model} was not ready in {self.patience:g} s: {log_tail(self.log)}"
                )
            time.sleep(0.1)

    def _check(self, url: str) -> None:
        health = _status(_root(url) + "/health")
        if health not in (200, 404):  # 404: compatible, but no vLLM
            said = "nobody answers" if health is None else f"/health says {health}"
            raise EndpointDown(
                f"no healthy server at {url}: {said}; start one there, or mend the model's url"
            )
        try:
            served = [one["id"] for one in _json(url.rstrip("/") + "/models")["data"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EndpointDown(
                f"{url}/models names no models ({error}); is it an OpenAI-compatible server?"
            ) from error
        wanted = self.model if self.adapter is None else self.adapter.name
        if wanted not in served:
            raise EndpointDown(
                f"{url} does not serve {wanted!r} but {', '.join(served)}; mend the model's name"
            )

    def _end(self) -> None:
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
    """The HTTP status, or None where nobody answers."""
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

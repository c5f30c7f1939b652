"""`memflow dev`: the Dagster UI and its daemon, on the instance that `memflow run` writes to."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from memflow.cli.selection import front_of


def dev(
    ctx: typer.Context,
    port: Annotated[int, typer.Option(help="The port of the UI.")] = 3000,
    host: Annotated[
        str, typer.Option(help="The address it listens on; loopback, unless you say otherwise.")
    ] = "127.0.0.1",
) -> None:
    """Open the Dagster UI on this settings' instance. Ends with Ctrl-C."""
    from resources.instance import EVENT_BATCHES, dagster_home

    front = front_of(ctx)
    settings = front.load()
    environment = {
        **EVENT_BATCHES,
        **os.environ,
        "DAGSTER_HOME": str(dagster_home(settings.home)),
        "MEMFLOW_HOME": str(settings.home),
    }
    if front.settings is not None:
        environment["MEMFLOW_SETTINGS"] = str(front.settings.absolute())
    where = ["-w", "workspace.yaml"] if Path("workspace.yaml").is_file() else ["-m", "assets.definitions"]
    program = Path(sys.executable).with_name("dagster")
    os.execve(program, [str(program), "dev", *where, "-h", host, "-p", str(port)], environment)

"""The code location `memflow`: the module with its definitions, and how Dagster's programs reach its server."""

import tomllib
from pathlib import Path
from typing import Any

from dagster._core.remote_origin import GrpcServerCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin

MODULE = "memflow.assets.definitions"
NAME = "memflow"


def definitions_module(folder: Path) -> str:
    """Return the module with the definitions: that of the Dagster project `memflow` in a folder, otherwise ours.

    `memflow init --dagster` writes such a project, whose definitions are ours and a user's own.
    """
    file = folder / "pyproject.toml"
    tables = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}) if file.is_file() else {}
    project = tables.get("dg", {}).get("project", {})
    is_ours = project.get("code_location_name") == NAME
    return project.get("code_location_target_module", MODULE) if is_ours else MODULE


def workspace(socket: Path) -> dict[str, Any]:
    """Return the workspace with the code location behind a socket, as the content of a workspace.yaml."""
    return {"load_from": [{"grpc_server": {"socket": str(socket), "location_name": NAME}}]}


def job_origin(job: str) -> RemoteJobOrigin:
    """Return the origin of a job of `memflow run`, by which the timeline and the page of the job list its runs."""
    # No server launches the run.
    location = GrpcServerCodeLocationOrigin("localhost", port=0, location_name=NAME)
    return RemoteRepositoryOrigin(location, "__repository__").get_job_origin(job)

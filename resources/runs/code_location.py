"""The code location `memflow`: how Dagster's programs load it, and the origin of its jobs.

A run with the origin of its job is shown on the job's page and in the timeline of the UI.
"""

from pathlib import Path
from typing import Any

from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

MODULE = "memflow.assets.definitions"
NAME = "memflow"
REPOSITORY = "__repository__"
"""Dagster's name for the only repository of a location."""


def workspace(working_directory: Path) -> dict[str, Any]:
    """Return the workspace with the code location, as the content of a workspace.yaml.

    Modules are first looked up in `working_directory`, which may contain a user's own memory.
    """
    location = {"module_name": MODULE, "location_name": NAME, "working_directory": str(working_directory)}
    return {"load_from": [{"python_module": location}]}


def job_origin(job: str) -> RemoteJobOrigin:
    """Return the origin of a job of the code location, as the UI's programs load it from the current folder."""
    target = LoadableTargetOrigin(module_name=MODULE, working_directory=str(Path.cwd()))
    location = ManagedGrpcPythonEnvCodeLocationOrigin(target, NAME)
    return RemoteRepositoryOrigin(location, REPOSITORY).get_job_origin(job)

"""Dagster's web server behind the middleware of owner_requests.py:
`python -m memflow.resources.runs.webserver OPTIONS`.

`memflow dev` and the image start it. Its options are those of `dagster-webserver`.
"""

import os
from typing import Any

from dagster_webserver import cli
from starlette.applications import Starlette

from memflow.resources.runs.owner_requests import HOSTS_VARIABLE, OwnerRequests

_create_app = cli.create_app_from_workspace_process_context


def create_app(*arguments: Any, **options: Any) -> Starlette:
    """Return Dagster's ASGI application with the middleware before all else."""
    app = _create_app(*arguments, **options)
    app.add_middleware(OwnerRequests, hosts=os.environ.get(HOSTS_VARIABLE, "").split())
    return app


def main() -> None:
    """Run the command `dagster-webserver` with the protected application."""
    # The command has no option for middleware. It looks this name up when it starts the server.
    cli.create_app_from_workspace_process_context = create_app
    cli.main()


if __name__ == "__main__":
    main()

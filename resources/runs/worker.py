"""The process of one run: `python -m resources.runs.worker DESCRIPTOR LEASE execute_run|resume_run ARGUMENTS`.

It holds the lease that it inherits from the run launcher until it ends, and otherwise is Dagster's `dagster api`.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from dagster._cli.api import api_cli


def main(descriptor: str, lease: str, command: str, arguments: str) -> None:
    """Execute a run, and remove its lease at the end."""
    # Programs that the run starts do not inherit the lease: it ends with this process.
    os.set_inheritable(int(descriptor), False)
    try:
        api_cli([command, arguments], standalone_mode=False)
    finally:
        with suppress(FileNotFoundError):
            Path(lease).unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])

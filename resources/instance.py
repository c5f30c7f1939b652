"""Dagster's instance under the home folder: the one that the command line runs on and the UI shows."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import dagster as dg


def dagster_home(home: Path) -> Path:
    """The instance's folder, made with its dagster.yaml where it is not there yet. DAGSTER_HOME goes over it."""
    folder = Path(os.environ.get("DAGSTER_HOME") or home / "dagster").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "dagster.yaml"
    if not settings.exists():
        settings.write_text(
            files("resources").joinpath("instance.yaml").read_text(encoding="utf-8"), encoding="utf-8"
        )
    return folder


@contextmanager
def open_instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """The instance of `home`."""
    with dg.DagsterInstance.from_config(str(dagster_home(home))) as instance:
        yield instance

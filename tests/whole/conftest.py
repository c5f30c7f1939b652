"""Runs of the whole pipeline as `memflow run` does, and the contents of a home."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memflow
from memflow.cli.pipeline import Outcome, PlannedRun, RunRequest, run_pipeline
from memflow.records import TABLES
from resources.lake import Lake
from resources.settings import load


class Silent:
    """A watcher that tells nobody."""

    def begin(self, runs: int) -> None: ...
    def start_run(self, run: PlannedRun) -> None: ...
    def step(self, name: str, done: int, total: int) -> None: ...
    def end_run(self, run: PlannedRun, result: str) -> None: ...


@pytest.fixture(autouse=True)
def _nobodys_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somewhere where no memflow.toml lies."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def own_environment() -> dict[str, str]:
    """The environment for a process of its own: this tree, and nobody's settings."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMFLOW_", "DAGSTER_"))
    }
    return {**kept, "PYTHONPATH": str(Path(memflow.__file__).parents[1])}


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, str]]:
    """The content digest of every table and partition of a home."""

    def of(home: Path) -> dict[str, str]:
        lake = Lake(home / "lake")
        return {
            f"{table} {partition}": lake.facts(table, partition).digest
            for table in TABLES
            for partition in lake.partitions(table)
        }

    return of


@pytest.fixture
def run_in() -> Callable[..., Outcome]:
    """Run as `memflow run` does: `run_in(home, domains, assistants, limit=1, models={...})`."""

    def run(
        home: Path,
        domains: tuple[str, ...],
        assistants: tuple[str, ...],
        *,
        limit: int = 0,
        force: bool = False,
        **over: Any,
    ) -> Outcome:
        settings = load(over={"home": home, **over})
        named = tuple(dict.fromkeys((*settings.domains, *domains)))
        settings = settings.model_copy(update={"domains": named})
        return run_pipeline(settings, RunRequest(domains, assistants, limit, force), Silent())

    return run

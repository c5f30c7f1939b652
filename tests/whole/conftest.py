"""Fixtures for end-to-end tests: runs in this process, and the contents of a home."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memflow
from bench.homes import content_hashes
from memflow.operations.pipeline import Silent, run_pipeline
from memflow.operations.planned_runs import Outcome, RunRequest
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import load


@pytest.fixture(autouse=True)
def _empty_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to a folder without memflow.toml."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def own_environment() -> dict[str, str]:
    """Return the environment of a subprocess: this source tree and no personal settings."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMFLOW_", "DAGSTER_"))
    }
    return {**kept, "PYTHONPATH": str(Path(memflow.__file__).parents[1])}


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, str]]:
    """Return a function that maps each table and partition of a home to its content hash.

    Append-only tables are left out: they contain the times and runs of a home.
    """

    return lambda home: content_hashes(Lake(home / "lake"))


@pytest.fixture
def run_in() -> Callable[..., Outcome]:
    """Return a function that runs the pipeline: `run_in(home, domains, assistants, limit=1, models={...})`.

    With a limit, samples of the domains are run.
    """

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
        if limit:
            domains = tuple(settings.domain(name).limited(limit).name for name in domains)
        named = {
            "domains": tuple(dict.fromkeys((*settings.domains, *domains))),
            "assistants": tuple(dict.fromkeys((*settings.assistants, *assistants))),
        }
        settings = settings.model_copy(update=named)
        return run_pipeline(settings, RunRequest(domains, assistants, force), Silent())

    return run

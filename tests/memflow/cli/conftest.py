"""A home with one measured domain: a sample of amemgym_demo, with the scripted chat, under four memories."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from rich.console import RenderableType
from typer.testing import CliRunner

from memflow.assets.fingerprints import Fingerprints
from memflow.cli import app
from memflow.cli.summary import Summary
from memflow.operations.messages import TerminalConsole
from memflow.pipeline import Step, partition_key, steps_of
from memflow.resources.data.library import Library
from memflow.resources.lake.lake import Lake
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.models import Models
from memflow.resources.publishing.leaderboard import leaderboard
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.protocol_values import protocol_meta
from memflow.resources.settings.settings import Settings, load
from memflow.resources.steps import StepRunner

DOMAIN = "amemgym_demo~1"
ASSISTANTS = ("none", "oracle", "full", "awi")


@dataclass(frozen=True)
class Home:
    """A home folder; calling it runs a `memflow` command with this home."""

    folder: Path

    def __call__(self, *arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(app, ["--home", str(self.folder), *arguments], **options)

    @property
    def lake(self) -> Lake:
        return Lake(load(over={"home": self.folder}).lake_root)

    def write(self, table: str, partition: str, rows: Sequence[Any], **meta: str) -> None:
        """Write rows of a partition, with provenance in `meta`."""
        self.lake.write(table, partition, rows, fingerprint="test", meta=meta)

    def json(self, *arguments: str) -> Any:
        """Return the answer of a command as data."""
        return json.loads(self(*arguments, "--format", "json").stdout)

    def csv(self, *arguments: str) -> list[dict[str, str]]:
        """Return the rows that a command writes as CSV."""
        return list(csv.DictReader(self(*arguments, "--format", "csv").stdout.splitlines()))

    def error(self, *arguments: str) -> str:
        """Return what a command that fails prints on standard error."""
        result = self(*arguments)
        assert result.exit_code == 1, result.output
        return result.stderr


def printed_parts(parts: Iterable[RenderableType], width: int) -> str:
    """Return parts of a result as a terminal of a width shows them."""
    console = TerminalConsole(width=width, highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    text = captured.get()
    assert max(map(len, text.splitlines())) <= width
    return text


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the machine's settings and change to an empty folder."""
    for name in ("MEMFLOW_SETTINGS", "MEMFLOW_DATA", "MEMFLOW_HOME", "MEMFLOW_LAKE", "MEMFLOW_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # memflow adds the folder that it is called in


@pytest.fixture
def printed() -> Callable[..., str]:
    """Return a function that prints the summary of a run at a width."""

    def text(summary: Summary, width: int = 160) -> str:
        return printed_parts(summary.shown(), width)

    return text


@pytest.fixture
def empty(tmp_path: Path) -> Home:
    """Return a home in which no run was started."""
    return Home(tmp_path / "home")


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home in which one user was measured. No command of these tests writes to it."""
    return measure(tmp_path_factory.mktemp("measured"), DOMAIN, ASSISTANTS)


def measure(folder: Path, name: str, assistants: Sequence[str]) -> Home:
    """Run the pipeline of a domain with the scripted chat, and write its tables. Return the home."""
    settings = load(over={"home": folder})
    lake = Lake(settings.lake_root)
    with Models(settings, SqlLedger(settings.ledger_url)) as models:
        measure_with(settings, models, lake, name, assistants)
    only = settings.model_copy(update={"domains": (name,)})
    scores = leaderboard(only, lake, Warehouse(lake, settings.warehouse_path)).rows
    lake.write("score.leaderboard", "all", scores, fingerprint="test")
    return Home(folder)


def measure_with(
    settings: Settings, models: Models, lake: Lake, name: str, assistants: Sequence[str]
) -> None:
    """Run the pipeline of a domain with these models, and write its tables, except the leaderboard."""
    runner = StepRunner(settings, lake, Library(None), models)
    domain = settings.domain(name)
    fingerprints = Fingerprints(settings, lake, runner.library)

    def write(step: Step, **partition: Any) -> None:
        tables = runner.run(step, "test", **partition)
        where = partition.get("domain", domain)
        assistant = partition.get("assistant", "")
        key = partition.get("dataset") or partition_key(where.name, assistant)
        meta = fingerprints.provenance(step, where, assistant)
        for table, rows in tables.items():
            protocol = protocol_meta(table, settings, where, assistant)
            lake.write(table, key, rows, fingerprint="test", meta={"run": "test", **meta, **protocol})

    for step in steps_of("dataset"):
        for dataset in domain.datasets:
            write(step, dataset=dataset)
    for step in steps_of("domain"):
        write(step, domain=domain)
    for assistant in assistants:
        for step in steps_of("domain x assistant"):
            write(step, domain=domain, assistant=assistant)

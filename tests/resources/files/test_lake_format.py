"""A home of another version is refused by every reader."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner
from valid_rows import valid_rows

from memflow.cli import app
from memflow.resources.files.lake_format import FORMAT_FILE, OtherVersion
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import load

READERS = (
    *(("run", "--demo"), ("plan",), ("dev",), ("doctor",), ("report",), ("view",), ("sql", "SELECT 1")),
    *(("show", name) for name in ("leaderboard", "verdicts", "usage", "history")),
    *(("compare", "full", "none"), ("ledger", "stats")),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home with a partition, whose lake has no format."""
    home = tmp_path / "home"
    Lake(home / "lake").write("question.probes", "d", valid_rows()["question.probes"], fingerprint="")
    (home / "lake" / FORMAT_FILE).unlink()
    return home


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_every_reader_refuses_a_home_of_another_version_in_one_sentence(
    home: Path, command: tuple[str, ...]
) -> None:
    result = CliRunner().invoke(app, ["--home", str(home), *command])
    assert result.exit_code == 1 and isinstance(result.exception, SystemExit)
    shown = " ".join((result.stderr + result.stdout).split())
    assert "another version of memflow" in shown and "start over" in shown


def test_code_location_refuses_a_home_of_another_version(home: Path) -> None:
    code = "import memflow.assets.definitions as found; found.defs()"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MEMFLOW_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0 and "another version of memflow" in result.stderr


def test_home_of_this_version_is_read_wherever_it_is_moved(home: Path, tmp_path: Path) -> None:
    shutil.rmtree(home / "lake")
    assert load(over={"home": home}).home == home, "a deleted lake is built again"
    Lake(home / "lake").write("question.probes", "d", [], fingerprint="")
    moved = shutil.move(home, tmp_path / "moved")
    assert Lake(load(over={"home": moved}).lake_root).partitions("question.probes") == ["d"]


def test_lake_of_a_later_format_is_refused(home: Path) -> None:
    (home / "lake" / FORMAT_FILE).write_text("memflow lake 99\n")
    with pytest.raises(OtherVersion):
        load(over={"home": home})

"""`memflow run` and `memflow doctor` on a home with damaged files: everything comes back, and no request is sent."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memflow.cli import app
from memflow.operations.planned_runs import Outcome
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.verification import VERIFIED

pytestmark = pytest.mark.pipeline

DOMAIN, ASSISTANTS = "memorybench_demo", ("none", "oracle", "full")
Contents = Callable[[Path], dict[str, str]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with the results of three assistants in one domain."""
    home = tmp_path_factory.mktemp("built") / "home"
    run(home)
    return home


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    """Return a copy of the home, whose files may be damaged."""
    shutil.copytree(built, tmp_path / "home")
    VERIFIED.clear()
    return tmp_path / "home"


def command(home: Path, *arguments: str) -> Any:
    return CliRunner().invoke(app, ["--home", str(home), *arguments])


def run(home: Path) -> dict[str, Any]:
    chosen = [part for name in ASSISTANTS for part in ("--memory", name)]
    result = command(home, "run", "--domain", DOMAIN, *chosen, "--no-baselines", "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def flip(path: Path, at: int = 200) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 4
    path.unlink()
    path.write_bytes(content)


def sent(home: Path) -> int:
    """Return the number of requests that were sent in a home."""
    with sqlite3.connect(home / "ledger.sqlite") as connection:
        [(number,)] = connection.execute("select count(*) from uses where not kept").fetchall()
        [(failed,)] = connection.execute("select count(*) from failures").fetchall()
    return number + failed


def test_run_rebuilds_damaged_partitions_and_names_them(home: Path, contents: Contents) -> None:
    whole, requests = contents(home), sent(home)
    lake = Lake(home / "lake")
    flip(Path(lake.path("answer.replies", f"{DOMAIN}/full")))
    Path(lake.path("question.probes", DOMAIN)).write_bytes(b"PAR1")
    flip(Path(lake.path("score.leaderboard", "all")))
    flip(Path(lake.path("score.history", "all")))
    answer = run(home)
    assert answer["damaged"]["rebuilt"] == {
        f"generate_domain {DOMAIN}": ["question.probes"],
        f"evaluate_memory {DOMAIN} · full": ["answer.replies"],
        "publish_leaderboard": ["score.leaderboard", "score.history"],
    }
    assert (contents(home), sent(home)) == (whole, requests)
    assert run(home)["runs"]["up_to_date"] == 6


def test_damaged_partition_of_another_domain_is_left_out_of_the_leaderboard_and_named(
    home: Path, run_in: Callable[..., Outcome]
) -> None:
    lake = Lake(home / "lake")
    flip(Path(lake.path("answer.replies", f"{DOMAIN}/full")))
    flip(Path(lake.path("score.leaderboard", "all")))
    outcome = run_in(home, (DOMAIN,), ("none",))
    assert (outcome.failed, outcome.left_out) == ([], [f"{DOMAIN}/full"])
    assert {score.assistant for score in outcome.scores} == {"none", "oracle"}
    found = command(
        home, "sql", "SELECT DISTINCT assistant FROM answer.replies ORDER BY 1", "--format", "json"
    )
    assert [row["assistant"] for row in json.loads(found.stdout)] == ["none", "oracle"]
    assert (
        f"answer.replies of {DOMAIN}/full" in found.stderr
        and f"`memflow run --domain {DOMAIN}" in found.stderr
    )
    other = command(home, "sql", "SELECT count(*) AS n FROM question.probes", "--format", "json")
    assert (other.exit_code, other.stderr) == (0, "")


def test_deleted_history_is_restored_from_its_kept_version(home: Path) -> None:
    lake = Lake(home / "lake")
    before = lake.read("score.history", "all")
    path = Path(lake.path("score.history", "all"))
    path.unlink()
    run(home)
    assert lake.read("score.history", "all") == before, "no publication is lost, and none is added"


def test_doctor_names_all_damage_and_the_commands_that_rebuild_it_without_requests(
    home: Path, contents: Contents
) -> None:
    whole, requests = contents(home), sent(home)
    assert findings(home, "--full") == []
    for path in sorted((home / "lake").glob("[a-z]*/*/*.parquet")):
        flip(path)
    flip(home / "memflow.duckdb", 9000)
    damaged = findings(home, "--full")
    assert {row["what"] for row in damaged} == {"lake", "memflow.duckdb"}
    fixes = " ".join(row["fix"] for row in damaged)
    assert f"Run `memflow run --domain {DOMAIN} --memory full`" in fixes
    assert f"Delete {home / 'memflow.duckdb'}, then run `memflow run`" in fixes
    (home / "memflow.duckdb").unlink()
    run(home)
    VERIFIED.clear()
    assert (contents(home), sent(home)) == (whole, requests)
    assert findings(home, "--full") == []


@pytest.mark.parametrize("arguments", [("show", "usage"), ("ledger", "stats"), ("run",)])
def test_damaged_schema_page_of_the_ledger_is_reported_in_one_sentence(
    home: Path, arguments: tuple[str, ...]
) -> None:
    path = home / "ledger.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    at = content.index(b"tablecompletions") + len(b"table")
    content[at : at + 40] = bytes([255, 150] * 20)  # the name, which the driver's message quotes, is no UTF-8
    path.write_bytes(content)
    flip(Path(Lake(home / "lake").path("answer.replies", f"{DOMAIN}/full")))
    options = ("--domain", DOMAIN, "--memory", "full", "--no-baselines") if arguments == ("run",) else ()
    result = command(home, *arguments, *options)
    assert result.exit_code == 1 and isinstance(result.exception, SystemExit)
    shown = " ".join(result.stderr.split())
    assert f"{path} is damaged (" in shown and "sqlite3" in shown and ".recover" in shown
    [found] = [row for row in findings(home, "--full") if row["what"] == "ledger"]
    assert ".recover" in found["fix"]


def findings(home: Path, *options: str) -> list[dict[str, str]]:
    """Return what `memflow doctor` reports as damaged."""
    rows = json.loads(command(home, "doctor", *options, "--format", "json").stdout)
    return [row for row in rows if row["state"] == "damaged"]

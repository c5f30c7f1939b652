"""`memflow run` and `memflow repair` on a home with damaged files: everything comes back, and no request is sent."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memflow.chat import scripted
from memflow.cli import app
from memflow.cli.planned_runs import Outcome
from memflow.errors import BudgetSpent
from resources.lake.lake import VERIFIED, Lake

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
    result = command(home, "run", "--domain", DOMAIN, *chosen, "--no-bounds", "--format", "json")
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
        "publish_leaderboard": ["score.leaderboard"],
    }
    assert answer["damaged"]["restored"] == ["score.history"]
    assert (contents(home), sent(home)) == (whole, requests)
    assert len([path for path in (home / "lake" / ".damaged").rglob("*") if path.is_file()]) == 4
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
    assert f"answer.replies of {DOMAIN}/full" in found.stderr and "memflow repair" in found.stderr
    other = command(home, "sql", "SELECT count(*) AS n FROM question.probes", "--format", "json")
    assert (other.exit_code, other.stderr) == (0, "")


def test_run_restores_a_deleted_search_index_and_database(home: Path) -> None:
    shutil.rmtree(home / "lance")
    (home / "memflow.duckdb").unlink()
    answer = run(home)
    assert answer["runs"]["up_to_date"] == 6
    names = {f"search index of {DOMAIN}/{name}" for name in ASSISTANTS}
    assert set(answer["damaged"]["restored"]) == {*names, str(home / "memflow.duckdb")}
    assert (home / "memflow.duckdb").is_file()
    assert run(home)["damaged"]["restored"] == []


def test_deleted_history_is_restored_from_its_copy(home: Path) -> None:
    lake = Lake(home / "lake")
    before = lake.read("score.history", "all")
    path = Path(lake.path("score.history", "all"))
    path.unlink()
    shown = json.loads(command(home, "repair", "--dry-run", "--format", "json").stdout)
    assert [row["what"] for row in shown["damages"]] == ["score.history of all"]
    answer = run(home)
    assert answer["damaged"]["restored"] == ["score.history"]
    assert lake.read("score.history", "all") == before, "no publication is lost, and none is added"
    path.unlink()
    assert command(home, "repair", "--yes").exit_code == 0
    assert lake.read("score.history", "all") == before


def test_repair_rebuilds_everything_that_the_ledger_covers_without_requests(
    home: Path, contents: Contents, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, requests = contents(home), sent(home)
    calls: list[Any] = []
    complete = scripted.ScriptedChat.complete

    async def counted(chat: Any, *arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return await complete(chat, *arguments, **named)

    monkeypatch.setattr(scripted.ScriptedChat, "complete", counted)
    for path in sorted((home / "lake").glob("[a-z]*/*/*.parquet")):
        flip(path)
    for path in sorted((home / "lance").rglob("data/*.lance")):
        flip(path, 3)
    flip(home / "memflow.duckdb", 9000)
    looked = command(home, "repair", "--dry-run", "--format", "json")
    assert looked.exit_code == 1 and contents_are_damaged(home, whole)
    assert {row["kind"] for row in json.loads(looked.stdout)["damages"]} == {"lake", "index", "database"}
    assert command(home, "doctor", "--full").exit_code == 1
    repaired = command(home, "repair", "--yes", "--format", "json")
    assert repaired.exit_code == 0, repaired.output
    answer = json.loads(repaired.stdout)
    assert answer["repaired"] == len(answer["damages"]) > len(whole)
    VERIFIED.clear()
    assert (contents(home), sent(home), calls) == (whole, requests, [])
    again = command(home, "repair", "--yes")
    assert again.exit_code == 0 and "Everything is intact" in again.stdout


def contents_are_damaged(home: Path, whole: dict[str, str]) -> bool:
    lake = Lake(home / "lake")
    return all(lake.damage(*name.split(" ")) is not None for name in whole)


def test_repair_runs_without_requests_and_names_the_command_for_what_needs_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(Lake(home / "lake").path("answer.replies", f"{DOMAIN}/full"))
    flip(path)
    budgets: list[Any] = []

    def run_pipeline(settings: Any, request: Any, watcher: Any, budget: Any) -> Outcome:
        budgets.append((list(request.domains), list(request.assistants), budget.calls))
        raise BudgetSpent("the budget of 0 calls is used up")

    monkeypatch.setattr("memflow.cli.pipeline.run_pipeline", run_pipeline)
    result = command(home, "repair", "--yes")
    assert (result.exit_code, budgets) == (1, [([DOMAIN], ["full"], 0)])
    shown = " ".join(result.stdout.split())
    assert "cannot be rebuilt without requests (the budget of 0 calls is used up)" in shown
    assert f"memflow run --domain {DOMAIN} --memory full" in shown
    assert path.is_file()


def test_repair_regenerates_nothing_with_the_models_of_other_settings(
    tmp_path: Path, contents: Contents, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, settings = tmp_path / "home", tmp_path / "memflow.toml"
    monkeypatch.chdir(tmp_path)
    settings.write_text(
        '[models.other]\nkind = "scripted"\nmodel = "shifted"\n[roles]\nsimulator = "other"\n'
    )
    run(home)
    settings.unlink()
    whole = contents(home)
    lake = Lake(home / "lake")
    flip(Path(lake.path("score.leaderboard", "all")))
    repaired = command(home, "repair", "--yes")
    assert repaired.exit_code == 0, repaired.output
    VERIFIED.clear()
    assert contents(home) == whole, "intact partitions stay, although other settings made them stale"
    path = Path(lake.path("feedback.sessions", DOMAIN))
    flip(path)
    damaged = path.read_bytes()
    left = command(home, "repair", "--yes")
    assert left.exit_code == 1 and "cannot be rebuilt without requests" in " ".join(left.stdout.split())
    assert path.read_bytes() == damaged, "the scripted chat does not replace the answers of another model"

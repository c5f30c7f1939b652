"""Commands import only what they need, and a run with all partitions up to date imports no Dagster."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memflow.assets.fingerprints import Fingerprints
from memflow.operations.pipeline import Silent, run_pipeline
from memflow.operations.planned_runs import Outcome, RunRequest
from memflow.pipeline import WRITERS, Scope, partition_key, tables_of
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.outputs import restore_outputs
from memflow.resources.runs.process_locks import LOCKS, has_stale_locks, instance_folder
from memflow.resources.settings.settings import Settings, load

DOMAIN = "amemgym_demo"
ASSISTANTS = ("none", "rag_2_4_30")
HEAVY = {
    *("dagster", "great_expectations", "lancedb", "nltk", "aiohttp", "pandas", "scipy", "textstat"),
    *("matplotlib", "rjieba", "pyarrow.dataset"),
}
GRAPH = {*HEAVY, "duckdb", "pyarrow", "sqlalchemy"}
EVERYTHING = {*GRAPH, "numpy", "pydantic_settings", "yaml"}


def imported(*commands: tuple[str, ...]) -> tuple[set[str], str]:
    """Return the modules that commands import in one process, and its standard error."""
    program = (
        f"import sys\nfrom memflow.cli import app\nfor arguments in {commands!r}:\n"
        "    try:\n        app(arguments)\n    except SystemExit:\n        pass\n"
        "print('imported', *sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    shown, _, modules = done.stderr.rpartition("imported ")
    return set(modules.split()), shown


def up_to_date(home: Path) -> Settings:
    """Return settings of a home in which every partition is up to date. Its tables have no rows."""
    file = home / "memflow.toml"
    file.write_text(
        f"home = {json.dumps(str(home))}\ndomains = {json.dumps([DOMAIN])}\nassistants = {json.dumps(ASSISTANTS)}\n"
    )
    settings = load(file)
    fingerprints = Fingerprints.of(settings)
    partitions: list[tuple[Scope, str, str]] = [
        *(("dataset", name, "") for name in settings.domain(DOMAIN).datasets),
        ("domain", DOMAIN, ""),
        *(("domain x assistant", DOMAIN, assistant) for assistant in ASSISTANTS),
        ("all", "all", ""),
    ]
    for scope, where, assistant in partitions:
        for table in tables_of(scope):
            today = fingerprints.step(WRITERS[table], where, assistant)
            fingerprints.lake.write(table, partition_key(where, assistant), [], fingerprint=today)
    restore_outputs(settings, fingerprints.lake)
    return settings


def run_selected(settings: Settings) -> Outcome:
    return run_pipeline(settings, RunRequest(settings.domains, settings.assistants), Silent())


def stale_lock(home: Path) -> Path:
    """Create a lock file that no process holds, as a killed process leaves it."""
    lock = instance_folder(home) / LOCKS / "0123456789abcdef"
    lock.parent.mkdir(parents=True)
    lock.touch()
    return lock


@pytest.mark.parametrize(
    ("commands", "without"),
    [
        (["--help", "run --help", "show --help", "shwo"], EVERYTHING),
        (["domains", "run --domain nowhere", "run --memory nothing_known"], GRAPH),
        (["run --assistant full@nobody", "plan --memory nothing_known"], GRAPH),
        (["show leaderboard", "sql 'SELECT 1'"], HEAVY),
    ],
)
def test_commands_import_no_unneeded_packages(commands: list[str], without: set[str]) -> None:
    modules, _ = imported(*(tuple(shlex.split(command)) for command in commands))
    assert not modules & without


def test_command_imports_no_other_command() -> None:
    modules, _ = imported(("show", "leaderboard"))
    assert "memflow.cli.show" in modules
    assert not modules & {f"memflow.cli.{name}" for name in ("run", "annotate", "compare", "probe", "costs")}


def test_domains_command_imports_no_benchmark_implementation() -> None:
    modules, _ = imported(("domains",))
    assert not [
        name for name in modules if name.startswith("memflow.benchmarks.") and name.endswith(".benchmark")
    ]


def test_run_with_all_partitions_up_to_date_imports_no_dagster(tmp_path) -> None:
    settings = up_to_date(tmp_path)
    modules, shown = imported(("--settings", str(settings.home / "memflow.toml"), "run"))
    assert shown.count("up to date") == 5 and "publish_leaderboard: up to date" in shown
    assert not modules & HEAVY
    assert not (settings.home / "dagster").exists()


def test_run_with_all_partitions_up_to_date_removes_a_stale_lock(tmp_path) -> None:
    settings = up_to_date(tmp_path)
    lock = stale_lock(settings.home)
    assert has_stale_locks(settings.home)
    assert len(run_selected(settings).up_to_date) == 5
    assert not lock.exists() and not has_stale_locks(settings.home)


def test_run_with_one_stale_partition_rebuilds_only_that_partition(tmp_path) -> None:
    settings = up_to_date(tmp_path)
    lake = Lake(settings.lake_root)
    lake.write("score.leaderboard", "all", [], fingerprint="of another version")
    outcome = run_selected(settings)
    assert [run.job for run in [*outcome.ran, *(run for run, _ in outcome.failed)]] == ["publish_leaderboard"]
    assert len(outcome.up_to_date) == 4

"""`memflow checks`: rule results, offending rows, and partitions that could not be checked."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from memflow.checks.expectations import expectations_of
from memflow.resources.lake.lake import Lake

OF_DOMAIN = ("question.probes", "amemgym_demo~1")


@pytest.fixture
def damaged(measured, tmp_path: Path):
    """Return a copy of the home with one probe of an unknown kind."""
    home = type(measured)(tmp_path / "damaged")
    shutil.copytree(measured.folder, home.folder)
    lake = Lake(home.folder / "lake")
    rows = lake.read(*OF_DOMAIN)
    lake.write(*OF_DOMAIN, [replace(rows[0], kind="riddle"), *rows[1:]], fingerprint="test")
    return home


def test_checks_command_with_assistant_lists_only_tables_of_that_assistant(measured) -> None:
    found = measured("checks", "--domain", "amemgym_demo~1", "--assistant", "full")
    assert "answer.replies" in found.stdout and "score.verdicts" in found.stdout
    assert "question.probes" not in found.stdout


def test_checks_command_lists_every_rule_of_the_benchmark(measured) -> None:
    found = measured("checks", "question.probes")
    assert found.exit_code == 0, found.output
    names = [each.name for each in expectations_of("question.probes", "amemgym")]
    assert all(name in found.stdout for name in names)
    assert "0 failed" in found.stdout


def test_checks_command_names_partition_and_rows_of_a_failed_rule(damaged) -> None:
    found = damaged("checks", "question/probes", "--format", "json")
    assert found.exit_code == 1
    failed = {each["name"]: each for each in json.loads(found.stdout)["rules"] if each["failed_in"]}
    rule = failed["valid_probe_kind"]
    assert (rule["unexpected"], rule["failed_in"]) == (1, ["amemgym_demo~1"])
    assert "probe_id=" in rule["offending"][0]
    assert "valid_probe_kind: 1 of " in damaged("checks").stdout


def test_checks_command_reports_a_missing_table_and_checks_the_other_tables(damaged) -> None:
    for path in Path(Lake(damaged.folder / "lake").folder("answer.replies")).glob("*full.parquet"):
        path.unlink()
    found = damaged("checks", "--assistant", "full")
    assert found.exit_code == 1
    assert (
        "not checked: score.verdicts of amemgym_demo~1/full: answer.replies of amemgym_demo~1/full"
        in found.stdout
    )
    assert "memory.indexes" in found.stdout


def test_docs_option_validates_what_leaves_with_great_expectations(measured, tmp_path: Path) -> None:
    found = measured("checks", "score.leaderboard", "--docs", str(tmp_path / "docs"), "--format", "json")
    assert found.exit_code == 0, found.output
    answer = json.loads(found.stdout)
    assert answer["data_docs"] == [str(tmp_path / "docs" / "score.leaderboard.all.html")]
    assert "expect_table_row_count_to_be_between" in {each["name"] for each in answer["rules"]}
    assert Path(answer["data_docs"][0]).is_file()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("question.prbes",), "there is no table 'question.prbes'. Did you mean question.probes or"),
        (("--domain", "amemgym_base"), "the lake has no domain 'amemgym_base'. Did you mean amemgym_demo"),
        (("--assistant", "awe"), "the lake has no assistant 'awe'. Did you mean awi?"),
        (
            ("question.probes", "--docs", "docs"),
            "--docs writes pages on raw.records and score.leaderboard only",
        ),
    ],
)
def test_checks_command_rejects_invalid_arguments(measured, arguments, reason: str) -> None:
    assert reason in measured.error("checks", *arguments)

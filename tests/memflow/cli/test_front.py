"""Help texts, exit codes and error messages common to all commands."""

import re

import pytest

from memflow.cli import COMMANDS
from memflow.operations.front import _name_unused_settings

SUBCOMMANDS = (
    *(("show", name) for name in ("leaderboard", "probe", "memory")),
    *(("export", name) for name in ("transcript", "liked")),
    *(("import", "results"), ("memories", "check"), ("ledger", "forget"), ("annotate", "sample")),
)


@pytest.mark.parametrize(
    "command",
    [(), *((name,) for name in COMMANDS), *SUBCOMMANDS],
)
def test_every_command_prints_help_with_usage(empty, command) -> None:
    result = empty(*command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.stdout and len(result.stdout) > 200
    assert not re.search("<(bool|int|float)", result.stdout)


def test_main_help_lists_every_command(empty) -> None:
    shown = empty("--help").stdout
    assert not [name for name in COMMANDS if f" {name} " not in shown]


def test_unknown_domain_prints_one_line_on_standard_error(empty) -> None:
    result = empty("plan", "--domain", "nowhere")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("memflow: there is no domain 'nowhere'")
    assert len(result.stderr.splitlines()) == 1


def test_unknown_option_exits_with_status_2(empty) -> None:
    assert empty("plan", "--bad").exit_code == 2


def test_missing_settings_file_is_named_in_the_error(empty) -> None:
    assert "the settings file elsewhere.toml does not exist" in empty.error(
        "--settings", "elsewhere.toml", "domains"
    )


def test_settings_file_of_a_parent_folder_is_named_and_not_used(empty, tmp_path, monkeypatch) -> None:
    (tmp_path / "memflow.toml").write_text("seed = 'invalid'\n", encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    result = empty("show", "times")
    assert f"{tmp_path / 'memflow.toml'} is not used" in result.stderr and "seed" not in result.stderr
    (tmp_path / "notebooks/memflow.toml").write_text("", encoding="utf-8")
    _name_unused_settings.cache_clear()
    assert "is not used" not in empty("show", "times").stderr


@pytest.mark.parametrize(
    ("command", "next_step"),
    [
        ("show leaderboard", "memflow run --demo"),
        ("show probe x", "memflow run --demo"),
        ("show memory amemgym_demo awi", "memflow run --demo"),
        ("show made", "memflow run --demo"),
        ("checks", "memflow run --demo"),
        ("show checkpoints", "memflow run --domain comem_demo"),
        ("show times", "memflow run"),
    ],
)
def test_command_on_an_empty_home_names_the_next_step(empty, command: str, next_step: str) -> None:
    assert next_step in empty.error(*command.split())


def test_debug_option_raises_the_original_exception(empty) -> None:
    result = empty("--debug", "plan", "--domain", "nowhere")
    assert result.exit_code == 1
    assert type(result.exception).__name__ == "BadSettings"

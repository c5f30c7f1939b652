"""`memflow prompts`: list, export and check, and runs with replaced prompts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memflow.chat.replacements import replace_prompts


@pytest.fixture(autouse=True)
def _packaged_prompts() -> Iterator[None]:
    """End replacements after each test."""
    yield
    replace_prompts({})


def test_prompts_list_filters_by_name_benchmark_and_role(empty) -> None:
    every = empty.json("prompts", "list")
    assert len(every) == len({row["name"] for row in every}) > 150
    [row] = empty.json("prompts", "list", "amemgym/choice")
    assert (row["roles"], row["fields"], row["output"]) == (
        ["assistant"],
        ["question", "options"],
        "ChoiceAnswer",
    )
    judged = empty.json("prompts", "list", "--of", "memorybench", "--role", "judge")
    assert {row["owner"] for row in judged} == {"memorybench"} and all(
        "judge" in row["roles"] for row in judged
    )
    assert "Did you mean amemgym/choice" in empty.error("prompts", "list", "amemgym/chioce")
    assert "there is no role 'jugde'. Did you mean judge?" in empty.error(
        "prompts", "list", "--role", "jugde"
    )


def test_exported_prompts_are_valid_and_listed_as_replaced_only_after_an_edit(empty, tmp_path: Path) -> None:
    assert len(empty.json("prompts", "export", "mine", "--of", "awi")["files"]) == 2
    assert "already exists. Overwrite it with --force" in empty.error(
        "prompts", "export", "mine", "--of", "awi"
    )
    edited = tmp_path / "mine/awi/update.md"
    edited.write_text(edited.read_text().replace("# user\n", "# user\nChanged.\n"))
    assert empty.json("prompts", "check", "mine") == {"usable": ["awi/evolve", "awi/update"], "problems": []}
    (tmp_path / "memflow.toml").write_text('prompts = "mine"\n')
    files = {row["name"]: row["replaced_by"] for row in empty.json("prompts", "list", "--of", "awi")}
    assert files == {"awi/evolve": None, "awi/update": "mine/awi/update.md"}
    doctor = empty("doctor", "--format", "json").stdout
    assert '"1 replaced"' in doctor


def test_prompts_check_lists_every_problem_and_run_stops_before_any_step(empty, tmp_path: Path) -> None:
    empty("prompts", "export", "mine", "amemgym/choice", "awi/update")
    (tmp_path / "mine/awi/update.md").write_text("---\nname: awi/update\nfields: []\n---\n# user\nHello\n")
    (tmp_path / "mine/choice.md").write_text("")
    checked = empty("prompts", "check", "mine")
    assert checked.exit_code == 1 and "Usable files: 1. Problems: 3." in checked.stdout
    (tmp_path / "memflow.toml").write_text('prompts = "mine"\n')
    assert empty("prompts", "check").exit_code == 1
    said = empty.error("run", "--demo")
    assert (
        "mine/awi/update.md cannot be used: its output is None. Set `output` to Facts. There are 2 more"
        in said
    )
    assert not (tmp_path / "home").exists()
    (tmp_path / "memflow.toml").write_text("")
    assert "memflow.toml has no `prompts`" in empty.error("prompts", "check")

"""`memflow prompts`: list and export, and runs with replaced prompts."""

import json
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
    (tmp_path / "memflow.toml").write_text('prompts = "mine"\n')
    files = {row["name"]: row["replaced_by"] for row in empty.json("prompts", "list", "--of", "awi")}
    assert files == {"awi/evolve": None, "awi/update": "mine/awi/update.md"}
    doctor = empty("doctor", "--format", "json").stdout
    assert '"1 replaced"' in doctor


def test_doctor_lists_every_problem_of_prompts_and_run_stops_before_any_step(empty, tmp_path: Path) -> None:
    empty("prompts", "export", "mine", "amemgym/choice", "awi/update")
    (tmp_path / "mine/awi/update.md").write_text("---\nname: awi/update\nfields: []\n---\n# user\nHello\n")
    (tmp_path / "mine/choice.md").write_text("")
    (tmp_path / "memflow.toml").write_text('prompts = "mine"\n')
    result = empty("doctor", "--format", "json")
    faults = [row for row in json.loads(result.stdout) if row["what"].startswith("prompt ")]
    assert result.exit_code == 1 and len(faults) == 3 and all(row["fix"] for row in faults)
    reason = empty.error("run", "--demo")
    assert (
        "mine/awi/update.md cannot be used: its output is None. Set `output` to Facts. There are 2 more"
        in reason
    )
    assert not (tmp_path / "home").exists()

"""`memflow prompts`: list, export, check and import, and runs with replaced prompts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memflow.chat.replacements import replace_prompts

PAPER = '''
ASK = """\\
{query}

Which one? {choices} It costs $5.
Answer as JSON: {{"answer": int}}
"""
'''


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


def test_prompts_import_replaces_the_prompt_by_a_constant_of_a_python_file(empty, tmp_path: Path) -> None:
    (tmp_path / "paper.py").write_text(PAPER)
    order = ["prompts", "import", "amemgym/choice", "paper.py", "--user", "ASK", "--field", "query=question"]
    assert "Add --to FOLDER" in empty.error(*order)
    assert "placeholders choices are no fields of amemgym/choice" in empty.error(*order, "--to", "mine")
    written = empty(*order, "--field", "choices=options", "--to", "mine")
    assert written.exit_code == 0 and "parsed as ChoiceAnswer" in written.stdout
    text = (tmp_path / "mine/amemgym/choice.md").read_text()
    assert text.endswith('Which one? ${options} It costs $$5.\nAnswer as JSON: {"answer": int}\n')
    assert empty.json("prompts", "check", "mine")["usable"] == ["amemgym/choice"]
    assert "already exists" in empty.error(*order, "--field", "choices=options", "--to", "mine")
    again = empty(*order, "--field", "choices=options", "--to", "mine", "--force", "--format", "json")
    assert '"unused": []' in again.stdout


def test_prompts_import_rejects_unreadable_files_and_malformed_mappings(empty, tmp_path: Path) -> None:
    order = ("prompts", "import", "amemgym/choice")
    assert "none.py cannot be read" in empty.error(*order, "none.py", "--user", "ASK", "--to", "mine")
    (tmp_path / "paper.json").write_text('{"ask": "Which of {options}?"}')
    said = empty.error(*order, "paper.json", "--user", "ask", "--to", "mine", "--field", "query")
    assert "--field query is not of the form NAME=FIELD" in said
    data = empty.json(*order, "paper.json", "--user", "ask", "--to", "mine")
    assert data["unused"] == ["question"]

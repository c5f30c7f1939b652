"""`memflow memories`: shipped systems, user memories, and the template in docs/how-to/memory.md."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memflow
from memflow.memories.systems import SYSTEMS

ROOT = Path(memflow.__file__).parents[1]
COMPARISON = (ROOT / "docs" / "explanation" / "memories.md").read_text(encoding="utf-8")
DOCUMENT = (ROOT / "docs" / "how-to" / "memory.md").read_text(encoding="utf-8")


@pytest.fixture
def template(tmp_path: Path) -> Iterator[Path]:
    """Return the template of docs/how-to/memory.md, written as my_memory.py to the current folder."""
    [code] = re.findall(r"```python title=\"my_memory\.py\"\n(.*?)```", DOCUMENT, re.DOTALL)
    file = tmp_path / "my_memory.py"
    file.write_text(code, encoding="utf-8")
    yield file
    sys.modules.pop("my_memory", None)


def listed(empty, *names: str) -> dict[str, dict]:
    return {row["memory"]: row for row in empty.json("memories", *names)}


def test_memories_command_lists_every_system_with_parameters_and_calls(empty, monkeypatch) -> None:
    rows = listed(empty)
    assert list(rows) == list(SYSTEMS)
    monkeypatch.setenv("COLUMNS", "80")
    shown = empty("memories").stdout.splitlines()
    assert max(map(len, shown)) <= 80
    assert all(any(line.startswith(system.pattern) for line in shown) for system in SYSTEMS.values())
    rag = rows["rag"]
    assert rag["pattern"] == "rag[_FREQ_NS_K]" and rag["paper"] == "AMemGym, RAG"
    assert rag["parameters"][0] == {
        "name": "freq",
        "value": 2,
        "default": 2,
        "description": "How many messages leave the buffer at a time.",
        "low": 1,
        "high": None,
        "choices": [],
        "in_name": True,
    }
    assert (rag["write"], rag["read"]) == ({"chat": 0, "embed": 1, "per": "arrival"}, {"chat": 0, "embed": 1})
    assert rag["needs_embedder"] and not rag["needs_chat"]
    assert rows["awi"]["needs_chat"] and rows["awi"]["prompts"] == ["awi/update"]
    assert rows["awi"]["asks"] == "1 chat per round of two messages to write"


def test_memories_command_shows_all_properties_of_a_named_memory(empty) -> None:
    shown = empty("memories", "rag_8_4_10").stdout
    assert re.search(r"freq +8 +2 +1 or more +How many messages leave", shown)
    assert "asks: at most 1 embed per arrival to write; 1 embed to read" in shown
    assert "needs: an embedder" in shown and "become entries with vectors" in shown
    assert listed(empty, "rag_8_4_10", "none").keys() == {"rag_8_4_10", "none"}
    assert "there is no memory 'rga'" in empty("memories", "rga").stderr


def test_memories_command_lists_user_memories_and_why_a_memory_is_unusable(empty, template: Path) -> None:
    Path("memflow.toml").write_text(
        '[memories.mine]\npath = "my_memory:MyMemory"\nparameters = { k = 2 }\n'
        '[memories.pets]\nsystem = "awi"\nparameters = { kinds = ["pets"] }\n'
        '[memories.broken]\npath = "no_such_module:Mine"\n',
        encoding="utf-8",
    )
    rows = listed(empty)
    assert rows["mine"]["origin"] == "memflow.toml" and rows["mine"]["class"] == "my_memory:MyMemory"
    assert rows["mine"]["parameters"][0]["value"] == 2 and rows["mine"]["parameters"][0]["default"] == 10
    values = {each["name"]: each["value"] for each in rows["pets"]["parameters"]}
    assert values["kinds"] == ["pets"]
    assert "no_such_module" in rows["broken"]["unusable"] and rows["rag"]["unusable"] is None
    shown = empty("memories").stdout
    assert "unusable: the memory broken:" in " ".join(shown.split()) and "no_such_module:Mine" in shown
    assert empty("memories", "broken").exit_code == 1


def test_every_memory_system_is_named_in_the_comparison_page() -> None:
    assert [name for name in SYSTEMS if f"`{name}`" not in COMPARISON] == []


def test_memory_template_has_fewer_than_40_lines_and_runs_by_import_path(empty, template: Path) -> None:
    assert len(template.read_text(encoding="utf-8").splitlines()) < 40
    what = [
        "--demo",
        "--domain",
        "amemgym_demo",
        "--memory",
        "my_memory:MyMemory",
        "--no-baselines",
        "--limit",
        "1",
    ]
    planned = empty.json("plan", *what)
    assert [row["assistant"] for row in planned["assistants"]] == ["my_memory"]
    ran = empty.json("run", *what)
    accuracy = next(
        row for row in ran["leaderboard"] if row["metric"] == "accuracy" and row["slice"] == "all"
    )
    assert accuracy["assistant"] == "my_memory" and accuracy["value"] > 0.5


def test_memories_command_finds_a_module_in_the_current_folder(template: Path) -> None:
    """Neither `python -P` nor the console script adds the current folder to sys.path."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "memflow.cli", "memories", "my_memory:MyMemory"],
        capture_output=True,
        text=True,
        cwd=template.parent,
        env=environment,
        check=False,
    )
    assert done.returncode == 0 and "command line: my_memory:MyMemory" in done.stdout, done.stderr

"""Partitions that command-line runs added, as environment variables for the processes of other hosts."""

from pathlib import Path

import pytest

from resources.runs.added_partitions import add_partitions, partition_variables
from resources.settings.own_sections import OwnMemory
from resources.settings.settings import load

SETTINGS = """
home = "home"
domains = ["amemgym_demo"]
assistants = ["none"]

[memories.own]
path = "my_package.own:Own"
"""


def test_partition_variables_give_another_host_the_added_partitions_and_memories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memflow.toml"
    file.write_text(SETTINGS, encoding="utf-8")
    settings = load(file)
    added = {**settings.memories, "other": OwnMemory(path="my_package.other:Other")}
    of_run = settings.model_copy(update={"memories": added})
    add_partitions(settings, of_run, ["amemgym_demo~3"], ["other"])

    for name, value in partition_variables(settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MEMFLOW_HOME", str(tmp_path / "another host"))
    there = load(file)
    assert there.domains == ("amemgym_demo", "amemgym_demo~3")
    assert there.assistants == ("none", "other")
    assert {name: each.path for name, each in there.memories.items()} == {
        "own": "my_package.own:Own",
        "other": "my_package.other:Other",
    }


def test_partition_variables_contain_no_address_of_a_server_or_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFLOW_LEDGER", "postgresql+psycopg2://memflow:secret@host/memflow")
    monkeypatch.chdir(tmp_path)
    assert partition_variables(load()).keys() == {"MEMFLOW_DOMAINS", "MEMFLOW_ASSISTANTS"}

"""`memflow init --dagster`: a Dagster project with the assets of memflow and one of the user's."""

import importlib
import sys
import tomllib
from pathlib import Path

import dagster as dg
import pytest

from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.runs.code_location import MODULE, definitions_module


def test_project_merges_the_definitions_and_its_asset_reads_the_leaderboard(
    empty, measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    answer = empty.json("init", "--dagster", str(folder))
    assert sorted(answer["files"]) == sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    )
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["dg"]["project"]
    assert (definitions_module(folder), definitions_module(tmp_path)) == (
        project["code_location_target_module"],
        MODULE,
    )
    monkeypatch.syspath_prepend(folder)
    home = tmp_path / "home"
    Warehouse(measured.lake, home / "memflow.duckdb").publish()
    monkeypatch.setenv("MEMFLOW_HOME", str(home))
    monkeypatch.delitem(sys.modules, project["root_module"], raising=False)
    module = importlib.import_module(project["code_location_target_module"])
    keys = {key.to_user_string() for key in module.defs().resolve_all_asset_keys()}
    assert {"score/leaderboard", "best_memories"} <= keys
    metadata = dg.materialize([module.best_memories]).asset_materializations_for_node("best_memories")
    assert "amemgym_demo" in str(metadata[0].metadata["best"].value)


def test_project_is_not_written_over_files_of_the_folder(empty, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine", encoding="utf-8")
    assert "already has README.md" in empty.error("init", "--dagster", str(tmp_path))
    assert [path.name for path in tmp_path.glob("*.*")] == ["README.md"]
    assert "--dagster and --data" in empty.error("init", "--dagster", "--data", "a.jsonl")

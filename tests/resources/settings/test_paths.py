"""Relative paths in memflow.toml begin at the folder of the file."""

from pathlib import Path

import pytest

from memflow.resources.data.library import Library
from memflow.resources.settings.settings import Settings, load


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MEMFLOW_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    (tmp_path / "settings").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "settings/memflow.toml"


def loaded(file: Path, text: str) -> Settings:
    file.write_text(text, encoding="utf-8")
    return load(file)


def test_paths_begin_at_the_folder_of_the_settings(file: Path) -> None:
    found = loaded(
        file,
        'home = "runs"\ndata = "../data"\nwordnet = "/usr/share/wordnet"\ncmudict = "~/cmudict.dict"\n'
        'prompts = "prompts"\n[encoder.en]\nfolder = "weights"\n',
    )
    folder = file.parent
    assert found.home == folder / "runs" and found.data == folder / "../data"
    assert (found.wordnet, found.cmudict) == (Path("/usr/share/wordnet"), Path("~/cmudict.dict"))
    assert found.prompts == folder / "prompts" and found.encoder["en"].folder == folder / "weights"


def test_environment_overrides_a_path_and_is_relative_to_the_current_folder(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFLOW_HOME", "runs")
    assert loaded(file, 'home = "other"\n').home == Path.cwd() / "runs"


OWN = '[own_datasets.mine]\nbenchmark = "dialogues"\nfiles = ["a.jsonl", "more/*.csv", "/c.jsonl"]\n'


def test_files_of_a_data_set_are_beside_the_settings_or_in_the_data_folder(file: Path) -> None:
    folder = file.parent
    assert loaded(file, OWN).own_datasets["mine"].files == (
        str(folder / "a.jsonl"),
        str(folder / "more/*.csv"),
        "/c.jsonl",
    )
    assert loaded(file, f'data = "/data"\n{OWN}').own_datasets["mine"].files == (
        "a.jsonl",
        "more/*.csv",
        "/c.jsonl",
    )
    (folder / "a.jsonl").touch()
    found = loaded(file, f'data = "/data"\n{OWN}sums = {{ "a.jsonl" = "00" }}\n').own_datasets["mine"]
    assert found.files[:2] == (str(folder / "a.jsonl"), "more/*.csv")
    assert found.sums == {str(folder / "a.jsonl"): "00"}


def test_lake_in_a_folder_begins_at_the_folder_of_the_settings(file: Path) -> None:
    assert loaded(file, 'lake = "lake"\n').lake == str(file.parent / "lake")


def test_pattern_beside_settings_in_a_folder_with_brackets_finds_its_files(file: Path) -> None:
    folder = file.parent.rename(file.parent.with_name("settings [1]"))
    (folder / "more").mkdir()
    (folder / "more/a.csv").touch()
    settings = loaded(
        folder / "memflow.toml", OWN.replace('"a.jsonl", "more/*.csv", "/c.jsonl"', '"more/*.csv"')
    )
    assert Library(None, settings.datasets).found("mine")

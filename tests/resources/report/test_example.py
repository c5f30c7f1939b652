"""The example that ships: a report of the demo in the form of this version, with the values of a run of the demo."""

import importlib.resources
from pathlib import Path

import pytest
from report_home import ReportHome, read_data

from memflow.benchmarks.registry import specs
from memflow.errors import BadInput
from memflow.records import Score, columns
from memflow.resources.report.example import ARCHIVE, pack_example, write_example
from memflow.resources.report.folder import FORMAT


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    write_example(folder)
    return folder


def test_example_has_the_format_and_the_columns_of_this_version(example: Path) -> None:
    assert read_data(example, "site")["format"] == FORMAT
    assert read_data(example, "scores")["columns"] == [each.name for each in columns("score.leaderboard")], (
        f"{Score.__name__} has other columns: run `make example`"
    )


def test_example_shows_the_demo_domains_and_is_labeled_as_scripted(example: Path) -> None:
    site = read_data(example, "site")
    demos = {spec.demo for spec in specs() if spec.demo}
    assert {each["name"] for each in site["domains"]} <= {*demos, "dialogues_retrieval"}
    assert site["scripted"] and site["label"] == "scripted, not a language model" and site["warnings"] == []
    for name in site["files"]:
        read_data(example, name)


def test_example_archive_has_at_most_one_megabyte() -> None:
    archive = importlib.resources.files("memflow.resources.report") / ARCHIVE
    assert len(archive.read_bytes()) <= 1_000_000


def test_archive_of_a_report_is_reproducible(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    pack_example(tmp_path / "report", tmp_path / "one.zip")
    pack_example(tmp_path / "report", tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_example_replaces_an_earlier_report_and_no_other_folder(
    home: ReportHome, tmp_path: Path, example: Path
) -> None:
    home.export(tmp_path / "report")
    write_example(tmp_path / "report")
    assert read_data(tmp_path / "report", "site") == read_data(example, "site")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="is no report"):
        write_example(tmp_path / "mine")

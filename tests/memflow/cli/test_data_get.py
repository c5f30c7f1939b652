"""The commands `memflow data get` and `memflow data`, with a local origin in place of the published ones."""

import fnmatch
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from download_origin import OriginServer, serving

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.origins import Download, RemoteFile
from memflow.resources.settings.settings import load

CONTENT = b'{"instruction": "i", "input": "q", "answer": "a"}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMFLOW_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Iterator[OriginServer]:
    """Return a local origin of the data set lexeval_judge."""
    known = dict(registry.datasets())
    with serving() as state:
        url = state.add("5_2.json", CONTENT)
        download = Download("https://page", (RemoteFile(url, "lexeval/5_2.json"),), terms="Read the terms.")
        known["lexeval_judge"] = replace(known["lexeval_judge"], download=download)
        monkeypatch.setattr(registry, "datasets", lambda: known)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield state


def test_license_is_shown_and_nothing_is_downloaded_without_consent(empty, origin, folder) -> None:
    result = empty("data", "get", "lexeval_judge", input="n\n")
    assert result.exit_code == 1 and "Nothing was downloaded" in result.stderr
    for shown in (
        "license: MIT",
        "https://page",
        "Read the terms.",
        "no known checksum",
        str(folder),
    ):
        assert shown in result.stderr
    assert "--yes" in empty.error("data", "get", "lexeval_judge")  # nobody answers
    assert "--yes" in empty.error("data", "get", "lexeval_judge", "--format", "json")
    assert not origin.downloads() and not folder.exists()


def test_accepted_data_set_is_downloaded_and_then_present(empty, origin, folder) -> None:
    assert "not published" in empty("data", "get", "lexeval_judge", input="y\n").stdout
    assert (folder / "lexeval/5_2.json").read_bytes() == CONTENT
    again = empty("data", "get", "lexeval_judge", "--yes", "--format", "json")
    answered = json.loads(again.stdout)
    assert (answered["files"], answered["present"]) == ([], ["lexeval/5_2.json"])
    assert answered["datasets"] == {"lexeval_judge": "found"}
    [row] = [row for row in empty.json("data")["datasets"] if row["dataset"] == "lexeval_judge"]
    assert (row["state"], row["bytes"]) == ("present", len(CONTENT))
    assert row["folder"] == str(folder / "lexeval")


def test_domain_option_downloads_its_missing_data_sets(empty, origin, folder) -> None:
    Path("memflow.toml").write_text(
        '[own_domains.mine]\nbenchmark = "memorybench"\ndatasets = ["lexeval_judge", "memorybench_sample"]\n'
    )
    complete = ("--domain", "memorybench_demo")  # before an incomplete domain, it must not end the command
    assert empty("data", "get", *complete, "--domain", "mine", "--yes").exit_code == 0
    assert (folder / "lexeval/5_2.json").read_bytes() == CONTENT
    assert empty.json("data", "get", "--domain", "mine", "--yes")["files"] == []
    assert "All data sets of mine are there" in empty("data", "get", "--domain", "mine", "--yes").stderr


def test_data_set_without_an_origin_names_the_way_by_hand(empty, folder) -> None:
    assert "cannot download it. Unpack the archive" in empty.error(
        "data", "get", "membench_participation", "--yes"
    )
    assert "ships with memflow" in empty.error("data", "get", "comem_sample", "--yes")
    assert "there is no data set 'locmo'" in empty.error("data", "get", "locmo", "--yes")
    assert "name a data set" in empty.error("data", "get")


def test_data_command_shows_license_size_and_command_of_missing_data_sets(empty, folder) -> None:
    rows = {row["dataset"]: row for row in empty.json("data")["datasets"]}
    assert set(rows) == set(registry.datasets())
    assert (rows["personas_sample"]["state"], rows["personas_sample"]["ships"]) == ("present", True)
    assert rows["membench_participation"]["how"] in " ".join(empty("data").stdout.split())
    locomo = rows["locomo"]
    assert (locomo["state"], locomo["published_bytes"]) == ("missing", 2_805_274)
    assert locomo["command"] == "memflow data get locomo" and locomo["licence"] == "CC BY-NC 4.0"
    text = " ".join(empty("data").stdout.split())
    assert "locomo missing 2.8 MB CC BY-NC 4.0" in text and "membench_participation by hand" in text
    assert "memflow data get NAME" in text


def test_data_folder_is_by_default_that_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEMFLOW_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert load().data == tmp_path / "memflow"
    monkeypatch.setenv("MEMFLOW_DATA", str(tmp_path / "set"))
    assert load().data == tmp_path / "set"
    monkeypatch.delenv("MEMFLOW_DATA")
    Path("memflow.toml").write_text('data = "mine"\n')
    assert load().data == Path("mine")


DOWNLOADABLE = [each for each in registry.datasets().values() if each.download]


@pytest.mark.parametrize("dataset", DOWNLOADABLE, ids=lambda each: each.name)
def test_declared_origins_serve_every_required_file(dataset: Dataset) -> None:
    """Each required file or pattern, or one of its alternatives, is the target of an origin."""
    targets = []
    for origin in dataset.download.origins:
        if isinstance(origin, RemoteFile):
            targets.append(origin.path)
            assert origin.url.startswith("https://") and len(origin.sha256) in (0, 64)
        elif hasattr(origin, "members"):
            targets += origin.members.values()
        else:
            targets += [f"{origin.folder}/{each}" for each in origin.patterns]
    for file in dataset.files:
        wanted = [file, *dataset.instead.get(file, ())]
        served = any(
            fnmatch.fnmatchcase(target, each) or each.startswith(target.rstrip("*"))
            for target in targets
            for each in wanted
        )
        assert served, f"{file} is not among {targets}"


def test_name_of_a_benchmark_stands_for_its_usual_data_set(empty, folder, monkeypatch) -> None:
    known = dict(registry.datasets())
    with serving() as state:
        url = state.add("s.json", CONTENT)
        download = Download("https://page", (RemoteFile(url, "longmemeval/longmemeval_s_cleaned.json"),))
        known["longmemeval_s"] = replace(known["longmemeval_s"], download=download, sums={})
        monkeypatch.setattr(registry, "datasets", lambda: known)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        shown = empty("data", "get", "longmemeval", input="y\n")
    assert shown.exit_code == 0 and "license: MIT" in shown.stderr
    assert (folder / "longmemeval/longmemeval_s_cleaned.json").read_bytes() == CONTENT

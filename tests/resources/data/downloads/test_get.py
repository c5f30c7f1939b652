"""Downloads of data sets: planning, disk space, checksums and placement."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.datasets import Dataset, how_to_get
from memflow.benchmarks.origins import Download, HuggingFaceFiles, Origin, RemoteArchive, RemoteFile
from memflow.errors import DownloadFailed
from memflow.resources.data.downloads.get import WORK, Downloaded, download, plan_download

CONTENT = b"published content" * 100
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def dataset(*origins: Origin, **more: Any) -> Dataset:
    files = tuple(each.path for each in origins if isinstance(each, RemoteFile))
    return Dataset(
        "set",
        "A set",
        "memorybench",
        files,
        "MIT",
        "here",
        "Ask its author.",
        download=Download("https://page", origins),
        **more,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def get(folder: Path) -> Callable[..., list[Downloaded]]:
    """Return a function that plans and downloads data sets."""

    def call(*datasets: Dataset, force: bool = False) -> list[Downloaded]:
        items, _ = plan_download(folder, datasets, force=force)
        return list(download(folder, items))

    return call


def test_downloaded_file_is_in_place(origin, get, folder):
    url = origin.add("a", CONTENT)
    [done] = get(dataset(RemoteFile(url, "set/a.json", SHA256)))
    assert (folder / "set/a.json").read_bytes() == CONTENT
    assert (done.size, done.files) == (len(CONTENT), {"set/a.json": SHA256})
    assert {path.name for path in (folder / WORK).iterdir()} == {"lock"}


def test_file_with_a_wrong_checksum_is_removed_and_replaces_nothing(origin, get, folder):
    url = origin.add("a", b"other")
    (folder / "set").mkdir(parents=True)
    (folder / "set/a.json").write_bytes(b"mine")
    wanted = dataset(RemoteFile(url, "set/a.json", SHA256))
    with pytest.raises(DownloadFailed, match=SHA256):
        get(wanted, force=True)
    with pytest.raises(DownloadFailed, match="does not match the known hash"):
        get(dataset(RemoteFile(url, "set/a.json"), sums={"set/a.json": SHA256}), force=True)
    assert (folder / "set/a.json").read_bytes() == b"mine"
    origin.add("a", CONTENT)
    get(wanted, force=True)
    assert (folder / "set/a.json").read_bytes() == CONTENT


def test_present_files_are_not_downloaded_again(origin, get, folder):
    wanted = dataset(RemoteFile(origin.add("a", CONTENT), "set/a.json", SHA256))
    get(wanted)
    assert get(wanted) == [] and len(origin.downloads()) == 1
    assert len(get(wanted, force=True)) == 1 and len(origin.downloads()) == 2
    more = dataset(*wanted.download.origins, RemoteFile(origin.add("b", b"B"), "set/b.json"))
    [done] = get(more, replace(more, name="other"))
    assert list(done.files) == ["set/b.json"]


def archive(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as written:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            written.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def test_archive_is_unpacked_into_place(origin, get, folder):
    content = archive({"set-1/ratings.csv": b"r", "set-1/movies.csv": b"m", "set-1/other": b"o"})
    wanted = dataset(
        RemoteArchive(
            origin.add("a.tar.gz", content),
            {"ratings.csv": "m/ratings.csv", "movies.csv": "m/movies.csv"},
            strip=1,
        )
    )
    [done] = get(wanted)
    assert {path.name for path in (folder / "m").iterdir()} == {"ratings.csv", "movies.csv"}
    assert done.files["m/ratings.csv"] == hashlib.sha256(b"r").hexdigest()
    assert get(wanted) == []
    (folder / "m/ratings.csv").unlink()
    assert len(get(wanted)) == 1


def test_files_of_a_hugging_face_data_set_are_listed_with_their_checksums(origin, get, folder, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", origin.url)
    entries = [
        {"type": "directory", "path": "dataset/A", "size": 0},
        {"type": "file", "path": "dataset/A/test/data 0.arrow", "size": len(CONTENT), "lfs": {"oid": SHA256}},
        {"type": "file", "path": "dataset/B/test/data.arrow", "size": 1},
    ]
    entries += [{"type": "file", "path": f"other/{'x' * 200}{n}", "size": 1} for n in range(20_000)]
    more = [{"type": "file", "path": "corpus/A.jsonl", "size": 1, "oid": "git object"}]
    listing = "api/datasets/THUIR/MemoryBench/tree/main"
    following = {"Link": f'<{origin.url}/page2>; rel="next"'}
    origin.add(listing, json.dumps(entries).encode(), headers=following)
    origin.add("page2", json.dumps(more).encode())
    files = "datasets/THUIR/MemoryBench/resolve/main"
    origin.add(f"{files}/dataset/A/test/data%200.arrow", CONTENT)
    origin.add(f"{files}/corpus/A.jsonl", b"C")
    wanted = dataset(HuggingFaceFiles("THUIR/MemoryBench", "memorybench", ("dataset/A/*", "corpus/A.jsonl")))
    done = get(wanted)
    assert [bool(each.item.origin.sha256) for each in done] == [True, False]
    assert (folder / "memorybench/dataset/A/test/data 0.arrow").read_bytes() == CONTENT
    assert (folder / "memorybench/corpus/A.jsonl").read_bytes() == b"C"


@pytest.mark.parametrize(
    "listing", [b"{}", b"no json", b'[{"type": "file", "path": "dataset/../../x", "size": 1}]']
)
def test_malicious_or_unknown_listing_is_refused(origin, get, folder, monkeypatch, listing):
    monkeypatch.setenv("HF_ENDPOINT", origin.url)
    origin.add("api/datasets/a/b/tree/main", listing)
    with pytest.raises(DownloadFailed, match=r"unknown form|lists no file"):
        get(dataset(HuggingFaceFiles("a/b", "x")))
    assert not folder.exists()


def test_advice_names_the_command_for_data_sets_that_can_be_downloaded():
    one = dataset(RemoteFile("https://origin/a", "a"))
    other = replace(one, name="other", download=None)
    assert one.advice == "Download it with `memflow data get set`."
    assert other.advice == "Ask its author."
    both = how_to_get((one, replace(one, name="third"), other))
    assert both == "Download it with `memflow data get set third`. Ask its author."


@pytest.mark.parametrize("together", [True, False])
def test_two_data_sets_of_one_archive_are_both_downloaded(origin, get, folder, together):
    url = origin.add("both", archive({"one/a.json": b"1", "two/a.json": b"2"}))
    one = dataset(RemoteArchive(url, {"one/": "set/one/"}))
    two = replace(dataset(RemoteArchive(url, {"two/": "set/two/"})), name="other")
    for chosen in [(one, two)] if together else [(one,), (two,)]:
        get(*chosen)
    assert (folder / "set/one/a.json").read_text() == "1" and (folder / "set/two/a.json").read_text() == "2"
    before = len(origin.downloads())
    assert get(one, two) == [] and len(origin.downloads()) == before

"""Downloads of data sets: planning, disk space, checksums, placement and the record."""

import asyncio
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from download_origin import LIMITS

from memflow.benchmarks.datasets import Dataset, how_to_get
from memflow.benchmarks.origins import Download, HuggingFaceFiles, Origin, RemoteArchive, RemoteFile
from memflow.errors import DownloadFailed
from resources.data.downloads.get import (
    Downloaded,
    DownloadPlan,
    check_space,
    download,
    locked,
    partial_path,
    plan_download,
)
from resources.data.downloads.record import FOLDER, read_records, record_path
from resources.data.downloads.transfer import Transfer, new_session

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

    def call(*datasets: Dataset, force: bool = False, accept_changed: bool = False) -> list[Downloaded]:
        async def work() -> list[Downloaded]:
            async with new_session() as session:
                transfer = Transfer(session, LIMITS)
                plan = await plan_download(transfer, folder, datasets, force=force)
                return [
                    await download(plan, transfer, item, accept_changed=accept_changed) for item in plan.items
                ]

        return asyncio.run(work())

    return call


def test_downloaded_file_is_in_place_and_recorded(origin, get, folder):
    url = origin.add("a", CONTENT)
    [done] = get(dataset(RemoteFile(url, "set/a.json", SHA256)))
    assert (folder / "set/a.json").read_bytes() == CONTENT
    assert done.record.published_checksum and done.record.files == {"set/a.json": SHA256}
    record = read_records(folder)[url]
    assert (record.dataset, record.licence, record.size, record.sha256) == (
        "set",
        "MIT",
        len(CONTENT),
        SHA256,
    )
    assert not list((folder / FOLDER / "partial").iterdir())


def test_checksum_of_the_data_set_applies_to_its_file(origin, get, folder):
    url = origin.add("a", b"other")
    with pytest.raises(DownloadFailed, match="instead of the published"):
        get(dataset(RemoteFile(url, "set/a.json"), sums={"set/a.json": SHA256}))


def test_file_with_a_wrong_checksum_is_removed_and_replaces_nothing(origin, get, folder):
    url = origin.add("a", b"other")
    (folder / "set").mkdir(parents=True)
    (folder / "set/a.json").write_bytes(b"mine")
    wanted = dataset(RemoteFile(url, "set/a.json", SHA256))
    with pytest.raises(DownloadFailed, match="is there, but has the SHA-256"):
        get(wanted)
    with pytest.raises(DownloadFailed, match=f"instead of the published {SHA256}. The file was removed"):
        get(wanted, force=True)
    assert (folder / "set/a.json").read_bytes() == b"mine"
    assert not partial_path(folder, url).exists() and not read_records(folder)
    origin.add("a", CONTENT)
    get(wanted, force=True)
    assert (folder / "set/a.json").read_bytes() == CONTENT


def test_resumed_file_with_a_wrong_beginning_is_found_by_its_checksum(origin, get, folder):
    """Without a validator, the beginning of an older version is found only after the download."""
    url = origin.add("a", CONTENT, etag="", cuts=[100, 0, 0])
    wanted = dataset(RemoteFile(url, "set/a.json", SHA256))
    with pytest.raises(DownloadFailed, match="interrupted"):
        get(wanted)
    partial_path(folder, url).write_bytes(b"x" * 100)
    with pytest.raises(DownloadFailed, match="The file was removed"):
        get(wanted)
    get(wanted)
    assert (folder / "set/a.json").read_bytes() == CONTENT


def test_present_files_are_not_downloaded_again(origin, get, folder):
    wanted = dataset(RemoteFile(origin.add("a", CONTENT), "set/a.json", SHA256))
    get(wanted)
    assert get(wanted) == [] and len(origin.downloads()) == 1
    assert len(get(wanted, force=True)) == 1 and len(origin.downloads()) == 2


def test_only_missing_files_of_a_data_set_are_downloaded(origin, get, folder):
    (folder / "set").mkdir(parents=True)
    (folder / "set/a.json").write_bytes(CONTENT)
    wanted = dataset(
        RemoteFile(origin.add("a", CONTENT), "set/a.json", SHA256),
        RemoteFile(origin.add("b", b"B"), "set/b.json"),
    )
    [done] = get(wanted)
    assert done.files == ("set/b.json",)


def test_checksum_of_the_first_download_is_compared_with_the_next(origin, get, folder):
    wanted = dataset(RemoteFile(origin.add("a", b"first"), "set/a.json"))
    [done] = get(wanted)
    assert not done.record.published_checksum
    origin.add("a", b"second")
    with pytest.raises(DownloadFailed, match=r"has changed since its first download on 20.*--accept-changed"):
        get(wanted, force=True)
    assert (folder / "set/a.json").read_bytes() == b"first"
    get(wanted, force=True, accept_changed=True)
    assert (folder / "set/a.json").read_bytes() == b"second"


def test_data_sets_that_share_a_file_download_it_once(origin, get):
    url = origin.add("a", CONTENT)
    shared = RemoteFile(url, "set/a.json")
    assert len(get(dataset(shared), replace(dataset(shared), name="other"))) == 1


def archive(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as written:
        for name, content in files.items():
            written.writestr(name, content)
    return packed.getvalue()


def test_archive_is_unpacked_into_place(origin, get, folder):
    content = archive({"set-1/ratings.csv": b"r", "set-1/movies.csv": b"m", "set-1/other": b"o"})
    wanted = dataset(
        RemoteArchive(
            origin.add("a.zip", content),
            {"ratings.csv": "m/ratings.csv", "movies.csv": "m/movies.csv"},
            strip=1,
        )
    )
    [done] = get(wanted)
    assert {path.name for path in (folder / "m").iterdir()} == {"ratings.csv", "movies.csv"}
    assert done.record.files["m/ratings.csv"] == hashlib.sha256(b"r").hexdigest()
    assert get(wanted) == []
    (folder / "m/ratings.csv").unlink()
    assert len(get(wanted)) == 1


def test_malicious_archive_writes_nothing_and_is_removed(origin, get, folder, tmp_path):
    content = archive({"a.csv": b"good", "../../../evil.csv": b"bad"})
    url = origin.add("a.zip", content)
    with pytest.raises(DownloadFailed, match="leads out of the archive"):
        get(dataset(RemoteArchive(url, {"a.csv": "m/a.csv"})))
    assert not (folder / "m").exists() and not partial_path(folder, url).exists()
    assert [path.name for path in tmp_path.rglob("evil.csv")] == []


def test_folder_that_links_out_of_the_data_folder_is_refused(origin, get, folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder.mkdir()
    (folder / "set").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DownloadFailed, match="outside the data folder"):
        get(dataset(RemoteFile(origin.add("a", CONTENT), "set/a.json")))
    assert not list((tmp_path / "elsewhere").iterdir())


def test_size_is_asked_of_the_server_where_it_is_not_declared(origin, folder):
    wanted = dataset(
        RemoteFile(origin.add("a", CONTENT), "a"), RemoteFile(origin.add("b", b"", announces=False), "b")
    )

    async def work() -> DownloadPlan:
        async with new_session() as session:
            return await plan_download(Transfer(session, LIMITS), folder, [wanted])

    plan = asyncio.run(work())
    assert (plan.size, plan.of_unknown_size) == (len(CONTENT), 1)
    assert not origin.downloads() and not folder.exists()


def test_download_larger_than_the_free_space_is_refused_before_it_begins(origin, folder, monkeypatch):
    wanted = dataset(RemoteArchive(f"{origin.url}/a", {"a": "a"}, size=1_000_000_000))

    async def work() -> DownloadPlan:
        async with new_session() as session:
            return await plan_download(Transfer(session, LIMITS), folder, [wanted])

    plan = asyncio.run(work())
    assert plan.needed == 5_000_000_000
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=5_040_000_000))
    with pytest.raises(DownloadFailed, match=r"needs 5,000,000,000 bytes.*5,040,000,000 free.*MEMFLOW_DATA"):
        check_space(plan)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=5_060_000_000))
    check_space(plan)
    assert not origin.requests


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
    assert [each.record.published_checksum for each in done] == [True, False]
    assert (folder / "memorybench/dataset/A/test/data 0.arrow").read_bytes() == CONTENT
    assert (folder / "memorybench/corpus/A.jsonl").read_bytes() == b"C"


def test_checksum_that_hugging_face_reports_for_a_large_file_is_compared(origin, get):
    headers = {"X-Linked-Size": str(len(CONTENT)), "X-Linked-Etag": f'"{SHA256}"'}
    url = origin.add("a", b"", location=origin.add("b", CONTENT), headers=headers)
    [done] = get(dataset(RemoteFile(url, "set/a.parquet")))
    assert done.record.published_checksum
    origin.add("b", CONTENT[::-1])
    with pytest.raises(DownloadFailed, match="instead of the published"):
        get(dataset(RemoteFile(url, "set/a.parquet")), force=True)


@pytest.mark.parametrize(
    "listing", [b"{}", b"no json", b'[{"type": "file", "path": "dataset/../../x", "size": 1}]', b"[]"]
)
def test_malicious_or_unknown_listing_is_refused(origin, get, folder, monkeypatch, listing):
    monkeypatch.setenv("HF_ENDPOINT", origin.url)
    origin.add("api/datasets/a/b/tree/main", listing)
    with pytest.raises(DownloadFailed, match=r"unknown form|has no file that matches"):
        get(dataset(HuggingFaceFiles("a/b", "x")))
    assert not folder.exists()


def test_token_is_read_from_its_variable_and_is_not_recorded(origin, get, folder, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "very-secret")
    url = origin.add("a", CONTENT)
    wanted = dataset(RemoteFile(url, "set/a.json"))
    wanted = replace(wanted, download=Download("https://page", wanted.download.origins, "MY_TOKEN"))
    get(wanted)
    assert {headers["Authorization"] for _, _, headers in origin.requests} == {"Bearer very-secret"}
    assert all("very-secret" not in path.read_text() for path in folder.rglob("*") if path.is_file())


def test_second_download_into_a_folder_at_the_same_time_is_refused(folder):
    with locked(folder), pytest.raises(DownloadFailed, match="another `memflow data get`"), locked(folder):
        pass
    with locked(folder):
        pass


def test_damaged_record_is_reported(origin, get, folder):
    record_path(folder).parent.mkdir(parents=True)
    record_path(folder).write_text("{")
    with pytest.raises(DownloadFailed, match="cannot read the record of downloads"):
        get(dataset(RemoteFile(origin.add("a", CONTENT), "a")))


def test_advice_names_the_command_for_data_sets_that_can_be_downloaded():
    one = dataset(RemoteFile("https://origin/a", "a"))
    other = replace(one, name="other", download=None)
    assert one.advice == "Download it with `memflow data get set`."
    assert other.advice == "Ask its author."
    both = how_to_get((one, replace(one, name="third"), other))
    assert both == "Download it with `memflow data get set third`. Ask its author."


def test_advice_on_a_file_that_differs_replaces_the_file():
    one = dataset(RemoteFile("https://origin/a", "a"))
    assert one.replacement_advice == "Replace it with `memflow data get set --force`."
    assert replace(one, download=None).replacement_advice == "Ask its author."


def packed_folders() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("one/a.json", "1")
        archive.writestr("two/a.json", "2")
    return written.getvalue()


@pytest.mark.parametrize("together", [True, False])
def test_two_data_sets_of_one_archive_are_both_downloaded(origin, get, folder, together):
    url = origin.add("both.zip", packed_folders())
    one = dataset(RemoteArchive(url, {"one/": "set/one/"}))
    two = replace(dataset(RemoteArchive(url, {"two/": "set/two/"})), name="other")
    for chosen in [(one, two)] if together else [(one,), (two,)]:
        get(*chosen)
    assert (folder / "set/one/a.json").read_text() == "1" and (folder / "set/two/a.json").read_text() == "2"
    assert set(read_records(folder)[url].files) == {"set/one/a.json", "set/two/a.json"}
    before = len(origin.downloads())
    assert get(one, two) == [] and len(origin.downloads()) == before


def test_page_instead_of_a_file_is_refused(origin, get, folder):
    url = origin.add("a.json", b"<html>log in</html>", headers={"Content-Type": "text/html; charset=utf-8"})
    with pytest.raises(DownloadFailed, match="web page"):
        get(dataset(RemoteFile(url, "set/a.json")))
    assert not (folder / "set/a.json").exists()


def test_file_without_content_length_has_its_published_size(origin, get, folder):
    url = origin.add("a.json", CONTENT[:-1], announces=False)
    with pytest.raises(DownloadFailed, match="ended after 1,699 of 1,700 bytes"):
        get(dataset(RemoteFile(url, "set/a.json", size=len(CONTENT))))
    assert not (folder / "set/a.json").exists()

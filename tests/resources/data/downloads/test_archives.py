"""Unpacking of archives: the wanted members only, and no member of a malicious archive."""

import io
import random
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from memflow.benchmarks.origins import RemoteArchive
from memflow.errors import DownloadFailed
from memflow.resources.data.downloads import archives
from memflow.resources.data.downloads.archives import unpack

WANTED = RemoteArchive(
    "https://origin/a", {"data/": "set/", "readme.txt": "set/about.txt"}, strip=1, patterns=("*.json",)
)
FILES = {
    "repo-1/data/a.json": b"A",
    "repo-1/data/deep/b.json": b"B",
    "repo-1/data/c.bin": b"C",
    "repo-1/readme.txt": b"R",
    "repo-1/code.py": b"X",
}


def tar_of(path: Path, files: dict[str, bytes], kinds: dict[str, bytes] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if kinds and name in kinds:
                info.type, info.linkname, info.size = kinds[name], "/etc/passwd", 0
            tar.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture
def pack(tmp_path: Path):
    return lambda files: tar_of(tmp_path / "archive", files)


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "into"


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_wanted_members_are_unpacked_to_their_targets(pack, into):
    found = unpack(pack(FILES), WANTED, into)
    assert written(into) == {"set/a.json": b"A", "set/deep/b.json": b"B", "set/about.txt": b"R"}
    assert sorted(found) == sorted(written(into))


@pytest.mark.parametrize(
    "name", ["../x.json", "repo-1/../../x.json", "/etc/x.json", "repo-1/data/../../../x", "a\\..\\x"]
)
def test_member_with_an_unsafe_path_is_refused(pack, into, name):
    with pytest.raises(DownloadFailed, match="leads out of the archive"):
        unpack(pack({**FILES, name: b"bad"}), WANTED, into)
    assert not (into.parent / "x.json").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_link_or_device_of_a_tar_archive_is_refused(tmp_path, into, kind):
    name = "repo-1/data/link.json"
    archive = tar_of(tmp_path / "a", {**FILES, name: b""}, {name: kind})
    with pytest.raises(DownloadFailed, match="a link, a device"):
        unpack(archive, WANTED, into)


def test_links_among_other_members_are_ignored(tmp_path, into):
    archive = tar_of(tmp_path / "a", {**FILES, "repo-1/code": b""}, {"repo-1/code": tarfile.SYMTYPE})
    assert len(unpack(archive, WANTED, into)) == 3


def test_two_members_of_one_path_are_refused(tmp_path, into):
    path = tmp_path / "a"
    with tarfile.open(path, "w") as tar:
        for content in (b"1", b"2"):
            info = tarfile.TarInfo("repo-1/data/a.json")
            info.size = 1
            tar.addfile(info, io.BytesIO(content))
    with pytest.raises(DownloadFailed, match=r"second member for set/a\.json"):
        unpack(path, WANTED, into)


def test_archive_with_too_many_members_is_refused(pack, into):
    with pytest.raises(DownloadFailed, match="its limit of 3 members"):
        unpack(pack(FILES), replace(WANTED, most_members=3), into)


def test_archive_that_unpacks_to_too_many_bytes_is_refused(pack, into):
    archive = pack({"repo-1/data/a.json": b"0" * 5000, "repo-1/readme.txt": b""})
    assert archive.stat().st_size < 1000
    with pytest.raises(DownloadFailed, match="larger than its limit"):
        unpack(archive, replace(WANTED, most_bytes=4999), into)
    assert len(unpack(archive, replace(WANTED, most_bytes=5000), into.parent / "other")) == 2


def test_archive_bomb_is_stopped_by_its_ratio(pack, into, monkeypatch):
    monkeypatch.setattr(archives, "SMALL", 1000)
    monkeypatch.setattr(archives, "MOST_RATIO", 100)
    with pytest.raises(DownloadFailed, match="larger than its limit"):
        unpack(pack({"repo-1/data/a.json": b"0" * 5_000_000, "repo-1/readme.txt": b""}), WANTED, into)
    assert written(into) == {}


def test_unwanted_members_count_for_the_limits(tmp_path, into):
    files = {**FILES, "repo-1/zeros": bytes(3 * 10**7)}
    with pytest.raises(DownloadFailed, match="larger than its limit"):
        unpack(tar_of(tmp_path / "archive.tar.gz", files), replace(WANTED, most_bytes=10**7), into)


def test_archive_without_a_wanted_member_is_refused(pack, into):
    with pytest.raises(DownloadFailed, match="has no data/"):
        unpack(pack({"repo-1/readme.txt": b"R"}), WANTED, into)


@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda data: b"<html>", lambda data: b""]
)
def test_damaged_archive_is_refused(pack, into, damage):
    archive = pack({**FILES, "repo-1/data/large.json": bytes(range(256)) * 400})
    archive.write_bytes(damage(archive.read_bytes()))
    with pytest.raises(DownloadFailed, match="not a readable archive"):
        unpack(archive, WANTED, into)


@pytest.mark.parametrize("members", [{"a/": "b"}, {"../a": "b"}, {"a": "/b"}, {"a": "b/../c"}])
def test_declaration_with_unsafe_or_mixed_paths_is_rejected(members):
    with pytest.raises(ValueError, match=r"both folders|absolute or contains"):
        RemoteArchive("https://origin/a", members)


def test_damaged_compression_of_a_tar_archive_is_no_fault_of_the_disk(tmp_path, into):
    archive = tmp_path / "a.tar.bz2"
    with tarfile.open(archive, "w:bz2") as tar:
        info = tarfile.TarInfo("repo-1/data/a.json")
        info.size = 2_000_000
        tar.addfile(info, io.BytesIO(random.Random(1).randbytes(info.size)))
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 255
    archive.write_bytes(content)
    with pytest.raises(DownloadFailed, match="not a readable archive"):
        unpack(archive, WANTED, into)

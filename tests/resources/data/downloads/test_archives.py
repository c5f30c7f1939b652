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
    assert found == {"set/": into / "data", "set/about.txt": into / "readme.txt"}
    assert written(into) == {"data/a.json": b"A", "data/deep/b.json": b"B", "readme.txt": b"R"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("repo-1/data/../../../x.json", tarfile.REGTYPE),
        ("repo-1/data/link.json", tarfile.SYMTYPE),
        ("repo-1/data/link.json", tarfile.LNKTYPE),
        ("repo-1/data/pipe.json", tarfile.FIFOTYPE),
    ],
)
def test_unsafe_member_is_refused(tmp_path, into, name, kind):
    archive = tar_of(tmp_path / "a", {**FILES, name: b"bad"}, {name: kind})
    with pytest.raises(DownloadFailed, match="has an unsafe member"):
        unpack(archive, WANTED, into)
    assert not (into.parent / "x.json").exists()


def test_unwanted_members_are_ignored(tmp_path, into):
    files = {**FILES, "repo-1/code": b"", "../x.json": b"bad"}
    archive = tar_of(tmp_path / "a", files, {"repo-1/code": tarfile.SYMTYPE})
    unpack(archive, WANTED, into)
    assert len(written(into)) == 3 and not (into.parent / "x.json").exists()


@pytest.mark.parametrize(
    ("files", "limits"),
    [
        (FILES, {"most_members": 3}),
        ({"repo-1/data/a.json": bytes(5000), "repo-1/readme.txt": b""}, {"most_bytes": 4999}),
        ({**FILES, "repo-1/zeros": bytes(3 * 10**7)}, {"most_bytes": 10**7}),
    ],
)
def test_archive_above_a_limit_is_refused(pack, into, files, limits):
    with pytest.raises(DownloadFailed, match="larger than its limit"):
        unpack(pack(files), replace(WANTED, **limits), into)


def test_archive_bomb_is_stopped_by_its_ratio(pack, into, monkeypatch):
    monkeypatch.setattr(archives, "SMALL", 1000)
    monkeypatch.setattr(archives, "MOST_RATIO", 100)
    with pytest.raises(DownloadFailed, match="larger than its limit"):
        unpack(pack({"repo-1/data/a.json": b"0" * 5_000_000, "repo-1/readme.txt": b""}), WANTED, into)
    assert written(into) == {}


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

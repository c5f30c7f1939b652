"""The library: locating data set files and verifying checksums."""

import hashlib

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput, MissingData
from memflow.resources.data.library import Library

ONE, TWO = b"one\n", b"two\n"


def published(**given):
    given = {"files": ("set/a.json", "set/b.json"), **given}
    return Dataset(
        "set", "A set", "amemgym", given.pop("files"), "MIT", "nowhere", "Ask its author.", **given
    )


def sum_of(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.json").write_bytes(ONE)
    return tmp_path


def test_library_finds_a_complete_data_set_and_names_missing_files(folder):
    library = Library(folder)
    assert (library.missing(published()), library.found(published())) == (["set/b.json"], False)
    assert library.sums(published()) == {"set/a.json": sum_of(ONE)}
    with pytest.raises(MissingData) as wrong:
        library.paths(published())
    assert str(wrong.value) == (
        f"set/b.json of the data set set is missing; searched the data folder {folder}. Ask its author."
    )
    (folder / "set" / "b.json").write_bytes(TWO)
    assert library.paths(published()) == {
        "set/a.json": folder / "set" / "a.json",
        "set/b.json": folder / "set" / "b.json",
    }
    assert library.sums(published()) == {"set/a.json": sum_of(ONE), "set/b.json": sum_of(TWO)}
    assert library.found(published())


def test_missing_data_set_error_names_the_searched_folder(tmp_path):
    assert not Library(tmp_path).found(published())
    assert Library(None).found(published(files=("errors.py",), ships=True))
    with pytest.raises(MissingData, match="searched the package memflow"):
        Library(None).paths(published(files=("gone.json",), ships=True))
    with pytest.raises(MissingData, match=f"searched the data folder {tmp_path}/gone"):
        Library(tmp_path / "gone").paths(published())


@pytest.mark.parametrize("files", [{"files": ("set/a.json",)}, {"files": (), "optional": ("set/a.json",)}])
def test_library_rejects_a_file_with_a_wrong_checksum(folder, files):
    library = Library(folder)
    right = published(**files, sums={"set/a.json": sum_of(ONE).upper()})
    assert library.paths(right)
    dataset = published(**files, sums={"set/a.json": sum_of(TWO)})
    with pytest.raises(
        BadInput, match=f"its SHA-256 is {sum_of(ONE)} instead of {sum_of(TWO)}. Ask its author."
    ):
        library.paths(dataset)
    partial = published(**files, sums={"set/a.json": sum_of(TWO)}, partial=True)
    assert library.paths(partial) == {"set/a.json": folder / "set" / "a.json"}


def test_library_lists_every_data_set_and_rejects_an_unknown_name(tmp_path):
    library = Library(tmp_path)
    assert list(library.known) == list(registry.datasets())
    missing = [name for name, dataset in library.known.items() if not dataset.ships]
    assert not any(library.found(name) for name in missing)
    assert Library(tmp_path).sums("locomo") == {}
    with pytest.raises(BadInput, match="there is no data set 'loco'"):
        Library(tmp_path).paths("loco")


def test_library_finds_a_user_data_set_by_absolute_path(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "near.jsonl").write_bytes(ONE)
    (tmp_path / "far.jsonl").write_bytes(TWO)
    near = published(files=("near.jsonl",), own=True)
    far = published(files=(str(tmp_path / "far.jsonl"),), own=True)
    library = Library(tmp_path / "data", {"near": near, "far": far})
    assert library.sums("near") == {"near.jsonl": sum_of(ONE)}
    assert list(library.sums("far").values()) == [sum_of(TWO)]
    assert Library(None).found(far), "an absolute path needs no data folder"
    assert not Library(None).found(near)
    with pytest.raises(BadInput, match="there is no data set 'locomo'"):
        library.paths("locomo")


def test_library_finds_a_user_data_set_by_file_pattern(tmp_path):
    for user, period in (("b", 1), ("a", 0), ("a", 1)):
        folder = tmp_path / "runs" / user / "interactions"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"period_{period:02d}.json").write_bytes(ONE)
    names = [
        "a/interactions/period_00.json",
        "a/interactions/period_01.json",
        "b/interactions/period_01.json",
    ]
    below = published(files=("runs/*/interactions/period_*.json",), own=True)
    far = published(files=(str(tmp_path / "runs/*/interactions/period_*.json"),), own=True)
    none = published(files=("runs/*/none.json",), own=True)
    library = Library(tmp_path, {"below": below, "far": far, "none": none})
    assert library.dataset("below").files == tuple(f"runs/{name}" for name in names)
    assert list(library.paths("far").values()) == [tmp_path / "runs" / name for name in names]
    assert list(library.paths("below")) == [f"runs/{name}" for name in names]
    assert library.found("below") and not library.found("none")
    assert list(library.paths(published(files=("runs/*/*/*_01.json",)))) == [
        f"runs/{name}" for name in names[1:]
    ]
    with pytest.raises(MissingData, match=r"runs/\*/none.json of the data set .* is missing"):
        library.paths("none")
    assert [library.found(name) for name in library.known] == [True, True, False]
    assert Library(tmp_path).dataset(published(files=("a*.json",))).files == ("a*.json",), (
        "published: as named"
    )


def test_library_status_lists_missing_optional_files(folder):
    library, dataset = (
        Library(folder),
        published(files=("set/a.json",), optional=("set/b.json", "set/c.json")),
    )
    (folder / "set" / "c.json").write_bytes(TWO)
    assert list(library.paths(dataset)) == ["set/a.json", "set/c.json"]
    assert library.dataset(dataset).optional == ("set/b.json",)
    assert library.dataset(library.dataset(dataset)) == library.dataset(dataset)
    (folder / "set" / "a.json").unlink()
    assert library.missing(dataset) == ["set/a.json"]


def test_library_uses_the_first_existing_alternative_of_a_file(folder):
    library = Library(folder)
    dataset = published(files=("set/whole.json",), instead={"set/whole.json": ("set/b.json", "set/a.json")})
    assert list(library.sums(dataset)) == ["set/a.json"]
    (folder / "set" / "b.json").write_bytes(TWO)
    assert list(library.sums(dataset)) == ["set/b.json"]
    (folder / "set" / "whole.json").write_bytes(TWO)
    assert list(library.sums(dataset)) == ["set/whole.json"]
    assert library.missing(published(files=("gone",), instead={"gone": ("too",)})) == ["gone"]


def test_library_lists_found_and_incomplete_data_sets_of_a_domain(folder):
    known = {
        "part": published(files=("set/a.json",), optional=("set/b.json",)),
        "none": published(files=("set/b.json",)),
    }
    domain = Domain("d", "amemgym", ("part", "none"), "A domain")
    found, lacking = Library(folder, known).datasets_of(domain)
    assert [each.files for each in found] == [("set/a.json",)]
    assert [each.how for each in lacking] == [
        "Ask its author.",
        "Ask its author. Until then it is read without set/b.json.",
    ]

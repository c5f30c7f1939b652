"""User-defined memories: names, entry points, rejected classes, and code in the fingerprint."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memflow.entry_points import installed
from memflow.errors import BadSettings
from memflow.memories.rag import Rag
from memflow.memories.registry import MemoryConfig, find, fingerprint, handlers, resolve_user_memories
from memflow.memories.user_memories import (
    UserMemory,
    installed_memories,
    memory_name,
    source_files,
)

WHOLE = """
from dataclasses import dataclass
from memflow.memories.memory import Memory, Recall, parameter

@dataclass
class Shelf(Memory):
    \"\"\"A shelf.\"\"\"

    k: int = parameter(3, "Boards.", low=1)

    async def write(self, messages): ...
    async def read(self, query, frozen=True): return Recall()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder on the import path, and remove its modules from `sys.modules` after the test."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    installed_memories.cache_clear()
    installed.cache_clear()
    yield tmp_path
    installed_memories.cache_clear()
    installed.cache_clear()
    for name in set(sys.modules) - before:
        if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


def package(place: Path, name: str, entries: str, version: str = "1.2") -> None:
    """Write the metadata of an installed package, as pip does."""
    folder = place / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (folder / "entry_points.txt").write_text(f"[memflow.memories]\n{entries}\n")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("my_pkg.my_module:MyMemory", "my_memory"),
        ("x:HTTPMemory", "http_memory"),
        ("x:Mem0", "mem0"),
        ("x:AMem", "a_mem"),
        ("x:RAG2", "rag2"),
        ("x:_Mine", "mine"),
        ("x:Shelf_10", "shelf_10"),
    ],
)
def test_memory_name_is_the_class_name_in_snake_case(path: str, name: str) -> None:
    assert memory_name(path) == name


def test_broken_memory_package_does_not_affect_memories_of_other_packages(place: Path) -> None:
    (place / "good_shelf.py").write_text(WHOLE)
    (place / "bad_shelf.py").write_text("raise RuntimeError('no licence')")
    package(place, "good-shelves", "shelf = good_shelf:Shelf\nrag = good_shelf:Shelf")
    package(place, "bad-shelves", "broken = bad_shelf:Shelf")
    own = installed_memories()
    assert own["shelf"] == UserMemory(
        "good_shelf:Shelf", package="good-shelves 1.2", origin="package good-shelves 1.2"
    )
    assert find("shelf", own).system.summary == "A shelf."
    found = resolve_user_memories(own)
    assert isinstance(found["shelf"], MemoryConfig) and len(handlers(own)) == len(handlers())
    with pytest.raises(BadSettings, match=r"the memory broken of the package bad-shelves 1\.2: .*no licence"):
        find("broken", own)
    assert find("rag", own).system.memory is Rag, "ours stays ours"
    assert "has the name of a built-in memory" in str(found["rag"])


def test_memory_name_defined_by_two_packages_is_unusable(place: Path) -> None:
    package(place, "one", "shelf = a:Shelf")
    package(place, "two", "shelf = b:Shelf")
    with pytest.raises(BadSettings, match=r"packages? (one|two) 1\.2 and (one|two) 1\.2: several packages"):
        find("shelf", installed_memories())


def test_user_memory_fingerprint_covers_its_source_code(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = place / "shelves"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "oak.py").write_text(WHOLE)
    (place / "pine.py").write_text(WHOLE)

    def digests() -> list[str]:
        own = {"oak": UserMemory("shelves.oak:Shelf"), "pine": UserMemory("pine:Shelf")}
        found = [fingerprint(name, own) for name in own]
        source_files.cache_clear()
        return found

    first = digests()
    assert digests() == first
    (folder / "helper.py").write_text("BOARDS = 3")
    second = digests()
    assert second[0] != first[0] and second[1] == first[1]
    (place / "pine.py").write_text(WHOLE + "\n# planed")
    assert digests()[1] != first[1]
    assert source_files(Rag) == (), "the code of memflow is in every recipe as it is"


def test_malformed_prompt_error_names_the_memory_and_the_prompt_file(place: Path) -> None:
    (place / "shelves2" / "prompts").mkdir(parents=True)
    (place / "shelves2" / "__init__.py").touch()
    (place / "shelves2" / "prompts" / "put.md").write_text("no front matter")
    asking = "from memflow.memories.memory import Calls\n" + WHOLE + "\n    calls = Calls(chat_write=1)\n"
    (place / "shelves2" / "oak.py").write_text(asking)
    with pytest.raises(BadSettings, match=r"the memory oak: the front matter of .*put\.md is invalid"):
        find("oak", {"oak": UserMemory("shelves2.oak:Shelf")})

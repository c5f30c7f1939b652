"""Fingerprints of assistants with a memory server: the answer to `hello`, and the queries of checkpoints."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memflow.assets.fingerprints import Fingerprints
from memflow.memories.server.protocol import Capabilities, Hello
from memflow.pipeline import WRITERS
from memflow.resources.data.library import Library
from memflow.resources.lake.lake import Lake
from memflow.resources.memory_servers.declaration import write_hello
from memflow.resources.settings.settings import Settings, load

FILE = """
[memories.mine]
command = ["{folder}/no-such-program"]
{more}
"""
HELLO = Hello(name="mine", version="1")

Open = Callable[..., Fingerprints]


def of_settings(settings: Settings) -> Fingerprints:
    return Fingerprints(settings, Lake(settings.lake_root), Library(None, settings.datasets))


@pytest.fixture
def declared(tmp_path: Path) -> Open:
    """Return a function that returns the fingerprints of settings with more lines for the memory."""

    def open_with(more: str = "") -> Fingerprints:
        file = tmp_path / "memflow.toml"
        file.write_text(FILE.format(folder=tmp_path, more=more), encoding="utf-8")
        return of_settings(load(file, {"home": tmp_path / "home"}))

    return open_with


def memories_step(fingerprints: Fingerprints, assistant: str = "mine") -> str:
    return fingerprints.step(WRITERS["memory.indexes"], "comem_demo", assistant)


def test_fingerprint_is_computed_without_a_start_of_the_server(declared: Open) -> None:
    assert memories_step(declared()) == memories_step(declared())


@pytest.mark.parametrize(
    "changed",
    [
        {"version": "2"},
        {"name": "other"},
        {"settings": {"k1": 2}},
        {"can": Capabilities(as_of="writes")},
    ],
)
def test_another_answer_to_hello_makes_the_partitions_stale(
    declared: Open, changed: dict[str, object]
) -> None:
    fingerprints = declared()
    unknown = memories_step(fingerprints)
    write_hello("mine", fingerprints.settings.home, HELLO)
    first = memories_step(fingerprints)
    write_hello("mine", fingerprints.settings.home, HELLO.model_copy(update=changed))
    assert len({unknown, first, memories_step(fingerprints)}) == 3


@pytest.mark.parametrize(
    "more", ['revision = "2"', "settings = {a = 1}", 'mode = "restore"', "k = 3", "budget = 9"]
)
def test_declaration_is_part_of_the_fingerprint(declared: Open, more: str) -> None:
    assert memories_step(declared(more)) != memories_step(declared())


@pytest.mark.parametrize("more", ["timeout = 5", 'variables = ["MY_KEY"]'])
def test_time_limits_and_names_of_variables_are_not(declared: Open, more: str) -> None:
    assert memories_step(declared(more)) == memories_step(declared())


@pytest.mark.parametrize(
    ("assistant", "mode", "reads"),
    [
        ("mine", "auto", True),
        ("mine", "ask_at_once", True),
        ("mine", "as_of", False),
        ("mine", "restore", False),
        ("full", "auto", False),
        ("rag_2_4_30", "auto", False),
    ],
)
def test_probes_are_an_input_of_play_only_where_their_queries_are_read(
    declared: Open, assistant: str, mode: str, reads: bool
) -> None:
    fingerprints = declared(f'mode = "{mode}"')
    before = memories_step(fingerprints, assistant)
    fingerprints.lake.write("question.probes", "comem_demo", [], fingerprint="other probes")
    assert (memories_step(fingerprints, assistant) != before) == reads

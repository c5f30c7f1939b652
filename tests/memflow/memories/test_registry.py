"""Names of memories: parsing, configuration, and rejected names."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import pytest
from bounded_types import assert_bounded
from memory_helpers import case

from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadSettings
from memflow.memories import registry
from memflow.memories.awi.memory import Awi
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Memory, Message, Recall, Tools, parameter
from memflow.memories.rag import Rag
from memflow.memories.registry import find, fingerprint, memory_factory
from memflow.memories.retrieval import Lexical
from memflow.memories.user_memories import UserMemory

TOOLS = Tools(chat=ScriptedChat({}), embedder=HashingEmbedder())


@dataclass
class Diary(Memory):
    """Keeps a diary."""

    pages: int = parameter(3, "Pages.", low=1, high=1000)
    tone: str = parameter("dry", "Tone.", choices=("dry", "warm"))
    moods: tuple[str, ...] = parameter((), "Moods.", choices=("good", "bad"))

    async def write(self, messages: Sequence[Message]) -> None:
        """Nothing."""

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Nothing."""
        return Recall()


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> str:
    module = ModuleType("my_shelf")
    module.Diary, module.Lamp = Diary, dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_shelf", module)
    return "my_shelf"


@pytest.mark.parametrize("system", [case(system) for system in registry.shipped_systems()])
def test_every_memory_system_is_created_by_name_and_describes_its_parameters(system: registry.System) -> None:
    memory = memory_factory(system.name, TOOLS)(EntryStore())
    assert type(memory) is system.memory
    assert re.fullmatch("[a-z0-9_]+", system.name)
    assert set(system.numbers) <= {known.name for known in system.parameters}
    for known in system.parameters:
        assert known.description and getattr(memory, known.name) == known.default


@pytest.mark.parametrize(
    "system", [one for one in registry.shipped_systems() if one.needs_chat], ids=lambda one: one.name
)
def test_every_memory_prompt_has_a_scripted_handler_and_a_bounded_answer(system: registry.System) -> None:
    assert {prompt.name for prompt in system.prompts} <= set(system.memory.handlers())
    for prompt in system.prompts:
        if prompt.output is not None:
            assert_bounded(prompt.output)


def test_numbers_in_a_memory_name_are_its_parameters_in_order() -> None:
    rag = memory_factory("rag_8_4_10", TOOLS)(EntryStore())
    assert isinstance(rag, Rag) and (rag.freq, rag.ns, rag.k) == (8, 4, 10)
    lexical = memory_factory("bm25_session_10", TOOLS)(EntryStore())
    assert isinstance(lexical, Lexical) and (lexical.grain, lexical.k) == ("session", 10)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bm52", r"no memory 'bm52'. `memflow memories` lists all"),
        ("rga_2_4_30", r"no memory 'rga_2_4_30'\. Did you mean .*rag_2_4_30"),
        ("rag_2_4", r"has 2 numbers instead of 3. Use the form rag\[_FREQ_NS_K\]"),
        ("none_3", "has 1 numbers instead of none. Use the form none"),
        ("recent_06", "no memory 'recent_06'"),
        ("recent_0", "messages is 0, below the minimum. Set at least 1"),
        ("rag_0_4_30", "freq is 0, below the minimum. Set at least 1"),
        ("Full", "lowercase letters"),
        ("full-3", "lowercase letters"),
        ("", "lowercase letters"),
    ],
)
def test_memory_registry_rejects_an_unknown_or_invalid_memory_name(name: str, said: str) -> None:
    with pytest.raises(BadSettings, match=said):
        find(name)


def test_memory_factory_without_required_embedder_raises_bad_settings() -> None:
    with pytest.raises(BadSettings, match="rag_2_4_30 needs an embedder"):
        memory_factory("rag_2_4_30", Tools())
    memory_factory("bm25_message", Tools())


def test_memory_registry_loads_a_user_memory_by_its_import_path(shelf: str) -> None:
    own = {"diary_long": UserMemory(f"{shelf}:Diary", {"pages": 900}), "diary": UserMemory(f"{shelf}:Diary")}
    memory = memory_factory("diary_long", TOOLS, own)(EntryStore())
    assert isinstance(memory, Diary) and (memory.pages, memory.tone) == (900, "dry")
    assert find("diary", own).system.summary == "Keeps a diary."
    assert len({fingerprint(name, own) for name in ("diary_long", "diary", "full")}) == 3
    with pytest.raises(BadSettings, match=r"full_80 has the name of a built-in memory. .* memflow\.toml"):
        find("full_80", {"full_80": UserMemory(f"{shelf}:Diary")})
    with pytest.raises(BadSettings, match=r"pages is 1001, above the maximum\. Set at most 1000"):
        find("diary", {"diary": UserMemory(f"{shelf}:Diary", {"pages": 1001})})
    with pytest.raises(BadSettings, match=r"Did you mean diary"):
        find("diaries", own)


def test_user_memory_may_configure_a_shipped_system_with_parameters() -> None:
    own = {
        "pets": UserMemory(system="awi", parameters={"kinds": ["pets"], "ns": 2}),
        "pets_again": UserMemory(system="awi_2_2", parameters={"kinds": ("pets",)}),
        "plain": UserMemory(system="rag"),
        "chunks": UserMemory(
            system="rag", parameters={"chunk": "tokens", "freq": 1, "ns": 0, "overlap": 75, "k": 5}
        ),
    }
    memory = memory_factory("pets", TOOLS, own)(EntryStore())
    assert isinstance(memory, Awi) and (memory.freq, memory.ns, memory.kinds) == (2, 2, ("pets",))
    assert fingerprint("pets", own) == fingerprint("pets_again", own) != fingerprint("awi")
    assert fingerprint("plain", own) == fingerprint("rag")
    assert fingerprint("chunks", own) == fingerprint("rag_chunk")
    assert find("pets", own).system.pattern == "pets"


@pytest.mark.parametrize(
    ("system", "parameters", "said"),
    [
        ("rga", {}, "the memory mine: there is no memory 'rga'"),
        ("mine", {}, "there is no memory 'mine'"),
        ("rag", {"chunks": "x"}, "mine has no parameter 'chunks'. Did you mean chunk?"),
        ("rag_pair", {"chunk": "tokens"}, "mine has no parameter 'chunk'"),
        ("awi", {"kinds": "pets"}, "kinds has the invalid value 'pets'. Set a value of type tuple."),
    ],
)
def test_memory_registry_rejects_invalid_parameters_of_shipped_systems(system, parameters, said: str) -> None:
    with pytest.raises(BadSettings, match=said):
        find("mine", {"mine": UserMemory(system=system, parameters=parameters)})


@pytest.mark.parametrize(
    ("path", "parameters", "said"),
    [
        ("my_shelf.Diary", {}, "is not a valid import path"),
        ("my_shelf:Book", {}, "cannot be imported"),
        ("my_shelves:Diary", {}, "cannot be imported"),
        ("my_shelf:Lamp", {}, "is not a subclass"),
        ("my_shelf:Diary", {"page": 1}, "no parameter 'page'. Did you mean pages?"),
        ("my_shelf:Diary", {"pages": "many"}, "pages has the invalid value 'many'. Set a value of type int."),
        ("my_shelf:Diary", {"pages": True}, "pages has the invalid value True. Set a value of type int."),
        ("my_shelf:Diary", {"pages": 0}, "pages is 0, below the minimum. Set at least 1"),
        ("my_shelf:Diary", {"tone": "wry"}, "tone has the invalid value 'wry'. Use dry, warm"),
        ("my_shelf:Diary", {"moods": ["good", "sad"]}, "moods has the invalid value .*. Use good, bad"),
    ],
)
def test_memory_registry_rejects_an_invalid_user_memory(
    shelf: str, path: str, parameters: dict[str, object], said: str
) -> None:
    with pytest.raises(BadSettings, match=said):
        find("mine", {"mine": UserMemory(path, parameters)})


def test_memory_fingerprint_covers_class_parameters_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["full", "full_8000", "bm25_message", "bm25_session", "embed_message", "rag", "rag_2_4_10"]
    assert len({fingerprint(name) for name in names}) == len(names)
    assert fingerprint("rag") == fingerprint("rag_2_4_30")
    before = fingerprint("rag")
    monkeypatch.setattr(Rag, "version", Rag.version + 1)
    assert fingerprint("rag") != before

"""AWE on the package mem0ai: a buffer, labeled messages in one add per `freq` messages, and recalled facts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_helpers import build, give, requests, said
from profiles import examples

from memflow.errors import BadSettings
from memflow.memories.lib_mem0.answers import Facts
from memflow.memories.lib_mem0.awe import BUFFER, LibAwe
from memflow.memories.lib_mem0.memory import MEMORY
from memflow.memories.memory import Message
from memflow.memories.registry import find
from memflow.memories.systems import SYSTEMS

LACKS = SYSTEMS["lib_awe"].missing_requirement
with_package = pytest.mark.skipif(bool(LACKS), reason=f"lib_awe needs {LACKS}")

ROUND = [
    Message("m0", "user", "My car is red.", sent_at="8 May 2023"),
    Message("m1", "assistant", "A fine color."),
    Message("m2", "user", "My cat is old."),
    Message("m3", "assistant", "How old?"),
]


def test_lib_awe_has_the_settings_of_the_published_agent() -> None:
    config = find("lib_awe_2_4_30")
    assert config.values == find("lib_awe").values
    assert (config.values["freq"], config.values["ns"], config.values["k"]) == (2, 4, 30)
    assert config.system.needs_embedder and config.system.needs_chat


def test_lib_awe_without_its_package_is_rejected_with_the_command_that_installs_it(monkeypatch) -> None:
    monkeypatch.setattr(LibAwe, "requires", "mem0ai==0.0.1")
    with pytest.raises(BadSettings, match=r"lib_awe needs mem0ai==0\.0\.1.*Install it: pip"):
        find("lib_awe").check_requirements()


@with_package
async def test_lib_awe_recalls_facts_of_older_messages_and_the_buffer_as_turns() -> None:
    memory = build(LibAwe, ns=2)
    await give(memory, ROUND)
    assert [item.text for item in memory.store.live(MEMORY)] == ["[8 May 2023] My car is red."]
    recall = await memory.read("my car")
    assert recall.notes == "[8 May 2023] My car is red."
    assert [turn.role for turn in recall.messages] == ["user", "assistant"]
    assert recall.sources == ("m0", "m1", "m2", "m3")


@with_package
@examples(15)
@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=6),
    freq=st.integers(1, 4),
    ns=st.integers(0, 4),
)
async def test_lib_awe_buffers_fewer_than_freq_plus_ns_messages_and_adds_others_once(sizes, freq, ns) -> None:
    memory = build(LibAwe, {"extract": Facts(facts=[])}, freq=freq, ns=ns)
    total = 0
    for size in sizes:
        await give(memory, said(*(f"Text {total + at}." for at in range(size)), first=total))
        total += size
    held = len(memory.store.live(BUFFER))
    added = "".join(request.messages[-1].content for request in requests(memory, "extract"))
    assert held == total - max(0, (total - ns) // freq * freq)
    assert [f"Text {at}." in added for at in range(total)] == [at < total - held for at in range(total)]
    assert len(requests(memory, "extract")) == (total - held) // freq

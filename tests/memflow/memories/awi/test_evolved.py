"""EvolvingAwi: it writes by the policy in force, also after restoring an earlier state."""

import pytest
from memory_helpers import give, said

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import ScriptedChat
from memflow.memories.awi.answers import Facts
from memflow.memories.awi.memory import FACT, EvolvingAwi
from memflow.memories.awi.scripted import HANDLERS
from memflow.memories.entries import EntryStore
from memflow.memories.evolving import POLICY, PolicyStep, policy_step
from memflow.memories.memory import FAILURE, Tools

CARS, CATS = (
    PolicyStep(("cars",)),
    PolicyStep(("cars", "cats"), checkpoint=0, changes=("cats",), asked=2, answered=1),
)


def evolving(store: EntryStore | None = None, kinds: tuple[str, ...] = ("cars",)) -> EvolvingAwi:
    return EvolvingAwi(
        EntryStore() if store is None else store,
        Tools(chat=ScriptedChat(HANDLERS)),
        freq=1,
        ns=0,
        kinds=kinds,
    )


async def test_policy_decides_which_facts_are_kept() -> None:
    memory = evolving()
    memory.follow([CARS])
    await give(memory, said("My car is red.", "My cat is old."))
    memory.store.advance(1)
    memory.follow([CATS])
    await give(memory, said("My cat is older now.", first=2))
    assert [item.text for item in memory.store.live(FACT)] == [
        "- car: My car is red.",
        "- cat: My cat is older now.",
    ]
    assert memory.policy == ("cars", "cats")

    before = evolving(EntryStore.restored(list(memory.store), 2))
    assert before.policy == ("cars",)
    await give(before, said("My cat is as it was.", first=3))
    assert [item.text for item in before.store.live(FACT)] == ["- car: My car is red."]


async def test_update_prompt_has_policy_in_force() -> None:
    seen: list[ChatRequest] = []

    def update(request: ChatRequest) -> Facts:
        seen.append(request)
        return Facts(facts=[])

    memory = EvolvingAwi(EntryStore(), Tools(ScriptedChat({"awi/update": update})), freq=1, ns=0)
    memory.follow([CARS, CATS])
    await give(memory, said("Hello."))
    assert seen[0].fields["kinds"] == "1. cars\n2. cats"


async def test_initial_policy_is_parameter_kinds() -> None:
    assert evolving(kinds=("pets",)).policy == ("pets",)


def test_failed_step_keeps_policy() -> None:
    memory = evolving()
    failed = PolicyStep(
        ("cars",), checkpoint=1, asked=2, answered=2, correct=1, completion="d", reason="no JSON"
    )
    memory.follow([CARS, failed, CATS])
    kept = [policy_step(item) for item in memory.store]
    assert kept == [CARS, failed, CATS]
    assert [item.kind for item in memory.store.live()] == [FAILURE, POLICY]
    assert memory.policy == ("cars", "cats")


def test_failed_write_is_not_a_policy_step() -> None:
    store = EntryStore()
    assert policy_step(store.add(FAILURE, "no JSON", sources=("m0",))) is None
    assert policy_step(store.add(FACT, "- car: red", sources=("m0",), meta={"label": "car"})) is None


@pytest.mark.parametrize(
    ("kinds", "held"),
    [
        (("sewing",), ["sewing level"]),
        (("Which piece should I sew next?",), ["sewing level"]),
        (("running shoes",), []),
        (("anything else of use",), ["sewing level", "garden time"]),
    ],
)
async def test_scripted_writer_matches_kinds_by_words(kinds: tuple[str, ...], held: list[str]) -> None:
    memory = evolving(kinds=kinds)
    await give(memory, said("My sewing level is high.", "My garden time is short."))
    assert [item.meta["label"] for item in memory.store.live(FACT)] == held

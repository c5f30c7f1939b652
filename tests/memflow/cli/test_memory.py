"""`show memory`: entries at a checkpoint or probe."""

from collections.abc import Sequence
from typing import Any

import pytest
from factories import probe
from memory_helpers import said

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import ScriptedChat
from memflow.memories.memory import Tools
from memflow.memories.registry import find, handlers
from memflow.records import Probe
from memflow.run.play import Episode, Event, play_all
from memflow.run.transcripts import entry_rows, transcript_rows

DOMAIN, AWI = "amemgym_demo~1", "awi_1_0"


def episode(name: str, *checkpoints: Sequence[str]) -> Episode:
    """Return an episode of single messages m0, m1, ...; each argument has the texts of one checkpoint."""
    events: list[Event] = []
    for checkpoint, texts in enumerate(checkpoints):
        for text in texts:
            at = len(events)
            events.append(Event(at, checkpoint, "given", tuple(said(text, first=at))))
    return Episode(name, tuple(events))


ANN = episode("ann", ["My car is red.", "My cat is old."], ["My car is blue.", "My dog is lost."], ["Lost."])
BEN = episode("ben", ["My car is green."])


@pytest.fixture
async def remembered(empty):
    """Return a home in which AWI played an episode and failed to process the messages that contain "ost."."""
    await _play(empty, AWI, [ANN])
    return empty


async def _play(home, assistant: str, episodes: list[Episode]) -> None:
    update = handlers()["awi/update"]

    def forgetful(request: ChatRequest) -> Any:
        return "no JSON" if "ost." in request.fields["messages"] else update(request)

    tools = Tools(chat=ScriptedChat({"awi/update": forgetful}))
    played = await play_all(episodes, find(assistant).factory(tools), None)
    home.write("memory.transcripts", f"{DOMAIN}/{assistant}", transcript_rows(DOMAIN, assistant, played))
    home.write("memory.indexes", f"{DOMAIN}/{assistant}", entry_rows(DOMAIN, assistant, played))


def show_memory(home, *arguments: str) -> Any:
    return home.json("show", "memory", DOMAIN, *arguments)


async def test_checkpoint_option_shows_memory_entries_at_the_given_checkpoint(remembered) -> None:
    first = show_memory(remembered, AWI, "--checkpoint", "0")
    assert (first["episode"], first["checkpoint"], first["sequence"]) == ("ann", 0, 2)
    held = {entry["text"]: entry for entry in first["entries"]}
    assert set(held) == {"- car: My car is red.", "- cat: My cat is old."}
    red = held["- car: My car is red."]
    # It is held at checkpoint 0, and known to have been retired by the third message.
    assert (red["kind"], red["sources"], red["since"], red["until"]) == ("fact", ["m0"], 1, 3)
    last = show_memory(remembered, AWI)
    assert (last["checkpoint"], last["sequence"]) == (2, 5)
    [blue] = [entry for entry in last["entries"] if "blue" in entry["text"]]
    assert (blue["previous"], blue["until"]) == (red["entry_id"], None)
    assert [entry["kind"] for entry in last["entries"]].count("failure") == 2


def asked(number: int, checkpoint: int, after: str | None = None) -> Probe:
    return probe(
        domain=DOMAIN,
        probe_id=f"p{number}",
        episode_id="ann",
        checkpoint=checkpoint,
        after=after,
        options=["a", "b"],
    )


async def test_probe_option_shows_memory_entries_at_the_time_of_the_probe(remembered) -> None:
    probes = [asked(0, 1), asked(1, 1, after="m2"), asked(2, 2, after="m9")]
    remembered.write("question.probes", DOMAIN, probes)
    there, early = (show_memory(remembered, AWI, "--probe", name) for name in ("p0", "p1"))
    assert (there["sequence"], early["sequence"]) == (4, 3)
    assert there["entries"] == show_memory(remembered, AWI, "--checkpoint", "1")["entries"]
    assert [entry["kind"] for entry in there["entries"]].count("failure") == 1  # of the dog, in m3
    assert [entry["text"] for entry in early["entries"] if entry["kind"] == "failure"] == []
    shown = remembered("show", "memory", DOMAIN, AWI, "--probe", "p1").stdout
    assert "episode ann, checkpoint 1 of 2, sequence number 3 of 4: 2 entries" in shown
    for arguments, wrong in (
        (("--probe", "p2"), "probe p2 follows the message m9, which was not played"),
        (("--probe", "p7"), "there is no probe 'p7'. Use one of: p0"),
        (("--probe", "p0", "--checkpoint", "1"), "--probe cannot be combined"),
    ):
        assert wrong in remembered.error("show", "memory", DOMAIN, AWI, *arguments)
    assert "asked after the message m2" in remembered("show", "probe", "p1").stdout


async def test_show_memory_text_groups_entries_by_kind_with_failures_last(remembered) -> None:
    shown = remembered("show", "memory", DOMAIN, AWI).stdout
    assert "episode ann, checkpoint 2 of 2, sequence number 5: 4 entries" in shown
    assert "fact: 2" in shown and "version of" in shown and "- car: My car is blue." in shown
    assert "red" not in shown
    assert shown.index("fact: 2") < shown.index("Failures: 2") and shown.count("no usable answer") == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((DOMAIN, AWI, "--checkpoint", "3"), "no checkpoint 3. Use one from 0 to 2"),
        ((DOMAIN, "mem0"), "amemgym_demo~1 has no stored run of assistant 'mem0'. Use one of: awi_1_0"),
        (("nowhere", AWI), "'nowhere' has no memory entries; domains with entries: amemgym_demo~1"),
    ],
)
async def test_show_memory_rejects_unknown_or_conflicting_options(remembered, arguments, said) -> None:
    assert said in remembered.error("show", "memory", *arguments)


async def test_options_select_an_episode_and_a_kind(empty) -> None:
    await _play(empty, AWI, [ANN, BEN])
    assert "2 episodes: ann, ben" in empty.error("show", "memory", DOMAIN, AWI)
    wrong = empty.error("show", "memory", DOMAIN, AWI, "--episode", "cid")
    assert "no episode 'cid'. Use one of: ann, ben" in wrong
    [entry] = show_memory(empty, AWI, "--episode", "ben", "--kind", "fact")["entries"]
    assert entry["text"] == "- car: My car is green."
    wrong = empty.error("show", "memory", DOMAIN, AWI, "--episode", "ben", "--kind", "dream")
    assert "has no memory entry of kind 'dream'" in wrong


def test_show_memory_prints_the_entries_of_a_pipeline_run(measured) -> None:
    """The memory `full` gains entries between checkpoints. The memory `none` plays no episodes."""
    whole = show_memory(measured, "full")
    assert whole["checkpoint"] == 2 and {entry["kind"] for entry in whole["entries"]} >= {"message"}
    assert len(whole["entries"]) > len(show_memory(measured, "full", "--checkpoint", "0")["entries"])
    assert "it did not play an episode" in measured.error("show", "memory", DOMAIN, "none")

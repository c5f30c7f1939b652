"""The memory `longmemeval_bm25`: the published ranking and its retrieval metrics, and the text for the reader."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from longmemeval_rows import DAY, SESSIONS, domain, lines, reply, rows, write

from memflow.benchmarks.longmemeval.benchmark import LongMemEval
from memflow.benchmarks.longmemeval.facts import DenseFactIndex, FactIndex
from memflow.benchmarks.longmemeval.index import PublishedIndex
from memflow.benchmarks.longmemeval.instances import Instance, read_instances
from memflow.benchmarks.longmemeval.load import read_records
from memflow.benchmarks.longmemeval.okapi import okapi_scores, ranking
from memflow.benchmarks.longmemeval.retrieval_verdicts import retrieval_verdicts
from memflow.benchmarks.longmemeval.scripted import HANDLERS
from memflow.benchmarks.registry import find_dataset
from memflow.chat.scripted import ScriptedChat
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Memory, Tools

S = find_dataset("longmemeval_s")


async def test_session_is_found_by_the_users_words_and_shown_with_both_roles() -> None:
    fillers = [[("user", f"Tell me of number {number}.")] for number in "abcde"]
    memory = await write(PublishedIndex(k=1), [*SESSIONS, *fillers])
    recall = await memory.read("bicycle. sold the")
    assert recall.sources == ("s2/t1a", "s2/t2u", "s2/t3a")
    assert DAY.format(2) in recall.notes and "For how much?" in recall.notes
    memory.k = 0
    assert all("s3" not in source for source in (await memory.read("Only speak here of")).sources)


async def test_turn_is_widened_to_the_round() -> None:
    recall = await (await write(PublishedIndex(unit="turn", k=2))).read("bicycle. sold red")
    assert [item.sources for item in recall.entries] == [("s2/t2u", "s2/t3a"), ("s1/t1u", "s1/t2a")]


async def test_units_are_shown_in_order_of_time_in_both_layouts() -> None:
    for layout in ("text", "json"):
        notes = (await (await write(PublishedIndex(k=0, layout=layout))).read("bicycle.")).notes
        assert 0 <= notes.index(DAY.format(1)) < notes.index(DAY.format(2))
        assert ("user: I sold the bicycle." in notes) == (layout == "text")
    body = notes.split("\n")[1]
    assert json.loads(body)[0] == {"role": "user", "content": "I own a red bicycle."}


@pytest.mark.parametrize("memory_class", [PublishedIndex, FactIndex, DenseFactIndex])
async def test_restored_memory_recalls_the_same(memory_class: type[Memory]) -> None:
    tools = Tools(ScriptedChat(HANDLERS), HashingEmbedder(64))
    memory = await write(memory_class(tools=tools))
    sequence = memory.store.sequence
    before = await memory.read("red bicycle")
    await write(memory, [[("user", "My red bicycle is back.")]])
    restored = memory_class(EntryStore.restored(list(memory.store), sequence), tools)
    after = await restored.read("red bicycle")
    assert (after.notes, after.sources) == (before.notes, before.sources)
    assert (await memory.read("red bicycle")).notes != before.notes


async def test_unit_without_a_users_word_has_a_kind_that_no_search_returns() -> None:
    memory = await write(PublishedIndex(k=0))
    [item] = memory.store.live("unit_without_key")
    assert item.sources == ("s3/t1a",)
    assert {item.kind for item in (await memory.read("bicycle.")).entries} == {"unit"}


def test_common_word_has_a_quarter_of_the_mean_weight() -> None:
    texts = [f"a {word}" for word in "bcdefgh"]
    rare = math.log(6.5 / 1.5)
    floor = 0.25 * (7 * rare + math.log(0.5 / 7.5)) / 8
    assert okapi_scores("b", texts)[0] == pytest.approx(rare)
    assert okapi_scores("a", texts) == pytest.approx([floor] * 7)
    assert ranking([1.0, 2.0, 1.0]) == [1, 2, 0]
    assert okapi_scores("A", texts) == [0.0] * 7


def published_id(source: str, instance: Instance, turn: bool) -> str:
    """Return the published id of a document from the id of a user's message."""
    _, session, place = source.split("/")
    name = instance.haystack_session_ids[int(session[1:]) - 1]
    messages = instance.haystack_sessions[int(session[1:]) - 1]
    marked = [message.has_answer for message in messages if message.role == "user"]
    if turn:
        number = int(place[1:-1])
        name, answers = f"{name}_{number}", messages[number - 1].has_answer
        return name if answers else name.replace("answer", "noans")
    return name if any(marked) else name.replace("answer", "noans")


@pytest.mark.parametrize("unit", ["session", "turn"])
async def test_memory_ranks_real_histories_as_the_published_code(data: Path, unit: str) -> None:
    records = read_records(S, {"s": data / "s_part.json"})
    instances = {each.question_id: each for each in read_instances(domain(), records)}
    turns, probes = await rows(domain(retrieval_k=(1, 3, 5, 10, 30, 50)), records)
    golden = {
        row["question_id"]: row
        for row in lines(data / "retrieval_golden_bm25.jsonl")
        if row["granularity"] == unit
    }
    compared = 0
    for probe in probes:
        memory = PublishedIndex(unit=unit, k=0)
        for event in LongMemEval().episodes(domain(), None, turns, [], None):  # type: ignore[arg-type]
            if event.episode_id == probe.episode_id:
                for each in event.events:
                    memory.store.advance(len(each.messages))
                    await memory.write(each.messages)
        recall = await memory.read(probe.question)
        expected = golden[probe.probe_id]
        first = [next(one for one in item.sources if one.endswith("u")) for item in recall.entries]
        ids = [published_id(one, instances[probe.probe_id], unit == "turn") for one in first]
        groups: dict[float, set[str]] = {}
        for name, score in zip(expected["ranked_ids"], expected["ranked_scores"], strict=True):
            groups.setdefault(score, set()).add(name)
        at = 0
        for score in sorted(
            groups, reverse=True
        ):  # the order of equal scores depends on the order of the corpus
            assert set(ids[at : at + len(groups[score])]) == groups[score]
            at += len(groups[score])
        answer = reply(
            probe,
            recalled=[item.entry_id for item in recall.entries],
            recalled_sources=list(recall.sources),
            ranked=[item.entry_id for item in recall.entries[:10]],
        )
        compared += compare(probe, answer, expected["metrics"], unit)
    assert compared == 4 * (18 if unit == "session" else 36)


def compare(probe: Any, answer: Any, metrics: Any, unit: str) -> int:
    """Compare the verdicts on a reply with published values, and return how many were compared."""
    found = {
        (row.metric, row.variant): row
        for row in retrieval_verdicts(domain(retrieval_k=(1, 3, 5, 10, 30, 50)), [probe], [answer])
    }
    for grain, values in metrics.items():
        variant = "turn_to_session" if unit == "turn" and grain == "session" else "standard"
        for name, value in values.items():
            metric, _, k = name.partition("@")
            row = found[f"{grain}_{metric}_at_{k}", variant]
            assert row.value == pytest.approx(value, abs=1e-12), (probe.probe_id, grain, name)
    return sum(map(len, metrics.values()))

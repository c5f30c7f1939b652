"""Turns and probes: the order, the gold, and that no gold reaches a memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from longmemeval_rows import DAY, domain, instance, rows

from memflow.benchmarks.longmemeval.benchmark import LongMemEval
from memflow.benchmarks.longmemeval.checks import without_evidence
from memflow.benchmarks.longmemeval.instances import parse_date, read_instances
from memflow.benchmarks.longmemeval.load import read_records
from memflow.benchmarks.registry import find_dataset
from memflow.memories.memory import Recall
from memflow.records import Record

S = find_dataset("longmemeval_s")

Read = Callable[[Any], list[Record]]


async def test_messages_of_a_session_arrive_together_with_its_date(read: Read) -> None:
    turns, _ = await rows(domain(), read([instance()]))
    assert [(turn.event, turn.position, turn.role) for turn in turns] == [
        (0, 0, "user"),
        (0, 1, "assistant"),
        (1, 0, "user"),
        (1, 1, "assistant"),
    ]
    assert [turn.sent_at for turn in turns] == [DAY.format(1)] * 2 + [DAY.format(2)] * 2


async def test_probe_has_gold_evidence_and_the_evidence_sessions(read: Read) -> None:
    turns, [probe] = await rows(domain(), read([instance(answer=3)]))
    assert (probe.gold, probe.category, probe.asked_at) == ("3", "multi-session", DAY.format(20))
    assert probe.evidence == [turns[2].message_id]
    assert "user: The key is in the jar." in probe.revealed and "Hello." not in probe.revealed


async def test_messages_reveal_neither_evidence_nor_abstention(read: Read) -> None:
    content = [instance("x1", answer="zinc"), instance("x1_abs", answer="zinc")]
    turns, probes = await rows(domain(), read(content))
    [*episodes] = LongMemEval().episodes(domain(), None, turns, [], None)  # type: ignore[arg-type]
    messages = [message for episode in episodes for event in episode.events for message in event.messages]
    seen = " ".join(map(repr, [*messages, *(episode.episode_id for episode in episodes)]))
    assert len(messages) == 8
    assert all(word not in seen for word in ("answer_1", "_abs", "has_answer", "zinc", "x1"))
    assert len({message.message_id for message in messages}) == 8
    assert [probe.probe_id for probe in probes] == ["x1", "x1_abs"]


async def test_blank_messages_are_left_out_and_others_keep_their_numbers(read: Read) -> None:
    sessions = [[], [{"role": "user", "content": " "}, {"role": "user", "content": "x", "has_answer": True}]]
    turns, [probe] = await rows(domain(), read([instance(haystack_sessions=sessions)]))
    assert [turn.message_id for turn in turns] == probe.evidence
    assert turns[0].message_id.endswith("/s002/t02u")


async def test_check_finds_missing_evidence(read: Read) -> None:
    _, probes = await rows(domain(), read([instance(), instance("lost", answer_session_ids=["elsewhere"])]))
    assert without_evidence(probes) == [1]


async def test_question_is_the_query_without_its_date_and_the_prompt_has_it(read: Read) -> None:
    _, [probe] = await rows(domain(), read([instance()]))
    benchmark = LongMemEval()
    for reading in ("direct", "notes"):
        asked = benchmark.question(domain(reading=reading), probe, Recall(notes="The jar."), None)
        [message] = asked.prompt.render(asked.fields)
        assert asked.query == probe.question
        assert asked.prompt.name == f"longmemeval/{reading}"
        assert all(text in message.content for text in (probe.question, DAY.format(20), "The jar."))
        turns = benchmark.question(domain(reading=reading), probe, Recall(), None)
        assert turns.prompt.name == f"longmemeval/{reading}_turns"


async def test_gold_context_replaces_the_recall(read: Read) -> None:
    _, [probe] = await rows(domain(), read([instance()]))
    asked = LongMemEval().question(domain(), probe, Recall(notes="nothing"), probe.revealed)
    assert asked.fields["notes"] == probe.revealed


async def test_real_histories_are_out_of_order_within_a_day_before_sorting(data: Path) -> None:
    records = read_records(S, {"s": data / "s_part.json"})
    turns, probes = await rows(domain(), records)
    published = [each.haystack_dates for each in read_instances(domain(), records)]
    assert any(dates != sorted(dates) for dates in published)
    dates = [[turn.sent_at for turn in turns if turn.episode_id == probe.episode_id] for probe in probes]
    assert all(sent == sorted(sent, key=parse_date) for sent in dates)
    assert not without_evidence(probes)
    assert all(probe.evidence for probe in probes)

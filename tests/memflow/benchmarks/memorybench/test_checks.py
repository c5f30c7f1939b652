"""Checks detect planted gold, and feedback on and dialogues of test cases."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.checks import EXPECTED
from memflow.benchmarks.memorybench.probes import feedback_id
from memflow.benchmarks.registry import find_domain
from memflow.chat.scripted import ScriptedChat
from memflow.checks.evaluation import check_rows
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.records import Record
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, transcript_rows

Rows = dict[str, list[Any]]
ENDS = ("", "_stepwise", "_onpolicy", "_training", "_same")


def broken(domain: Domain, rows: Rows) -> set[str]:
    tables = {each.table for each in EXPECTED}
    return {
        outcome.name
        for table in tables
        for outcome in check_rows(
            table, rows[table], [each for each in EXPECTED if each.table == table], rows.__getitem__, domain
        )
        if not outcome.passed
    }


@pytest.fixture
def played(
    run_domain: Callable[[Domain, list[Record]], Awaitable[Any]], sample: list[Record]
) -> Callable[[str], Awaitable[tuple[Domain, Rows]]]:
    async def playing(end: str) -> tuple[Domain, Rows]:
        bench, domain = MemoryBench(), find_domain(f"memorybench_demo{end}")
        run, chat = await run_domain(domain, sample), ScriptedChat(bench.handlers())
        episodes = bench.episodes(domain, None, run.turns, run.feedback, chat, run.probes)  # type: ignore[arg-type]
        make = memory_factory("bm25_message", Tools(embedder=HashingEmbedder()))
        played = await play_all(episodes, make, bench.replier(domain, chat))
        return domain, {
            "utterance.turns": run.turns,
            "question.probes": run.probes,
            "feedback.sessions": run.feedback,
            "memory.transcripts": transcript_rows(domain.name, "a", played),
            "memory.indexes": entry_rows(domain.name, "a", played),
        }

    return playing


@pytest.mark.parametrize("end", ENDS)
async def test_memory_rows_of_every_protocol_pass_memory_checks(played: Any, end: str) -> None:
    domain, rows = await played(end)
    assert rows["memory.transcripts"]
    assert broken(domain, rows) == set()


@pytest.mark.parametrize("end", ["", "_stepwise", "_onpolicy"])
async def test_gold_of_test_case_in_transcript_or_memory_entry_fails_check(played: Any, end: str) -> None:
    domain, rows = await played(end)
    gold = "The sign names celery, the number of bowls, and Bo as the one to ask for seconds."
    assert any(probe.gold == gold and probe.split == "test" for probe in rows["question.probes"])
    for table, name in (
        ("memory.transcripts", "transcripts_contain_no_test_gold"),
        ("memory.indexes", "entries_contain_no_test_gold"),
    ):
        first, *rest = rows[table]
        leaking = {**rows, table: [replace(first, text=f"By the way:\n {gold.replace(' ', '  ')}"), *rest]}
        assert broken(domain, leaking) == {name}


async def test_checklist_item_of_test_gold_in_memory_entry_fails_check(played: Any) -> None:
    domain, rows = await played("")
    secret = "Does the letter name the ferry by which the guests arrive?"
    probes = [
        replace(probe, gold=f'{{"checklist": ["{secret}"]}}')
        if "volunteer-mail-test" in probe.probe_id
        else probe
        for probe in rows["question.probes"]
    ]
    assert broken(domain, {**rows, "question.probes": probes}) == set()
    first, *rest = rows["memory.indexes"]
    leaking = {**rows, "question.probes": probes, "memory.indexes": [replace(first, text=secret), *rest]}
    assert broken(domain, leaking) == {"entries_contain_no_test_gold"}


async def test_feedback_or_dialogue_of_test_case_in_transcript_or_memory_entry_fails_check(
    played: Any,
) -> None:
    domain, rows = await played("_stepwise")
    first, *rest = rows["memory.transcripts"]
    planted = feedback_id("sample_open/soup-sign-test", 0)
    leaking = {**rows, "memory.transcripts": [replace(first, message_id=planted), *rest]}
    assert broken(domain, leaking) == {"only_training_cases_have_dialogues"}
    entry, *others = rows["memory.indexes"]
    leaking = {**rows, "memory.indexes": [replace(entry, sources=[planted]), *others]}
    assert broken(domain, leaking) == {"entry_sources_are_training_cases"}
    test = next(probe.probe_id for probe in rows["question.probes"] if probe.split == "test")
    leaking = {**rows, "feedback.sessions": [replace(rows["feedback.sessions"][0], case_id=test)]}
    assert broken(domain, leaking) == {"feedback_on_training_cases_only"}

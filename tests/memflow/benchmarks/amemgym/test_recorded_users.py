"""Users rebuilt from a recorded run: equal to the published users, and incomplete users with a reason."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from amemgym_agents import failed_checks, put, tables
from amemgym_runs import read_json, write_json, write_run

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.checks import EXPECTED
from memflow.benchmarks.api import States
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.records import Probe, Record, TranscriptMessage, Turn
from memflow.resources.data.library import Library
from memflow.run.play import play_all
from memflow.run.transcripts import transcript_rows

BENCHMARK, CHAT = AMemGym(), ScriptedChat({})
MEMORIES = ("none", "full", "recent", "bm25_message", "rag_2_4_30")
"""Memories that need no model."""
RUNS = Path(os.environ.get("MEMFLOW_DATA", "missing")) / "amemgym_runs"
needs_runs = pytest.mark.skipif(not RUNS.is_dir(), reason="needs amemgym_runs in MEMFLOW_DATA")


def steps(domain: Domain, records: list[Record]) -> SimpleNamespace:
    async def run() -> tuple[States, list[Turn], list[Probe]]:
        states = await BENCHMARK.states(domain, records, CHAT)
        turns = await BENCHMARK.turns(domain, records, states, CHAT)
        return states, turns, await BENCHMARK.probes(domain, records, states, turns, CHAT)

    states, turns, probes = asyncio.run(run())
    return SimpleNamespace(domain=domain, records=records, states=states, turns=turns, probes=probes)


def records_of(*patterns: Path) -> list[Record]:
    dataset = Dataset("run", "", "amemgym", tuple(map(str, patterns)), "", "", "", own=True)
    library = Library(None)
    return BENCHMARK.records(library.dataset(dataset), library.paths(dataset))


def recorded(folder: Path) -> SimpleNamespace:
    patterns = ("overall_results.json", "diagnosis_results.json", "interactions/period_*.json")
    domain = replace(find_domain("amemgym_recorded_awi"), datasets=("run",))
    return steps(domain, records_of(*(folder / "*" / pattern for pattern in patterns)))


def played(made: SimpleNamespace, memory: str) -> list[TranscriptMessage]:
    episodes = BENCHMARK.episodes(made.domain, made.states, made.turns, [], CHAT)
    factory = memory_factory(memory, Tools(CHAT, HashingEmbedder()))
    return transcript_rows("d", memory, asyncio.run(play_all(episodes, factory, None)))


@pytest.fixture
def run(published_users: Callable[..., Path], tmp_path: Path) -> SimpleNamespace:
    """Return a run of two users with four periods, and what the file of the users gives."""
    file = published_users(tmp_path / "data", users=2, periods=4, questions=3) / "amemgym/v1.base/data.json"
    users = read_json(file)
    published = steps(find_domain("amemgym_base"), records_of(file))
    return SimpleNamespace(
        users=users, published=published, folder=write_run(tmp_path / "run", users), first=users[0]["id"]
    )


def test_rebuilt_users_have_the_states_and_questions_of_the_published_users(run) -> None:
    made, published = recorded(run.folder), run.published
    of_state = [
        (row.user_id, row.period, row.period_end, row.variable, row.old, row.value)
        for row in published.states.changes
    ]
    assert sorted(of_state) == sorted(
        (row.user_id, row.period, row.period_end, row.variable, row.old, row.value)
        for row in made.states.changes
    )
    for there, here in zip(published.probes, made.probes, strict=True):
        assert (here.probe_id, here.question, here.variables) == (
            there.probe_id,
            there.question,
            there.variables,
        )
        assert here.revealed == there.revealed and here.reason is None
        if here.kind == "choice":
            assert set(here.options) <= set(there.options)
            assert here.options[int(here.gold) - 1] == there.options[int(there.gold) - 1]


def test_checks_find_no_error_in_rebuilt_users(run) -> None:
    made = recorded(run.folder)
    errors = [each for each in EXPECTED if each.severity == "error" and each.table in tables(made)]
    assert errors and failed_checks(made, errors) == set()


def test_merged_dialogue_file_gives_the_same_turns_as_files_per_period(run, tmp_path) -> None:
    before = recorded(run.folder).turns
    for user in run.users:
        files = sorted((run.folder / user["id"] / "interactions").iterdir())
        write_json(
            run.folder / user["id"] / "interactions_by_period.json",
            {path.stem: read_json(path) for path in files},
        )
    patterns = ("overall_results.json", "diagnosis_results.json", "interactions_by_period.json")
    domain = replace(find_domain("amemgym_recorded_awi"), datasets=("run",))
    assert steps(domain, records_of(*(run.folder / "*" / each for each in patterns))).turns == before


def test_reader_rejects_merged_dialogues_with_invalid_message_or_period(run) -> None:
    path = run.folder / run.first / "interactions_by_period.json"
    write_json(path, {"period_00": [[{"role": "user"}]]})
    with pytest.raises(BadInput, match=r"period_00: session 0, message 0, content: Field required"):
        records_of(path)
    write_json(path, {"first": []})
    with pytest.raises(BadInput, match="the key 'first' names no period"):
        records_of(path)


@pytest.mark.parametrize(
    ("name", "spoil", "reason"),
    [
        (
            "diagnosis_results.json",
            lambda content: content.clear() or content.append([]),
            "no result in diagnosis_results.json names the variables of question 0",
        ),
        (
            "overall_results.json",
            lambda content: [period.__setitem__(0, None) for period in content],
            "question 0 has no text",
        ),
        (
            "overall_results.json",
            put("Another question?", 2, 0, "query"),
            "question 0 has no text or several texts in overall_results.json",
        ),
        (
            "overall_results.json",
            put(["x", "y"], 1, 0, "answer_state"),
            "two results of period 1 contain different true values of the variable topic0_trait",
        ),
        (
            "interactions/period_01.json",
            put("Hello", 0, 0, "content"),
            "session 0 of period 1 does not begin with [Current Time: ...]",
        ),
        (
            "interactions/period_01.json",
            lambda content: content.clear(),
            "the recorded dialogue of period 1 has no sessions",
        ),
    ],
)
def test_only_the_user_with_contradictory_or_missing_results_is_quarantined(run, name, spoil, reason) -> None:
    path = run.folder / run.first / name
    content = read_json(path)
    spoil(content)
    write_json(path, content)
    made = recorded(run.folder)
    (lost,) = [profile for profile in made.states.profiles if profile.reason]
    assert lost.user_id == run.first and f"the user cannot be rebuilt: {reason}" in lost.reason
    assert (
        {turn.episode_id for turn in made.turns}
        == {probe.episode_id for probe in made.probes}
        == {run.users[1]["id"]}
    )


@needs_runs
@pytest.mark.parametrize(("agent", "longest"), [("native", 2_961), ("awi", 5_205)])
def test_recorded_runs_of_models_become_off_policy_episodes_with_uncut_messages(agent, longest) -> None:
    domain = find_domain(f"amemgym_recorded_{agent}")
    library = Library(RUNS.parent)
    dataset = library.dataset(domain.datasets[0])
    made = steps(domain, BENCHMARK.records(dataset, library.paths(dataset)))
    assert [profile.reason for profile in made.states.profiles] == [None] * 3
    assert not any(probe.reason for probe in made.probes) and len(made.probes) == 2 * 10 * (11 + 21 + 21)
    for memory in MEMORIES:
        said = played(made, memory)
        assert [row.text for row in said] == [turn.text for turn in made.turns]
        assert max(len(row.text) for row in said) == longest

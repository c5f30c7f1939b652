"""Off-policy domains: memories receive recorded dialogues, and mismatched runs are rejected."""

import asyncio
import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from amemgym_agents import put

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.load import read_records
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.chat.requests import Chat
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput, RequestRefused
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.records import Entry, Probe, Record, Reply, TranscriptMessage, Turn
from memflow.run.answer import answer_all
from memflow.run.handlers import handlers
from memflow.run.play import PlayedEpisode, play_all
from memflow.run.recording import RecordedRun, Source, recording_text
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

RUN = Dataset("my_run", "A run", "amemgym", ("run.jsonl",), "ours", "memflow", "Record it.")
MEMORIES = ("bm25_message", "bm25_session", "rag_2_4_30", "embed_message", "full", "recent")
"""Systems without a model of their own: what they hold is what they were given."""
CHAT = ScriptedChat(handlers())
TOOLS = Tools(CHAT, HashingEmbedder())
BENCHMARK = AMemGym()


@dataclass(frozen=True)
class PlayResult:
    said: list[TranscriptMessage]
    entries: list[Entry]
    replies: list[Reply]

    def values(self, domain: Domain, probes: Sequence[Probe]) -> dict[tuple[str, str], float | None]:
        rows = make_verdicts(domain, probes, self.replies)
        return {(row.probe_id, row.metric): row.value for row in rows}


def play_memory(made, domain: Domain, turns: Sequence[Turn], memory: str, chat: Chat = CHAT) -> PlayResult:
    factory = memory_factory(memory, TOOLS)

    async def walk() -> tuple[list[PlayedEpisode], list[Reply]]:
        episodes = BENCHMARK.episodes(domain, made.states, turns, [], chat)
        played = await play_all(episodes, factory, BENCHMARK.replier(domain, chat))
        rows = entry_rows("d", memory, played), transcript_rows("d", memory, played)
        pasts = episode_histories(*rows, made.probes)
        return played, await answer_all(BENCHMARK, domain, memory, made.probes, pasts, factory, CHAT)

    played, replies = asyncio.run(walk())
    return PlayResult(transcript_rows("d", memory, played), entry_rows("d", memory, played), replies)


def recorded(said: Sequence[TranscriptMessage], **made: Any) -> str:
    about = {
        "benchmark": "amemgym",
        "domain": "amemgym_demo",
        "assistant": "full",
        "model": "scripted",
        "fingerprint": "f",
        "simulator": "s",
        "scripted": True,
        "run": "r",
        "sources": [Source(dataset="personas_sample", sha256=["0"], licence="ours", origin="memflow")],
    }
    return recording_text(RecordedRun(**{**about, **made}), said)


def off(made) -> Domain:
    return replace(
        made.domain,
        datasets=(*made.domain.datasets, RUN.name),
        parameters={**made.domain.parameters, "policy": "off"},
    )


def as_records(folder: Path, text: str) -> list[Record]:
    (folder / "run.jsonl").write_text(text, encoding="utf-8", newline="\n")
    return BENCHMARK.records(RUN, {"run.jsonl": folder / "run.jsonl"})


def given(made, run: Sequence[Record], domain: Domain | None = None) -> list[Turn]:
    records = [*made.records, *run]
    return asyncio.run(BENCHMARK.turns(domain or off(made), records, made.states, CHAT))


@pytest.fixture(scope="module")
def on(demo) -> Callable[[str], PlayResult]:
    kept: dict[str, PlayResult] = {}

    def lived(memory: str) -> PlayResult:
        return kept.setdefault(memory, play_memory(demo, demo.domain, demo.turns, memory))

    return lived


@pytest.mark.parametrize("memory", MEMORIES)
def test_off_policy_replay_reproduces_memory_entries_and_scores_of_recorded_run(demo, on, tmp_path, memory):
    played = on(memory)
    domain = off(demo)
    again = play_memory(demo, domain, given(demo, as_records(tmp_path, recorded(played.said))), memory)
    assert again.entries == played.entries
    assert again.values(domain, demo.probes) == played.values(demo.domain, demo.probes)
    assert {row.origin for row in again.said} == {"given"}
    made_by = {"origin": "given", "completion": None}
    assert again.said == [replace(row, **made_by) for row in played.said]
    assert recorded(again.said) == recorded(played.said)


def test_off_policy_domain_gives_every_memory_the_same_dialogues(demo, on, tmp_path):
    turns = given(demo, as_records(tmp_path, recorded(on("full").said)))
    files = {
        recorded(play_memory(demo, off(demo), turns, memory).said) for memory in ("awi", "mem0", "recent")
    }
    assert files == {recorded(on("full").said)}


def test_off_policy_domain_keeps_probes_and_sends_no_model_request_while_playing(demo, on, tmp_path):
    run = as_records(tmp_path, recorded(on("full").said))
    domain, turns = off(demo), given(demo, run)
    probes = asyncio.run(
        BENCHMARK.probes(domain, [*demo.records, *run], demo.states, turns, CHAT),
    )
    assert probes == demo.probes
    assert BENCHMARK.replier(domain, CHAT) is None
    assert BENCHMARK.simulator_stages(domain) == {"state", "utterance", "question"}
    assert BENCHMARK.simulator_stages(find_domain("amemgym_base_offpolicy")) == frozenset()
    assert BENCHMARK.simulator_stages(demo.domain) - BENCHMARK.simulator_stages(domain) == {"memory"}

    class Nobody(ScriptedChat):
        async def complete(self, request):
            raise AssertionError(f"{request.prompt} was asked")

    play_memory(demo, domain, turns, "bm25_message", Nobody({}))


def test_off_policy_replay_omits_failed_replies_of_recorded_session(demo, tmp_path):
    class Refusing(ScriptedChat):
        count = 0

        async def complete(self, request):
            if "reply" in request.prompt:
                self.count += 1
                if self.count % 4 == 0:
                    raise RequestRefused("too long")
            return await super().complete(request)

    played = play_memory(demo, demo.domain, demo.turns, "bm25_message", Refusing(handlers()))
    lost = [row for row in played.said if row.reason is not None]
    assert {row.position for row in lost} == {1, 3}
    again = play_memory(
        demo, off(demo), given(demo, as_records(tmp_path, recorded(played.said))), "bm25_message"
    )
    assert again.entries == played.entries
    assert [row.message_id for row in again.said] == [
        row.message_id for row in played.said if row.reason is None
    ]


def test_off_policy_domain_rejects_recorded_run_of_other_users(demo, on, tmp_path):
    said = [replace(row, episode_id=f"x{row.episode_id}") for row in on("full").said]
    with pytest.raises(BadInput, match=r"my_run: the run of 3 users has no dialogue of user nora"):
        given(demo, as_records(tmp_path, recorded(said)))


def test_off_policy_domain_rejects_recorded_run_with_other_first_messages(demo, on, tmp_path):
    said = [replace(row, text=row.text.replace("my", "our")) for row in on("full").said]
    wrong = r"user .*, period 0, session \d+: the recorded session starts with .*but the user's session starts with"
    with pytest.raises(BadInput, match=wrong):
        given(demo, as_records(tmp_path, recorded(said)))


@pytest.mark.parametrize(
    ("keep", "wrong"),
    [
        (lambda row, user: row.episode_id != user, "the run of 2 users has no dialogue of user .* period 0"),
        (lambda row, user: row.checkpoint != 2, "no dialogue of user .* in period 2"),
        (lambda row, user: row.event != 0, r"period 0: the run has \d+ sessions, but the domain has \d+"),
        (
            lambda row, user: not (row.checkpoint == 1 and row.position == 3),
            "period 1, session 0: the recorded session has 3 messages, but the domain's rounds need 4",
        ),
        (
            lambda row, user: not (row.checkpoint == 1 and row.position == 1),
            "period 1, session 0: message 1 has the role user instead of assistant",
        ),
    ],
)
def test_off_policy_domain_rejects_incomplete_recorded_run(demo, on, tmp_path, keep, wrong):
    user = on("full").said[0].episode_id
    said = [row for row in on("full").said if keep(row, user)]
    with pytest.raises(BadInput, match=wrong):
        given(demo, as_records(tmp_path, recorded(said)))


def test_domain_is_rejected_if_policy_does_not_match_its_data_sets(demo, on, tmp_path):
    run = as_records(tmp_path, recorded(on("full").said))
    other = [replace(record, dataset="another_run") for record in run]
    with pytest.raises(BadInput, match="is on-policy, but its data set my_run is a recorded run"):
        asyncio.run(BENCHMARK.states(demo.domain, [*demo.records, *run], CHAT))
    with pytest.raises(BadInput, match=r"none of its data sets .* is a recorded run"):
        given(demo, [])
    with pytest.raises(BadInput, match=r"has 2 recorded runs \(my_run, another_run\)"):
        given(demo, [*run, *other])
    with pytest.raises(BadInput, match=r"none of its data sets .* contains users"):
        asyncio.run(BENCHMARK.states(off(demo), run, CHAT))


def test_reader_rejects_recorded_run_of_another_benchmark(on, tmp_path):
    text = recorded(on("full").said, benchmark="memorybench")
    with pytest.raises(BadInput, match="the run was recorded with the benchmark memorybench, not amemgym"):
        as_records(tmp_path, text)


# The published code's form: <user>/interactions/period_XX.json, a list of sessions of {role, content}.


def published(said: Sequence[TranscriptMessage]) -> dict[str, list[list[dict[str, str]]]]:
    files: dict[str, dict[int, list[dict[str, str]]]] = {}
    for row in said:
        name = f"runs/{row.episode_id}/interactions/period_{row.checkpoint:02d}.json"
        sessions = files.setdefault(name, {})
        sessions.setdefault(row.event, []).append({"role": row.role, "content": row.text})
    return {name: [*sessions.values()] for name, sessions in files.items()}


def published_records(folder: Path, files: dict[str, Any]) -> list[Record]:
    paths = {}
    for name, content in files.items():
        path = paths[name] = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return read_records(replace(RUN, files=tuple(files)), paths)


def test_published_run_files_and_memflow_run_file_give_same_dialogues(demo, on, tmp_path):
    said = on("rag_2_4_30").said
    theirs = given(demo, published_records(tmp_path, published(said)))
    assert theirs == given(demo, as_records(tmp_path, recorded(said)))
    assert play_memory(demo, off(demo), theirs, "rag_2_4_30").entries == on("rag_2_4_30").entries


@pytest.mark.parametrize(
    ("spoil", "wrong"),
    [
        (put(None, 1, 1, "content"), "session 1, message 1, content: Field required"),
        (
            put("system", 0, 2, "role"),
            "session 0, message 2, role: Input should be 'user' or 'assistant'",
        ),
        (put("", 0, 1, "content"), "session 0, message 1, content: String should have at least 1"),
    ],
)
def test_damaged_published_run_file_removes_only_the_turns_of_its_period(demo, on, tmp_path, spoil, wrong):
    files = copy.deepcopy(published(on("full").said))
    valid = given(demo, published_records(tmp_path, files))
    name = next(name for name in files if name.endswith("period_01.json"))
    spoil(files[name])
    found = given(demo, published_records(tmp_path, files))
    lost = [turn for turn in found if turn.reason is not None]
    places = {(turn.episode_id, turn.checkpoint) for turn in lost}
    assert len(places) == 1 and name.split("/")[1] in str(places) and {period for _, period in places} == {1}
    assert all(wrong in turn.reason and "period_01.json" in turn.reason for turn in lost)
    kept = [turn for turn in valid if (turn.episode_id, turn.checkpoint) not in places]
    assert [turn for turn in found if turn.reason is None] == kept

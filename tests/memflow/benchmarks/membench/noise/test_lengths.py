"""Domains lengthened by noise: selection of the noise, and unchanged evidence."""

import asyncio
import json
from dataclasses import replace

import factories
from membench_files import question

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.checks import EXPECTED
from memflow.benchmarks.registry import find_domain
from memflow.chat.scripted import ScriptedChat
from memflow.checks.evaluation import check_rows
from memflow.records import Probe, Record, Turn
from memflow.tokens import estimate

DOMAIN = replace(find_domain("membench_memdaily_10k"), name="longer")


def record(record_id: str, content: object) -> Record:
    text = json.dumps(content, ensure_ascii=False)
    return factories.record(dataset=DOMAIN.datasets[0], record_id=record_id, source="ours.json", content=text)


def trajectory(number: int) -> Record:
    time = "2024年04月01日 周一 08:39"
    said = ["我的姑姑住在桐城。", "我的姑姑会吹笛子。", "我的同事住在兰溪。"]
    choices = {"A": "兰溪", "B": "桐城", "C": "歙县", "D": "婺源"}
    asked = question([0], question="我的姑姑住在哪里？", answer="桐城", choices=choices, time=time)
    messages = [{"mid": at, "message": text, "time": time, "place": "桐城"} for at, text in enumerate(said)]
    raw = {"tid": number, "message_list": messages, "question_list": [asked]}
    return record(f"observation/simple/roles/{number}", raw)


def generated(domain: Domain, records: list[Record]) -> tuple[list[Turn], list[Probe]]:
    benchmark, chat, states = MemBench(), ScriptedChat({}), States([])

    async def generate() -> tuple[list[Turn], list[Probe]]:
        turns = await benchmark.turns(domain, records, states, chat)
        return turns, await benchmark.probes(domain, records, states, turns, chat)

    return asyncio.run(generate())


def test_trajectories_with_noise_reach_length_and_keep_evidence() -> None:
    turns, probes = generated(DOMAIN, [trajectory(number) for number in range(3)])
    assert [probe.reason for probe in probes] == [None] * 3
    for probe in probes:
        messages_of_episode = [turn for turn in turns if turn.episode_id == probe.episode_id]
        assert 10_000 <= sum(estimate(turn.text) for turn in messages_of_episode) < 10_000 + 200
        [evidence] = [turn for turn in messages_of_episode if turn.message_id in probe.evidence]
        assert evidence.text.startswith("我的姑姑住在桐城。")
    world = {"utterance.turns": turns, "question.probes": probes, "state.entities": []}
    for table in ("utterance.turns", "question.probes"):
        expected = [each for each in EXPECTED if each.table == table]
        for outcome in check_rows(table, world[table], expected, world.__getitem__, DOMAIN):
            assert outcome.passed, outcome

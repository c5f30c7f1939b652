"""The seven domains on the available published files, up to the answers of a scripted assistant."""

import os

import pytest

from memflow.benchmarks.api import States
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.registry import find_domain
from memflow.chat.asking import ask
from memflow.chat.scripted import ScriptedChat
from memflow.memories.memory import Recall
from memflow.resources.data.library import Library

SEVEN = [f"memorybench_{part}" for part in ("open", "legal", "academic", "liso", "silo", "lilo", "siso")]


@pytest.mark.parametrize("name", SEVEN)
async def test_published_domain_gives_unique_probes_with_answers_and_hidden_gold(name: str) -> None:
    if not os.environ.get("MEMFLOW_DATA"):
        pytest.skip("set MEMFLOW_DATA to the data folder")
    bench, library, domain = MemoryBench(), Library(os.environ["MEMFLOW_DATA"]), find_domain(name)
    chat = ScriptedChat(bench.handlers())
    found, _ = library.datasets_of(domain)
    records = [row for each in found for row in bench.records(each, library.paths(each))]
    states = await bench.states(domain, records, chat)
    assert states == States([], [], [])
    turns = await bench.turns(domain, records, states, chat)
    probes = await bench.probes(domain, records, states, turns, chat)
    assert len({probe.probe_id for probe in probes}) == len(probes)
    assert len({turn.message_id for turn in turns}) == len(turns)
    assert {probe.dataset for probe in probes} <= {each.name for each in found}
    for dataset in {probe.dataset for probe in probes}:
        test, train = (
            sum(probe.dataset == dataset and probe.split == part for probe in probes)
            for part in ("test", "train")
        )
        assert 0 < train <= 4 * test, "four to one, and test is rounded up"
    for probe in probes[:: len(probes) // 20]:
        question = bench.question(domain, probe, Recall(notes="Nothing of note."), None)
        answered = await ask(chat, question.prompt, question.fields)
        assert answered.reason is None and answered.value
        said = "\n".join(message.content for message in question.prompt.render(question.fields))
        assert probe.question.strip() in said
        # A gold of a word or two may stand in the prompt's own words ("two people").
        assert probe.options or len(probe.gold) < 20 or probe.gold not in said

"""The generated rows of small retraction domains."""

from typing import NamedTuple

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.retraction.datasets import WORDS
from memflow.benchmarks.retraction.load import read_records
from memflow.benchmarks.retraction.probes import make_probes
from memflow.benchmarks.retraction.turns import make_turns
from memflow.chat.scripted import ScriptedChat
from memflow.concurrency import run_coroutine
from memflow.records import Probe, Record, Turn
from memflow.resources.data.library import Library


class Generated(NamedTuple):
    """The rows of a domain."""

    domain: Domain
    records: list[Record]
    turns: list[Turn]
    probes: list[Probe]


def generate(**parameters) -> Generated:
    domain = Domain("retraction_test", "retraction", (WORDS.name,), "Test", parameters)
    records = read_records(WORDS, Library(None).paths(WORDS.name))
    chat = ScriptedChat(registry.benchmark("retraction").handlers())
    turns = run_coroutine(make_turns(domain, records, chat))
    return Generated(domain, records, turns, make_probes(domain, records, turns))


@pytest.fixture(scope="session", params=["en", "zh"])
def generated(request) -> Generated:
    """Four users in one language, of whom the last takes back everything."""
    return generate(languages=(request.param,), users=4)

"""The generated rows of small retraction domains."""

from typing import NamedTuple

import pytest

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_dataset
from memflow.benchmarks.retraction.load import read_records
from memflow.benchmarks.retraction.probes import make_probes
from memflow.benchmarks.retraction.turns import make_turns
from memflow.records import Probe, Record, Turn
from memflow.resources.data.library import Library


class Generated(NamedTuple):
    """The rows of a domain."""

    domain: Domain
    records: list[Record]
    turns: list[Turn]
    probes: list[Probe]


def generate(**parameters) -> Generated:
    words = find_dataset("retraction_words")
    domain = Domain("retraction_test", "retraction", (words.name,), "Test", parameters)
    records = read_records(words, Library(None).paths(words.name))
    turns = make_turns(domain, records)
    return Generated(domain, records, turns, make_probes(domain, records, turns))


@pytest.fixture(scope="session", params=["en", "zh"])
def generated(request) -> Generated:
    """Four users in one language, of whom the last takes back everything."""
    return generate(languages=(request.param,), users=4)

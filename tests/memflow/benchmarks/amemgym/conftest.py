"""Fixtures: a small generated domain with the scripted chat, and the published users if their file exists."""

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import memflow
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.chat.scripted import ScriptedChat
from memflow.records import Probe, Record, Turn


@dataclass(frozen=True)
class Made:
    domain: Domain
    records: list[Record]
    states: States
    turns: list[Turn]
    probes: list[Probe]

    def of_kind(self, kind: str) -> list[Probe]:
        return [probe for probe in self.probes if probe.kind == kind]


def make(domain: Domain, folder: Path, states: States | None = None) -> Made:
    """Build the rows up to the probes, with the scripted chat as simulator; those of the states may be given."""
    benchmark = AMemGym()
    chat = ScriptedChat(benchmark.handlers())
    published = find_dataset(domain.datasets[0])
    records = benchmark.records(published, {name: folder / name for name in published.files})

    async def walk() -> Made:
        found = states or await benchmark.states(domain, records, chat)
        turns = await benchmark.turns(domain, records, found, chat)
        probes = await benchmark.probes(domain, records, found, turns, chat)
        return Made(domain, records, found, turns, probes)

    return asyncio.run(walk())


@pytest.fixture(scope="session")
def package() -> Path:
    return Path(memflow.__file__).parent


@pytest.fixture(scope="session")
def making() -> Callable[..., Made]:
    return make


def sized(name: str = "amemgym_demo", **parameters: Any) -> Domain:
    """Return a demo domain with fewer users and more periods than it has, which the tests count on."""
    domain = find_domain(name)
    sizes = {"users": 3, "periods": 4, "questions": 4, "changes_per_period": 3, "rounds_update": 2}
    return replace(domain, parameters={**domain.parameters, **sizes, **parameters})


@pytest.fixture(scope="session")
def demo(package) -> Made:
    return make(sized(), package)


@pytest.fixture(scope="session")
def demo_by_variable(package) -> Made:
    """The same users, whose state probes ask for one variable each."""
    return make(sized(state_probes="variable"), package)


@pytest.fixture(scope="session")
def data() -> Path:
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder:
        pytest.skip("MEMFLOW_DATA is not set: it names the folder of the published files")
    if not (Path(folder) / "amemgym/v1.base/data.json").is_file():
        pytest.skip(f"amemgym/v1.base/data.json is not below {folder}")
    return Path(folder)


@pytest.fixture(scope="session")
def base(data) -> Made:
    return make(find_domain("amemgym_base"), data)


@pytest.fixture(scope="session")
def read_back(tmp_path_factory) -> Callable[..., Made]:
    """Reads users in the published format, as a domain with these parameters: `read_back(users, domain)`."""

    def read(users: list[dict[str, Any]], domain: Domain) -> Made:
        folder = tmp_path_factory.mktemp("written")
        path = folder / find_dataset("amemgym_v1_base").files[0]
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(users, ensure_ascii=False), encoding="utf-8")
        parameters = {name: value for name, value in domain.parameters.items() if name != "users"}
        return make(replace(domain, datasets=("amemgym_v1_base",), parameters=parameters), folder)

    return read

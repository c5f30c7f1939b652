"""`memflow export users`: a domain's users in the published format, and what cannot be written."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import dataset
from memflow.chat.scripted import ScriptedChat
from resources.lake import Lake
from resources.library import Library
from resources.settings import load

DOMAIN = "amemgym_demo"


@pytest.fixture
def users(empty):
    """A home with the demo's users in its lake, made by the scripted chat."""
    settings = load(over={"home": empty.folder})
    domain, lake = settings.domain(DOMAIN), Lake(settings.lake_root)
    benchmark = registry.benchmark(domain.benchmark)
    chat = ScriptedChat(benchmark.handlers())
    [source] = domain.datasets
    records = benchmark.records(dataset(source), Library(None).paths(dataset(source)))

    async def walk():
        states = await benchmark.states(domain, records, chat)
        turns = await benchmark.turns(domain, records, states, chat)
        return states, turns, await benchmark.probes(domain, records, states, turns, chat)

    states, turns, probes = asyncio.run(walk())
    for table, rows in (
        ("state.profiles", states.profiles),
        ("state.variables", states.variables),
        ("state.changes", states.changes),
        ("utterance.turns", turns),
        ("question.probes", probes),
    ):
        lake.write(table, DOMAIN, rows, fingerprint="test")
    return empty, lake


def test_users_are_written_and_read_as_a_data_set_of_ones_own(users) -> None:
    home, lake = users
    said = json.loads(home("export", "users", DOMAIN, "users.json", "--format", "json").stdout)
    assert {name: said[name] for name in ("users", "periods", "questions", "left_out")} == {
        "users": 3,
        "periods": 12,
        "questions": 12,
        "left_out": [],
    }
    assert not Path("users.json.part").exists()
    Path("memflow.toml").write_text(
        f'[own_datasets.mine]\nbenchmark = "amemgym"\nfiles = ["{Path("users.json").absolute()}"]\n',
        encoding="utf-8",
    )
    mine = load().datasets["mine"]
    records = registry.benchmark("amemgym").records(mine, Library(None).paths(mine))
    assert [record.record_id for record in records] == [
        row.user_id for row in lake.read("state.profiles", DOMAIN)
    ]


def test_a_file_that_is_there_is_left_alone(users) -> None:
    home, _ = users
    Path("users.json").write_text("mine", encoding="utf-8")
    refused = home("export", "users", DOMAIN, "users.json")
    assert refused.exit_code == 1 and "--force overwrites it" in refused.stderr
    assert Path("users.json").read_text(encoding="utf-8") == "mine"
    assert home("export", "users", DOMAIN, "users.json", "--force").exit_code == 0
    assert len(json.loads(Path("users.json").read_text(encoding="utf-8"))) == 3


def test_what_is_left_out_is_named(users) -> None:
    home, lake = users
    first, *rest = lake.read("utterance.turns", DOMAIN)
    lake.write(
        "utterance.turns", DOMAIN, [replace(first, reason="it tells nothing"), *rest], fingerprint="test"
    )
    result = home("export", "users", DOMAIN, "users.json")
    assert "Left out" in result.stdout and "it tells nothing" in result.stdout
    assert first.episode_id not in [
        user["id"] for user in json.loads(Path("users.json").read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(
    ("domain", "file", "why"),
    [
        ("memorybench_demo", "users.json", "is for domains of AMemGym"),
        ("amemgym_other", "users.json", "no domain 'amemgym_other'"),
        ("amemgym_base", "users.json", "Materialize the asset state/profiles"),
        (DOMAIN, "nowhere/users.json", "cannot be written"),
    ],
)
def test_what_cannot_be_written_says_why(users, domain, file, why) -> None:
    result = users[0]("export", "users", domain, file)
    assert result.exit_code == 1
    assert why in result.stderr


def test_no_user_is_no_file(users) -> None:
    home, lake = users
    lost = [replace(row, reason="no usable answer") for row in lake.read("state.profiles", DOMAIN)]
    lake.write("state.profiles", DOMAIN, lost, fingerprint="test")
    result = home("export", "users", DOMAIN, "users.json")
    assert (
        result.exit_code == 1 and "no user of amemgym_demo can be written: no usable answer" in result.stderr
    )
    assert not Path("users.json").exists()

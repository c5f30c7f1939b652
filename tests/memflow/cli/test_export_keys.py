"""`memflow export keys`: a domain's keys as a file, which a domain of one's own imports."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import dataset
from memflow.chat.scripted import LABEL, ScriptedChat
from resources.lake import Lake
from resources.library import Library
from resources.settings import load

DOMAIN = "comem_demo"


@pytest.fixture
def lake(empty):
    """A home with the demo's contexts and keys in its lake."""
    settings = load(over={"home": empty.folder})
    domain, held = settings.domain(DOMAIN), Lake(settings.lake_root)
    benchmark = registry.benchmark(domain.benchmark)
    [source] = domain.datasets
    records = benchmark.records(dataset(source), Library(None).paths(dataset(source)))
    held.write("raw.records", source, records, fingerprint="test")
    held.write(
        "question.keys",
        DOMAIN,
        asyncio.run(benchmark.gold_labels(domain, records, [], None)),
        fingerprint="test",
    )
    return held


def test_keys_are_written_and_imported_by_a_domain_of_ones_own(empty, lake) -> None:
    result = empty("export", "keys", DOMAIN, "keys.jsonl", "--format", "json")
    assert json.loads(result.stdout) == {
        "file": str(Path("keys.jsonl").absolute()),
        "questions": 22,
        "left_out": {},
    }
    Path("memflow.toml").write_text(
        '[own_datasets.my_keys]\nbenchmark = "comem"\n'
        f'files = ["{Path("keys.jsonl").absolute()}"]\n'
        f'[own_domains.mine]\nbenchmark = "comem"\ndatasets = ["comem_sample", "my_keys"]\n'
        'parameters = { keys = "imported" }\n',
        encoding="utf-8",
    )
    settings = load()
    domain, library = settings.domain("mine"), Library(None)
    benchmark = registry.benchmark("comem")
    known = settings.datasets
    records = [
        row for name in domain.datasets for row in benchmark.records(known[name], library.paths(known[name]))
    ]
    keys = asyncio.run(benchmark.gold_labels(domain, records, [], None))
    assert [(key.question_id, key.checkpoint, key.visible, key.answer) for key in keys] == [
        (key.question_id, key.checkpoint, key.visible, key.answer)
        for key in lake.read("question.keys", DOMAIN)
    ]


def test_a_scripted_hand_is_called_so_and_what_is_left_out_is_told(empty, lake) -> None:
    settings = load(over={"home": empty.folder})
    scripted = ScriptedChat({}, name=settings.model("scripted").fingerprint()).fingerprint
    keys = lake.read("question.keys", DOMAIN)
    first = keys[0].question_id
    keys = [
        replace(key, model=scripted, made_by="verifier", dropped="gone" if key.question_id == first else None)
        for key in keys
    ]
    lake.write("question.keys", DOMAIN, keys, fingerprint="test")
    result = empty("export", "keys", DOMAIN, "keys.jsonl")
    assert "the gold labels of 21 questions of comem_demo" in result.stdout
    assert "gone" in result.stdout
    line = json.loads(Path("keys.jsonl").read_text(encoding="utf-8").splitlines()[1])
    assert line["keys"][0]["grounds"] == [{"hand": "verifier", "model": LABEL}]
    again = empty("export", "keys", DOMAIN, "keys.jsonl")
    assert again.exit_code == 1 and "keys.jsonl exists; --force overwrites it" in again.stderr


@pytest.mark.parametrize(
    ("domain", "why"),
    [
        ("amemgym_demo", "is for domains of CoMem"),
        ("comem_other", "no domain 'comem_other'"),
        ("comem_amemgym", "Materialize the asset question/keys"),
    ],
)
def test_what_cannot_be_written_says_why(empty, domain, why) -> None:
    result = empty("export", "keys", domain, "keys.jsonl")
    assert result.exit_code == 1
    assert why in result.stderr

"""`memflow export keys`: a domain's gold labels as a file, which another domain imports."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from generated import generate

from memflow.benchmarks import registry
from memflow.chat.scripted import LABEL, ScriptedChat
from memflow.resources.data.library import Library
from memflow.resources.settings.settings import load

DOMAIN = "comem_demo"


@pytest.fixture
def labeled(empty):
    """Return a home with the demo's contexts and gold labels."""
    demo = generate(DOMAIN)
    [source] = demo.domain.datasets
    empty.write("raw.records", source, demo.rows("raw.records"))
    empty.write("question.keys", DOMAIN, demo.rows("question.keys"))
    return empty


def test_exported_gold_labels_can_be_imported_by_another_domain(labeled) -> None:
    file = Path("keys.jsonl").absolute()
    exported = labeled.json("export", "keys", DOMAIN, file.name)
    assert exported == {"file": str(file), "questions": 22, "left_out": {}}
    Path("memflow.toml").write_text(
        f'[own_datasets.my_keys]\nbenchmark = "comem"\nfiles = ["{file}"]\n'
        '[own_domains.mine]\nbenchmark = "comem"\ndatasets = ["comem_sample", "my_keys"]\n'
        'parameters = { keys = "imported" }\n',
        encoding="utf-8",
    )
    settings, benchmark, library = load(), registry.benchmark("comem"), Library(None)
    domain = settings.domain("mine")
    datasets = [settings.datasets[name] for name in domain.datasets]
    records = [row for each in datasets for row in benchmark.records(each, library.paths(each))]
    imported, stored = (
        [(label.question_id, label.checkpoint, label.visible, label.answer) for label in labels]
        for labels in (
            asyncio.run(benchmark.gold_labels(domain, records, [], None)),
            labeled.lake.read("question.keys", DOMAIN),
        )
    )
    assert imported == stored


def test_export_of_labels_names_the_scripted_model_and_dropped_questions(labeled) -> None:
    model = load(over={"home": labeled.folder}).model("scripted")
    scripted = ScriptedChat({}, name=model.fingerprint()).fingerprint
    labels = [
        replace(label, model=scripted, made_by="verifier")
        for label in labeled.lake.read("question.keys", DOMAIN)
    ]
    first = labels[0].question_id
    dropped = [replace(label, dropped="gone" if label.question_id == first else None) for label in labels]
    labeled.write("question.keys", DOMAIN, dropped)
    shown = labeled("export", "keys", DOMAIN, "keys.jsonl").stdout
    assert "the gold labels of 21 questions of comem_demo" in shown and "gone" in shown
    line = json.loads(Path("keys.jsonl").read_text(encoding="utf-8").splitlines()[1])
    assert line["keys"][0]["grounds"] == [{"hand": "verifier", "model": LABEL}]


@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        ("amemgym_demo", "only supports domains of CoMem"),
        ("comem_other", "no domain 'comem_other'"),
        ("comem_amemgym", "Materialize the asset question/keys"),
    ],
)
def test_export_of_labels_reports_why_a_domain_cannot_be_exported(empty, domain, reason) -> None:
    assert reason in empty.error("export", "keys", domain, "keys.jsonl")

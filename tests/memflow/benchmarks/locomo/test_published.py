"""LoCoMo's published file and the published answers of three systems, where MEMFLOW_DATA has them.

The published tables are those of the systems' own files or publications; nothing here uses memflow's readers to count.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.locomo.benchmark import LoCoMo
from memflow.benchmarks.locomo.config import parse_config
from memflow.benchmarks.locomo.known_errors import known_error, known_errors
from memflow.benchmarks.locomo.load import load_conversations, read_records
from memflow.benchmarks.locomo.probes import make_probes
from memflow.benchmarks.locomo.results_import import import_results
from memflow.benchmarks.locomo.turns import make_turns
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.metrics.overlap import bleu_1, set_f1
from memflow.published_runs.collection import read_run, run_files
from memflow.published_runs.forms import declared_runs
from memflow.records import Probe, Turn
from memflow.resources.data.library import Library

BENCHMARK = LoCoMo()
DATA = Path(os.environ.get("MEMFLOW_DATA", "missing"))
ANSWERS = DATA / "longmemeval"
"""The folder with the published answers."""
pytestmark = pytest.mark.skipif(
    not (DATA / "locomo/locomo10.json").is_file(), reason="needs locomo/locomo10.json in MEMFLOW_DATA"
)
BY_CATEGORY = {"1": 282, "2": 321, "3": 96, "4": 841, "5": 446}
SYSTEMS: dict[str, tuple[str, str, dict[str, int]]] = {
    "locomo_zep.grades.json": (
        "j_2025",
        "75.13",
        {"all": 1_157, "category 1": 209, "category 2": 212, "category 3": 65, "category 4": 671},
    ),
    "locomo_memobase_0503.labels.json": (
        "j_2025",
        "70.91",
        {"all": 1_092, "category 1": 180, "category 2": 258, "category 3": 50, "category 4": 604},
    ),
    "locomo_memobase_0710.labels.json": ("j_2025", "75.78", {"all": 1_167}),
    "locomo_mem0_gpt5.results.json": (
        "j_2026",
        "91.56",
        {"all": 1_410, "category 1": 263, "category 2": 298, "category 3": 73, "category 4": 776},
    ),
}
"""The judge contract of each system's labels, its published J in percent, and the number of correct answers."""


def conversations(name: str) -> tuple[list[Turn], list[Probe]]:
    domain = find_domain(name)
    config = parse_config(domain)
    records = read_records(find_dataset("locomo10"), Library(str(DATA)).paths("locomo10"))
    talks = load_conversations(domain, records)
    return (
        [turn for _, talk in talks for turn in make_turns(domain.name, talk, config)],
        [probe for source, talk in talks for probe in make_probes(domain.name, source, talk, config)],
    )


@pytest.fixture(scope="module")
def published() -> list[Any]:
    return json.loads((DATA / "locomo/locomo10.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def asked() -> list[Probe]:
    return conversations("locomo")[1]


def answers(name: str) -> Path:
    path = ANSWERS / name
    if not path.is_file():
        pytest.skip(f"needs longmemeval/{name} in MEMFLOW_DATA")
    return path


def test_domains_ask_1540_or_1986_questions_of_all_conversations(
    published: list[Any], asked: list[Probe]
) -> None:
    assert Counter(probe.category for probe in asked) == {k: n for k, n in BY_CATEGORY.items() if k != "5"}
    turns, every = conversations("locomo_adversarial")
    assert Counter(probe.category for probe in every) == BY_CATEGORY
    assert not [probe.reason for probe in every if probe.reason]
    assert len({turn.episode_id for turn in turns}) == 10 and len(turns) == 5_882
    captions = sum(
        "blip_caption" in message
        for talk in published
        for name, session in talk["conversation"].items()
        if isinstance(session, list)
        for message in session
    )
    assert sum("[shares an image: " in turn.text for turn in turns) == captions == 1_226
    golds = {probe.probe_id: probe.gold for probe in asked}
    for talk in published:
        for number, question in enumerate(talk["qa"]):
            if question["category"] != 5:
                assert golds[f"{talk['sample_id']}/q{number}"] == str(question["answer"]).strip()


def test_all_156_known_errors_belong_to_published_questions(asked: list[Probe]) -> None:
    kinds = {probe.probe_id: known_error(probe.probe_id, probe.question) for probe in asked}
    found = Counter(kind for kind in kinds.values() if kind)
    assert found == {
        "wrong_citation": 57,
        "hallucination": 33,
        "temporal_error": 26,
        "attribution_error": 24,
        "ambiguous": 13,
        "incomplete": 3,
    }
    assert {name for name in known_errors() if not name.startswith("sample-")} == {
        name for name, kind in kinds.items() if kind
    }
    assert len(conversations("locomo_without_known_errors")[1]) == 1_540 - 99


@pytest.mark.parametrize("name", SYSTEMS)
def test_published_answers_recompute_to_the_published_j(asked: list[Probe], reader, name: str) -> None:
    contract, published, correct = SYSTEMS[name]
    domain = find_domain("locomo")
    results = import_results(reader(asked), domain, answers(name))
    assert results.faults == []
    assert all(reply.reason is None for reply in results.replies) and len(results.replies) == 1_540
    scores = {
        (score.metric, score.variant, score.slice): score
        for score in BENCHMARK.scores(
            domain,
            AssistantResults(
                domain.name, results.assistant, "m", results.model, asked, results.verdicts, (), (), "", False
            ),
        )
    }
    counts = {"all": 1_540, **{f"category {number}": BY_CATEGORY[number] for number in "1234"}}
    for part, right in correct.items():
        score = scores[contract, "unlabeled_as_wrong", part]
        assert score.n == counts[part] and score.value == pytest.approx(right / counts[part], abs=1e-12), part
    overall = scores[contract, "unlabeled_as_wrong", "all"]
    assert f"{100 * overall.value:.2f}" == published
    assert overall.low < overall.value < overall.high and overall.n_episodes == 10
    unlabeled = sum(row.value is None for row in results.verdicts if row.variant == "standard")
    assert unlabeled == (1 if contract == "j_2026" else 0), "the file of 2026 has one answer without a label"
    without = scores[contract, "standard", "without known errors"]
    assert without.value > scores[contract, "standard", "all"].value
    ceilings = [scores["key_ceiling", "standard", each].value for each in counts]
    assert [round(100 * each, 2) for each in ceilings] == [93.57, 90.07, 91.90, 90.62, 95.72]


RUNS = {
    run.form: run
    for run in declared_runs()
    if run.benchmark == "locomo" and (DATA / "published_runs" / run.folder).is_dir()
}
"""A declared run of each form."""


@pytest.mark.parametrize("form", RUNS)
def test_published_run_of_each_form_is_imported_with_the_labels_of_the_declared_run(
    asked: list[Probe], reader, form: str
) -> None:
    run, folder = RUNS[form], DATA / "published_runs" / RUNS[form].folder
    pattern = run.files[0] if "*" in run.files[0] else run_files(DATA / "published_runs", run)[0].name
    results = import_results(reader(asked), find_domain("locomo"), folder / pattern)
    labels = {
        row.probe_id: row.value
        for row in results.verdicts
        if row.metric.startswith("j_") and row.variant == "standard" and row.value is not None
    }
    answers = [row for row in read_run(DATA / "published_runs", run).answers if row.category != "5"]
    if form == "acb":  # the file states no positions
        assert len(labels) == 1_540 and sum(labels.values()) == 1_230
    else:
        assert labels == {row.question_id: row.label for row in answers if row.label is not None}
    assert not [fault for fault in results.faults if " is not that " in fault]
    with_context = {row.question_id for row in answers if row.texts or row.messages or row.sessions}
    recalled = {reply.probe_id: reply.recalled_sources for reply in results.replies if reply.recalled}
    assert recalled.keys() == with_context
    evidence = {probe.probe_id: probe.evidence for probe in asked}
    known = [row for row in results.attributions if row.recalled is not None]
    for row in known:
        assert row.recalled == len({*evidence[row.probe_id]} & {*recalled[row.probe_id]})
    assert bool(known) == any(row.messages or row.sessions for row in answers)


def test_published_f1_values_are_equal_and_bleu_differs_for_8_answers() -> None:
    path = answers("locomo_memobase_0503.labels.json")
    rows = [row for talk in json.loads(path.read_text(encoding="utf-8")).values() for row in talk]
    assert len(rows) == 1_540
    assert all(abs(set_f1(row["response"], row["answer"]) - row["f1_score"]) < 1e-12 for row in rows)
    differences = [abs(bleu_1(row["response"], row["answer"]) - row["bleu_score"]) for row in rows]
    assert sum(each > 1e-12 for each in differences) == 8 and max(differences) < 0.21
    mean = sum(row["bleu_score"] for row in rows) / len(rows)
    assert sum(bleu_1(row["response"], row["answer"]) for row in rows) / len(rows) == pytest.approx(
        mean, abs=5e-4
    )

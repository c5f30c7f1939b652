"""The values of declared runs recomputed from their files, where MEMFLOW_DATA has them.

The expected values (counted.toml) were counted by other code than memflow's readers.
"""

import os
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from memflow.published_runs.collection import read_run
from memflow.published_runs.forms import declared_runs
from memflow.published_runs.layouts import layout_of
from memflow.published_runs.rows import DeclaredRun, PublishedAnswer, PublishedRun

FOLDER = Path(os.environ.get("MEMFLOW_DATA", "missing")) / "published_runs"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs published_runs in MEMFLOW_DATA")

COUNTED = tomllib.loads((Path(__file__).parent / "counted.toml").read_text(encoding="utf-8"))
LABELS, MEANS = COUNTED["labels"], COUNTED["means"]

RUNS = {run.id: run for run in declared_runs()}


@cache
def read(name: str) -> PublishedRun:
    return read_run(FOLDER, RUNS[name])


def scored(run: DeclaredRun) -> list[PublishedAnswer]:
    layout = layout_of(run.benchmark)
    return [row for row in read(run.id).answers if layout is None or row.category != layout.category_apart]


def faults(name: str) -> str:
    return "\n".join(read(name).faults)


@pytest.mark.parametrize("run", declared_runs(), ids=lambda run: run.id)
def test_labels_of_each_declared_run_give_the_value_that_was_counted_independently(run: DeclaredRun) -> None:
    labels = [row.label for row in scored(run) if row.label is not None]
    right, questions = LABELS.get(run.id, (0, len(scored(run))))
    assert (sum(labels), len(scored(run))) == (right, questions)
    unlabeled = {"mem0_platform-locomo-top200": 1, "mem0_platform-locomo-top50": 1}.get(run.id, 0)
    assert len(labels) == (questions - unlabeled if run.id in LABELS else 0)
    assert not [row for row in read(run.id).answers if row.label is None and not row.label_reason]


@pytest.mark.parametrize("value", MEANS)
def test_recorded_values_have_the_mean_that_was_counted_independently(value: str) -> None:
    name, metric = value.split("/")
    answers = scored(RUNS[name])
    values = [
        sum(row.votes) / len(row.votes) if metric == "votes" else row.metrics[metric]
        for row in answers
        if metric in row.metrics or (metric == "votes" and row.votes)
    ]
    assert [round(sum(values) / len(values), 4), len(values)] == MEANS[value]


@pytest.mark.parametrize(
    ("name", "turns", "recall"),
    [
        ("letta-locomo-k1", 1_982, 0.3112),
        ("letta-locomo-k5", 1_982, 0.5998),
        ("letta-longmemeval_oracle-k5", 479, 0.8022),
        ("letta-longmemeval_oracle-k10", 479, 0.9281),
    ],
)
def test_retrieved_ids_give_the_published_recall_of_messages(name: str, turns: int, recall: float) -> None:
    recalls = [
        share(row.recorded_evidence, row.messages) for row in read(name).answers if row.recorded_evidence
    ]
    assert (len(recalls), round(sum(recalls) / len(recalls), 4)) == (turns, recall)


def share(evidence: Sequence[str], messages: Sequence[str]) -> float:
    return len({*evidence} & {*messages}) / len({*evidence})


def test_damages_of_the_published_files_are_faults() -> None:
    assert "line 1987: not JSON" in faults("letta-locomo-k1")
    assert "502 rows repeat a question" in faults("letta-locomo-k1")
    assert "500 rows have no answer, but another row has" in faults("mem0_oss-longmemeval-gemma4_31b")
    assert "none of 1,540 labels is positive, but 230 answers equal the gold" in faults("kumiho-locomo")
    assert {row.context_cut for row in read("kumiho-locomo").answers} == {True}
    with_faults = {run.id for run in declared_runs() if read(run.id).faults}
    assert with_faults == {"letta-locomo-k1", "mem0_oss-longmemeval-gemma4_31b", "kumiho-locomo"}


def test_answers_to_the_same_beam_questions_have_the_same_ids() -> None:
    texts = [
        {row.question_id: row.question for row in read(name).answers}
        for name in ("cognee-beam-10M-run0", "mem0_platform-beam-10M-top50")
    ]
    assert len(texts[0]) == 20 and texts[0].items() <= texts[1].items()

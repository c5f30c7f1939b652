"""The values of declared runs recomputed from their files, where MEMFLOW_DATA has them.

The expected values were counted by other code than memflow's readers.
"""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from memflow.published_runs import (
    DeclaredRun,
    PublishedAnswer,
    PublishedRun,
    declared_runs,
    find_run,
    read_run,
)
from memflow.published_runs.layouts import layout_of

FOLDER = Path(os.environ.get("MEMFLOW_DATA", "missing")) / "published_runs"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs published_runs in MEMFLOW_DATA")

LABELS = {
    "mem0_platform-locomo-top200": (1_410, 1_540),
    "mem0_platform-locomo-top50": (1_273, 1_540),
    "backboard-locomo": (1_386, 1_540),
    "fullcontext-locomo-gpt-4.1-mini-cot": (1_427, 1_540),
    "fullcontext-locomo-gpt-4o-mini-cot": (1_231, 1_540),
    "fullcontext-locomo-gpt-4o-mini-memos": (1_145, 1_540),
    "wronganswers-locomo-v1": (164, 1_540),
    "ironmem-locomo-PRO_p100_k25": (100, 152),
    "ironmem-locomo-PRO_p150_k25": (97, 152),
    "ironmem-locomo-PRO_v2": (87, 152),
    "ironmem-locomo-smoke_n0": (85, 152),
    "ironmem-locomo-smoke_route": (95, 152),
    "ironmem-locomo-smoke_multiquery": (96, 152),
    "ironmem-locomo-regression316": (223, 316),
    "cogmem-locomo-v04": (902, 1_540),
    "cogmem-locomo-v05": (944, 1_540),
    "cognee-locomo": (122, 152),
    "acb-locomo": (1_230, 1_540),
    "exia-locomo-full": (1_296, 1_540),
    "exia-locomo-memory": (1_385, 1_540),
    "mem0repro-locomo": (526, 1_540),
    "zep-locomo": (1_157, 1_540),
    "memobase-locomo-0503": (1_092, 1_540),
    "exia-halumem-medium-user1": (68, 113),
    "mem0_platform-longmemeval-top50": (452, 500),
    "mem0_oss-longmemeval-gpt_oss_120b": (449, 500),
    "mem0_oss-longmemeval-gemma4_31b": (443, 500),
    "qmg-longmemeval": (428, 500),
    "perseusvault-longmemeval-seed1": (368, 500),
    "perseusvault-longmemeval-seed2": (375, 500),
    "perseusvault-longmemeval-seed3": (364, 500),
    "perseusvault-longmemeval-cot": (400, 500),
    "perseusvault-longmemeval-official": (368, 500),
    "perseusvault-longmemeval-official-cot": (400, 500),
    "perseusvault-longmemeval-cpst100": (80, 100),
    "perseusvault-longmemeval-cpst100-fullcontext": (70, 100),
    "perseusvault-longmemeval-cpst100-stateless": (12, 100),
    "cogmem-longmemeval": (364, 500),
    "naiverag-longmemeval": (350, 500),
    "nous-conflict_resolution": (232, 320),
    "nous-conflict_resolution-gpt-4o": (194, 320),
    "nous-eventqa_131072": (86, 100),
    "nous-ruler_qa1_197K": (87, 100),
    "nous-longmemeval_s": (42, 60),
    "nous-longmemeval_s-gpt-5": (43, 60),
    "nous-longmemeval_s-gpt-4o": (44, 60),
}
"""Positive labels and scored questions: LoCoMo's categories 1 to 4, all questions of other benchmarks."""
MEANS = {
    ("fullcontext-locomo-gpt-4.1-mini-cot", "votes"): (0.9262, 1_540),
    ("wronganswers-locomo-v1", "votes"): (0.1061, 1_540),
    ("cogmem-locomo-v04", "f1"): (0.4437, 1_540),
    ("cogmem-locomo-v05", "f1"): (0.4624, 1_540),
    ("samem-locomo-baseline", "f1"): (0.5134, 1_540),
    ("samem-locomo-baseline", "block_recall"): (0.7580, 1_532),
    ("samem-locomo-baseline", "block_hit"): (0.8244, 1_532),
    ("samem-locomo-time_filtering", "f1"): (0.5051, 1_517),
    ("kumiho-locomo", "f1"): (0.4465, 1_540),
    ("mem0_platform-beam-1M-top200", "rubric"): (0.6409, 700),
    ("mem0_platform-beam-1M-top50", "rubric"): (0.6037, 700),
    ("mem0_platform-beam-10M-top200", "rubric"): (0.4860, 200),
    ("mem0_platform-beam-10M-top50", "rubric"): (0.4130, 200),
    ("cognee-beam-10M-run0", "rubric"): (0.6408, 20),
    ("cognee-beam-10M-run1", "rubric"): (0.6737, 20),
    ("cognee-beam-10M-run2", "rubric"): (0.6588, 20),
    ("cognee-beam-10M-run3", "rubric"): (0.6692, 20),
    ("cognee-beam-10M-run4", "rubric"): (0.6944, 20),
    ("cognee-beam-100K-run0", "rubric"): (0.7917, 20),
    ("cognee-beam-100K-run1", "rubric"): (0.7896, 20),
}
"""Means of recorded values and the number of answers that have one, of the same questions."""


@cache
def read(name: str) -> PublishedRun:
    return read_run(FOLDER, find_run(name))


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


@pytest.mark.parametrize(("name", "metric"), MEANS)
def test_recorded_values_have_the_mean_that_was_counted_independently(name: str, metric: str) -> None:
    answers = scored(find_run(name))
    values = [
        sum(row.votes) / len(row.votes) if metric == "votes" else row.metrics[metric]
        for row in answers
        if metric in row.metrics or (metric == "votes" and row.votes)
    ]
    mean, count = MEANS[name, metric]
    assert (round(sum(values) / len(values), 4), len(values)) == (mean, count)


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

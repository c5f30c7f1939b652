"""MemoryBench's published scores: populations, their measurements, and averages by data set."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.memorybench import paper
from memflow.benchmarks.memorybench.metrics import METRICS
from memflow.benchmarks.memorybench.scorers.registry import scorer_of
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.benchmarks.paper_values import read_values

PARTITIONS = {
    "open": ("domain", "Open-Domain"), "academic": ("domain", "Academic&Knowledge"), "legal": ("domain", "Legal"),
    "LiSo": ("task", "Long-Short"), "SiLo": ("task", "Short-Long"), "LiLo": ("task", "Long-Long"),
    "SiSo": ("task", "Short-Short"),
}  # fmt: skip
PUBLISHED_NAMES = {task.published: name for name, task in TASKS.items()}
SIX_DECIMALS = 5.1e-7


@pytest.fixture(scope="module")
def summaries() -> list[Any]:
    """Return the authors' two summary files, of October 2025 and of April 2026."""
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder:
        pytest.skip("set MEMFLOW_DATA to the data folder")
    names = ("MemoryBench-code_2025-10-16", "THUIR_2026-04-15")
    files = [
        Path(folder, "memorybench_configs", f"final_evaluate_summary_wo_details.{name}.json")
        for name in names
    ]
    if not all(file.is_file() for file in files):
        pytest.skip(f"the data folder has no {files[0].name} or no {files[1].name}")
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def test_published_statistics_exist_for_every_task_of_each_partition() -> None:
    for partition in PARTITIONS:
        names = {
            task.name for task in TASKS.values()
            if partition in (task.field, task.format) and not task.name.startswith(("sample", "memorybench"))
        }  # fmt: skip
        populations = paper.published(partition)
        assert {each.dataset for each in populations} == names
        spreads = [each.spread for each in populations]
        assert all(spread.low < spread.mean < spread.high for spread in spreads)


def test_measurements_name_metrics_variants_and_judge_prompts_of_their_tasks() -> None:
    variants = {each.name: {"standard", *each.variants} for each in METRICS}
    for name, measurement in paper.reference().measurements.items():
        scorer = scorer_of(TASKS[name])
        assert measurement.metric == TASKS[name].metric
        assert set(measurement.prompts) <= {*scorer.stems, *scorer.published_stems}
        assert bool(measurement.judge) == bool(measurement.prompts)
        assert measurement.variant in variants[measurement.metric]


def test_both_published_summary_files_have_the_same_152_statistics(summaries: list[Any]) -> None:
    october, april = (
        {
            (partition, statistic, name): value
            for partition, (kind, title) in PARTITIONS.items()
            for statistic, values in summary[kind][title]["summary"].items()
            if statistic.startswith("dataset_")
            for name, value in values.items()
        }
        for summary in summaries
    )
    assert october == april and len(april) == 152
    fields = {"dataset_min": "low", "dataset_max": "high", "dataset_mu": "mean", "dataset_sigma": "deviation"}
    for (partition, statistic, name), value in april.items():
        own = {each.dataset: each.spread for each in paper.published(partition)}[
            PUBLISHED_NAMES.get(name, "locomo")
        ]
        assert getattr(own, fields[statistic]) == pytest.approx(value, abs=SIX_DECIMALS)


def test_averages_equal_those_of_the_published_summary_file(summaries: list[Any]) -> None:
    averages = [value for value in read_values("memflow.benchmarks.memorybench") if value.metric == "average"]
    for value in averages:
        partition, _, dataset = value.slice.partition("/dataset:")
        kind, title = PARTITIONS[partition]
        of_summary = summaries[0][kind][title]["average"]
        names = [name for name in of_summary if PUBLISHED_NAMES.get(name, "locomo") == dataset]
        assert any(
            float(value.value) == pytest.approx(of_summary[name][value.system], abs=SIX_DECIMALS)
            for name in names
        )
    assert len(averages) == 274

"""The catalog of tasks, their data sets, and their domains."""

import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.memorybench.load import READERS
from memflow.benchmarks.memorybench.question import PACKAGE
from memflow.benchmarks.memorybench.scripted import handlers
from memflow.benchmarks.memorybench.tasks.catalog import TASKS, task
from memflow.chat.prompts import load

PUBLISHED = [
    each
    for name, each in registry.datasets().items()
    if each.benchmark == "memorybench" and not each.ships and not name.startswith("unified_")
]
"""In the form of their own authors; MemoryBench's own form of them, test_unified.py looks at."""
FORMATS = {"LiSo": "Long-Short", "SiLo": "Short-Long", "LiLo": "Long-Long", "SiSo": "Short-Short"}
FIELDS = {"open": "Open-Domain", "legal": "Legal", "academic": "Academic&Knowledge"}


STEMS = {
    "answer": ("answer_en", "answer_zh"), "locomo": ("locomo_short", "locomo_date", "locomo_choice"),
}  # fmt: skip


@pytest.mark.parametrize("dataset", PUBLISHED, ids=lambda dataset: dataset.name)
def test_every_published_data_set_has_task_reader_and_prompt(dataset) -> None:
    posed = task(dataset.name.removeprefix("unified_"))
    assert dataset.name in READERS
    for stem in STEMS.get(posed.prompt, (posed.prompt,)):
        assert load(PACKAGE, stem).name in handlers()


def test_every_task_is_in_one_domain_of_its_field_and_one_of_its_format() -> None:
    parts = {name: domain.datasets for name, domain in registry.domains().items()}
    for names in (FIELDS, FORMATS):
        found = Counter(name for part in names for name in parts[f"memorybench_{part.lower()}"])
        assert found == Counter(each.name for each in PUBLISHED)
    for each in PUBLISHED:
        for part in (task(each.name).field, task(each.name).format.lower()):
            assert (
                each.name in parts[f"memorybench_{part}"] and registry.domains()[f"memorybench_{part}"].listed
            )


def test_task_fields_formats_and_sample_sizes_match_published_configuration() -> None:
    """Compare fields, formats and sample sizes, except the size for WritingBench: the published code uses all cases."""
    folder = os.environ.get("MEMFLOW_DATA")
    path = Path(folder or "", "memorybench_configs", "domain.json")
    if not folder or not path.is_file():
        pytest.skip("set MEMFLOW_DATA to a data folder that has memorybench_configs/domain.json")
    by_name = {each.published: each for each in TASKS.values()}
    found = set()
    for field, rows in json.loads(path.read_text(encoding="utf-8")).items():
        for row in rows:
            each = by_name[re.sub(r"^Locomo-\d$", "Locomo", row["dataset_name"])]
            assert (FIELDS[each.field], FORMATS[each.format]) == (field, row["task_tag"])
            assert each.stratified or each.sample == row["sample_count"]
            found.add(each.name)
    assert found >= {each.name for each in PUBLISHED}

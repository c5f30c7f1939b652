"""WritingBench's queries, read as three tasks."""

import json
from typing import Any

import pytest

from memflow.benchmarks.memorybench.load import build_pools
from memflow.benchmarks.registry import find_domain

WHOLE, SUBSET = (f"writingbench/{name}.jsonl" for name in ("benchmark_all", "length_subset"))
OPEN = find_domain("memorybench_open")
LEVELS = ("1-2", "3-4", "5-6", "7-8", "9-10")


def criterion(name: str = "Tone") -> dict[str, str]:
    return {
        "name": name,
        "criteria_description": f"{name} fits.",
        **{level: f"is {level}" for level in LEVELS},
    }


def line(index: int, domain: str = "Education", **given: Any) -> dict[str, Any]:
    return {
        "index": index, "domain1": domain, "domain2": "Lesson Plan", "lang": "en", "query": f"Write {index}.",
        "checklist": [criterion(), criterion("Form")], **given,
    }  # fmt: skip


MIXED = [
    line(1), line(2, "Politics & Law"), line(3, "Academic & Engineering"), line(4, "Literature & Arts", lang="zh"),
    line(5, "Advertising & Marketing"), line(6, "Finance & Business"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "selected"),
    [("creative", ["1", "4", "5"]), ("law", ["2"]), ("academic", ["3"])],
)
def test_writingbench_task_selects_queries_of_its_domains(read_files, name: str, selected: list[str]) -> None:
    (pool,) = build_pools(read_files(f"writingbench_{name}", {WHOLE: MIXED}))
    assert [case.case_id for case in pool.cases] == selected


def test_writingbench_case_has_criteria_with_score_levels_as_gold(read_files) -> None:
    (pool,) = build_pools(read_files("writingbench_creative", {WHOLE: MIXED}))
    case = pool.cases[1]
    assert (case.language, case.category, case.stratum) == ("zh", "Lesson Plan", "Literature & Arts")
    tone, form = json.loads(case.gold)["criteria"]
    assert tone == {
        "name": "Tone", "description": "Tone fits.", "levels": {level: f"is {level}" for level in LEVELS},
    }  # fmt: skip
    assert form["name"] == "Form"
    assert case.revealed == "- Tone: Tone fits.\n- Form: Form fits."

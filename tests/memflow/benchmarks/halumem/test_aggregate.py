"""The aggregation equals the published code's on recorded and synthetic verdicts, with its errors."""

import json
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.halumem.aggregate import GROUPS, published_summary


def integrity(score: int | None, source: str = "secondary", kind: str = "Event Memory") -> dict[str, Any]:
    return {"memory_source": source, "memory_type": kind, "importance": 0.5, "memory_integrity_score": score}


def text(score: int | None, included: Any) -> dict[str, Any]:
    return {"memory_accuracy_score": score, "is_included_in_golden_memories": included}


def records(**changes: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    types = ("Event Memory", "Persona Memory", "Relationship Memory")
    found = {
        GROUPS[0]: [*(integrity(2, kind=kind) for kind in types), integrity(0, "interference")],
        GROUPS[1]: [text(2, "true")],
        GROUPS[2]: [{"memory_type": "Event Memory", "memory_update_type": "Correct"}],
        GROUPS[3]: [{"result_type": "Correct"}],
    }
    return {**found, **changes}


def test_summary_equals_the_published_code_in_every_recorded_case(data: Path) -> None:
    """Each expected summary, or its ZeroDivisionError, is that of the published script."""
    cases = [
        case
        for case in json.loads((data / "oracle_aggregate.json").read_text(encoding="utf-8"))
        if case["records"] is not None
    ]
    assert len(cases) >= 34
    for case in cases:
        try:
            found = published_summary(case["records"])
        except ZeroDivisionError:
            found = {"error": "ZeroDivisionError"}
        assert found == case["expected"], case["name"]


@pytest.mark.parametrize(
    ("included", "counts"), [("true", 1), ("True", 1), (True, 0), ("yes", 0), ("false", 0)]
)
def test_only_the_strings_true_and_True_include_a_text(included: Any, counts: int) -> None:
    summary = published_summary(records(memory_accuracy_records=[text(2, "true"), text(0, included)]))
    assert summary["memory_accuracy"]["target_memory_num"] == 1 + counts


def test_failed_verdict_is_a_miss_in_all_and_left_out_of_valid() -> None:
    points = [*records()[GROUPS[0]], integrity(None)]
    recall = published_summary(records(memory_integrity_records=points))["memory_integrity"]
    assert (recall["recall(all)"], recall["recall(valid)"]) == (0.75, 1.0)


@pytest.mark.parametrize("group", GROUPS)
def test_empty_group_ends_the_published_code(group: str) -> None:
    with pytest.raises(ZeroDivisionError):
        published_summary(records(**{group: []}))

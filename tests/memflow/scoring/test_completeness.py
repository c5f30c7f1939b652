"""The sentences that state what results lack, and their lines below a table of scores."""

import pytest
from factories import score

from memflow.scoring.completeness import dataset_gap, incomplete_results, join_gaps, limit_gap, quarantine_gap


@pytest.mark.parametrize(
    ("limit", "size", "expected"),
    [
        (0, 20, None),
        (20, 20, None),
        (25, 20, None),
        (2, 20, "sample of 2 of 20 users"),
        (2, 1000, "sample of 2 of 1,000 users"),
        (2, None, "sample of 2 of an unknown number of users"),
    ],
)
def test_limit_gap_returns_text_only_if_the_limit_removes_units(
    limit: int, size: int | None, expected: str | None
) -> None:
    assert limit_gap(limit, size, "users") == expected


def test_missing_data_sets_and_quarantined_rows_are_counted_and_named() -> None:
    assert dataset_gap(["news"], 3) == "2 of 3 data sets (without news)"
    assert dataset_gap([], 3) is None
    assert quarantine_gap(11, 3000, "records") == "11 of 3,000 records quarantined"
    assert quarantine_gap(0, 3000, "records") is None
    assert join_gaps([None, "a", None, "b"]) == "a; b"
    assert join_gaps([None]) is None


def test_gap_lines_state_a_gap_of_all_assistants_once_for_the_domain() -> None:
    whole = "sample of 2 of 20 users"
    scores = [
        score(domain="d", assistant="full", incomplete=whole),
        score(domain="d", assistant="rag", incomplete=whole),
        score(domain="e", assistant="full", incomplete=None),
        score(domain="e", assistant="rag", incomplete="3 of 40 replies failed"),
    ]
    assert incomplete_results(scores) == [f"d: {whole}", "e (rag): 3 of 40 replies failed"]
    assert incomplete_results(scores[2:3]) == []

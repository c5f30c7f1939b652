"""`memflow run`: the reason of a failed run."""

import dagster as dg
import pytest

from assets.report import rule_table
from memflow.checks.evaluation import RuleResult
from memflow.cli.pipeline import _broken


def evaluation(rows: int, unexpected: int, offending: tuple[str, ...]) -> dg.AssetCheckEvaluation:
    """Return a failed check of one rule beside one that passed."""
    failed = RuleResult(
        "question.probes", "has_rows", False, "error", unexpected, rows, offending, "There are probes"
    )
    passed = RuleResult("question.probes", "gold_not_blank", True, "error", 0, rows, (), "Gold is given")
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(["question", "probes"]),
        check_name="blocking_rules",
        passed=False,
        metadata={"rules": rule_table([passed, failed])},
    )


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ((0, 1, ()), "the table is empty"),
        ((4, 1, ("nora/p0",)), "violated by 1 of 4 rows (nora/p0)"),
        ((4, 2, ()), "violated by 2 of 4 rows"),
    ],
)
def test_reason_of_a_failed_run_names_violated_rules(given, reason: str) -> None:
    assert list(_broken(evaluation(*given))) == [f"question/probes: there are probes: {reason}"]

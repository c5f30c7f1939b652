"""Metadata of a materialization: preview, usage, quarantined rows and rule results."""

from dataclasses import replace

import dagster as dg
import factories as make

from assets.report import RowSummary, preview, report, rule_table
from memflow.checks.evaluation import RuleResult
from memflow.records import Verdict


def verdict(number: int, value: float | None = 1.0) -> Verdict:
    reason = None if value is not None else "no answer | at all"
    return make.verdict(probe_id=f"p{number}", value=value, reason=reason)


def summarized(rows: list[Verdict], usage: dict[str, float]) -> dg.MaterializeResult:
    """Return the result of materializing verdicts."""
    summary = RowSummary()
    assert list(summary.observe(rows)) == rows
    return report("score.verdicts", summary, "x", usage)


def test_preview_escapes_vertical_bars_in_cells() -> None:
    assert "no answer \\| at all" in preview([verdict(0, value=None)])


def test_materialization_report_counts_quarantined_rows_with_the_first_reason() -> None:
    said = summarized([verdict(0), verdict(1, value=None)], {}).metadata
    assert said is not None
    assert (said["quarantined"], said["first_reason"]) == (1, "no answer | at all")


def test_rule_table_lists_failed_rules_before_passed_rules() -> None:
    passed = RuleResult("d", "unique_keys", True, "error", 0, 9, (), "Probes are unique")
    failed = replace(passed, name="gold_not_blank", passed=False, unexpected=2, offending=("p1", "p2"))
    broken = replace(passed, name="days_are_days", passed=False, error="rule days_are_days raised")
    records = [record.data for record in rule_table({"d": [passed, failed], "e": [broken]}).records]
    assert [each["rule"] for each in records] == ["gold_not_blank", "days_are_days", "unique_keys"]
    assert [each["result"] for each in records] == ["failed", "error", "passed"]
    assert [each["table"] for each in records] == ["d", "e", "d"]
    assert [each["offending"] for each in records] == ["p1; p2", "rule days_are_days raised", ""]
    assert rule_table({}).records == []

"""Metadata of a materialization: the table of rules. Its rows and preview are in test_graph.py."""

from dataclasses import replace

from memflow.assets.metadata import rule_table
from memflow.checks.evaluation import RuleResult


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

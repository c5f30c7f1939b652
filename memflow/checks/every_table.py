"""Check rules of every table: unique keys, no nulls in required columns, at most 10 % quarantined rows."""

from memflow.checks.rules import EachRow, Expectation, MinimumRows, NotNull, Unique
from memflow.records import KEYS, TABLES, columns

QUARANTINED = 0.1
"""A table with a larger share of quarantined rows gets a warning."""

NOT_EMPTY = (
    "raw.records",
    "question.probes",
    "answer.replies",
    "score.verdicts",
    "score.attributions",
    "score.health",
    "score.leaderboard",
)

REASON_IS_NORMAL = (
    "score.attributions",
    "score.comparisons",
    "score.health",
    "score.history",
    "score.leaderboard",
    "score.retrieval",
    "score.rankings",
    "score.drift",
)
"""Tables whose rows may have a reason although nothing failed: some probes have no
evidence, some scores no value, some comparisons no interval."""


def _rules_of(table: str) -> list[Expectation]:
    """Return the rules of a table. In tables of REASON_IS_NORMAL, a row with a reason is not quarantined."""
    required_columns = tuple(column.name for column in columns(table) if not column.nullable)
    expectations = [
        Expectation(table, "unique_keys", Unique(KEYS[table])),
        Expectation(table, "required_columns_not_null", NotNull(required_columns)),
    ]
    if "reason" in {column.name for column in columns(table)} and table not in REASON_IS_NORMAL:
        not_quarantined = EachRow(lambda row: row.reason is None, tolerance=QUARANTINED)
        expectations.append(Expectation(table, "at_most_10_percent_quarantined", not_quarantined, "warn"))
    if table in NOT_EMPTY:
        expectations.append(Expectation(table, "has_rows", MinimumRows()))
    return expectations


EXPECTED = tuple(rule for table in TABLES for rule in _rules_of(table))

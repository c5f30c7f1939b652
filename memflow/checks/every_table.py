"""What must hold of every table: keys, required columns, and few rows that are quarantined."""

from memflow.checks.rules import Each, Expectation, Filled, Rows, Unique
from memflow.records import KEYS, columns

QUARANTINED = 0.1
"""Share of quarantined rows from which on a table is worth a warning."""


def _given(table: str) -> tuple[str, ...]:
    return tuple(column.name for column in columns(table) if not column.nullable)


_WHAT = {
    "raw.records": "records",
    "state.profiles": "users",
    "state.variables": "variables",
    "state.changes": "changes",
    "state.entities": "entities",
    "utterance.turns": "messages",
    "question.keys": "keys",
    "question.probes": "probes",
    "feedback.sessions": "rounds",
    "memory.transcripts": "messages",
    "memory.indexes": "entries",
    "memory.policies": "policies",
    "memory.feedback": "rounds",
    "answer.replies": "replies",
    "score.verdicts": "verdicts",
    "score.attributions": "attributions",
    "score.claims": "claims",
    "score.leaderboard": "figures",
}
"""What the rows of a table are called in sentences."""

SCORES = ("verdicts", "attributions", "leaderboard")

UNQUARANTINED = ("score.attributions", "score.leaderboard")
"""Tables whose rows may have a reason without anything being wrong: not every probe has evidence to follow."""


def _expected() -> list[Expectation]:
    found = []
    for table, what in _WHAT.items():
        found.append(Expectation(table, f"{what}_are_unique", Unique(KEYS[table])))
        found.append(Expectation(table, f"{what}_lack_no_required_column", Filled(_given(table))))
        if "reason" in {column.name for column in columns(table)} and table not in UNQUARANTINED:
            few = Each(lambda row: row.reason is None, but=QUARANTINED)
            found.append(Expectation(table, f"few_{what}_are_quarantined", few, "warn"))
    never_empty = ("raw.records", "question.probes", "answer.replies", *(f"score.{name}" for name in SCORES))
    found += [Expectation(table, f"there_are_{_WHAT[table]}", Rows()) for table in never_empty]
    return found


EXPECTED = tuple(_expected())

"""Checks of LongMemEval's rows."""

from collections import Counter
from collections.abc import Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.config import parse_config
from memflow.benchmarks.longmemeval.instances import parse_date
from memflow.benchmarks.longmemeval.types import PUBLISHED_COUNTS, PUBLISHED_DATASETS, is_abstention
from memflow.checks.rules import (
    AcrossTables,
    Findings,
    PerDomain,
    Rule,
    WholeTable,
    add_descriptions,
    expect,
    expect_all,
)
from memflow.records import Probe, Turn


def unordered_sessions(turns: Sequence[Turn]) -> list[int]:
    """Return the positions of turns that are dated before an earlier turn of their episode."""
    newest: dict[str, str] = {}
    found = []
    for at, turn in enumerate(turns):
        date = parse_date(turn.sent_at or "").isoformat()
        if date < newest.setdefault(turn.episode_id, date):
            found.append(at)
        newest[turn.episode_id] = max(date, newest[turn.episode_id])
    return found


def asked_before_evidence(probes: Sequence[Probe], turns: Sequence[Turn]) -> Findings:
    """Return the probes with evidence that is dated after the question."""
    dates = {turn.message_id: turn.sent_at or "" for turn in turns}
    found = Findings()
    for at, probe in enumerate(probes):
        late = [
            each for each in probe.evidence if each in dates and _later(dates[each], probe.asked_at or "")
        ]
        if late:
            found[at] = (
                f"{probe.probe_id} is asked on {probe.asked_at}, before its evidence of {dates[late[0]]}"
            )
    return found


def _later(date: str, other: str) -> bool:
    return parse_date(date) > parse_date(other)


def wrong_counts(probes: Sequence[Probe]) -> list[int]:
    """Return the first position if the numbers of questions by type are not the published ones."""
    counts = Counter(probe.category for probe in probes)
    return [] if counts == PUBLISHED_COUNTS else [0]


def _counts_rule(domain: Domain) -> WholeTable | None:
    published = {*domain.datasets} <= PUBLISHED_DATASETS
    whole = not domain.limit and parse_config(domain).known_errors == "keep"
    return WholeTable(wrong_counts) if whole and published else None


def without_evidence(probes: Sequence[Probe]) -> list[int]:
    """Return the positions of answerable probes without an evidence session in the history."""
    return [at for at, probe in enumerate(probes) if not probe.revealed and not is_abstention(probe.probe_id)]


_ERRORS: dict[str, dict[str, Rule]] = {
    "utterance.turns": {"sessions_in_order_of_time": WholeTable(unordered_sessions)},
    "question.probes": {"evidence_session_in_history": WholeTable(without_evidence)},
}
_WARNINGS: dict[str, Rule] = {
    "evidence_before_question": AcrossTables(("question.probes", "utterance.turns"), asked_before_evidence),
    "published_counts_by_type": PerDomain(_counts_rule),
}
EXPECTED = add_descriptions(
    (*expect_all(_ERRORS), *expect("question.probes", _WARNINGS, "warn")), "memflow.benchmarks.longmemeval"
)

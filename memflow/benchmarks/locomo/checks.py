"""The checks of LoCoMo's rows: cited evidence, and labels of judges."""

from collections.abc import Sequence

from memflow.benchmarks.locomo.judging import CONTRACTS
from memflow.checks.rules import AcrossTables, EachRow, Rule, WholeTable, add_descriptions, expect, expect_all
from memflow.records import Probe, Turn, Verdict

MAX_UNLABELED = 0.01
"""The largest share of verdicts of a judge without a value."""


def probes_with_missing_evidence(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes with evidence that is no message of their conversation."""
    message_ids = {(turn.episode_id, turn.message_id) for turn in turns}
    return [
        position
        for position, probe in enumerate(probes)
        if any((probe.episode_id, message) not in message_ids for message in probe.evidence)
    ]


def verdicts_without_label(verdicts: Sequence[Verdict]) -> list[int]:
    """Return the positions of judgments without a value, if their share is above the limit."""
    judgments = [position for position, row in enumerate(verdicts) if row.metric in CONTRACTS]
    unlabeled_positions = [position for position in judgments if verdicts[position].value is None]
    return unlabeled_positions if len(unlabeled_positions) > MAX_UNLABELED * len(judgments) else []


_PROBES: dict[str, Rule] = {
    "evidence_in_conversation": AcrossTables(
        ("question.probes", "utterance.turns"), probes_with_missing_evidence
    )
}
_WARNINGS: dict[str, dict[str, Rule]] = {
    "question.probes": {
        "answerable_probes_have_evidence": EachRow(
            lambda probe: bool(probe.reason or probe.category == "5" or probe.evidence), tolerance=0.01
        )
    },
    "score.verdicts": {"judgments_without_label_at_most_1_percent": WholeTable(verdicts_without_label)},
}
EXPECTED = add_descriptions(
    (*expect("question.probes", _PROBES), *expect_all(_WARNINGS, "warn")), "memflow.benchmarks.locomo"
)

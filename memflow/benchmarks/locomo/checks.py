"""The checks of LoCoMo's rows: categories, gold answers, cited evidence, and labels of judges."""

from collections.abc import Sequence

from memflow.benchmarks.locomo.config import parse_config
from memflow.benchmarks.locomo.judging import CONTRACTS
from memflow.benchmarks.locomo.known_errors import has_wrong_gold
from memflow.checks.rules import (
    AcrossTables,
    EachRow,
    Expectation,
    PerDomain,
    Rule,
    WholeTable,
    each_valid_row,
)
from memflow.records import Probe, Turn, Verdict

MAX_UNLABELED = 0.01
"""The largest share of verdicts of a judge without a value."""


def _category_rule(domain_categories: Sequence[int]) -> Rule:
    allowed = {str(category) for category in domain_categories}
    return each_valid_row(lambda probe: probe.category in allowed)


def probes_with_known_errors(probes: Sequence[Probe]) -> list[int]:
    """Return the positions of probes whose gold answer is known to be wrong."""
    return [index for index, probe in enumerate(probes) if has_wrong_gold(probe.probe_id, probe.question)]


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
    missing = [position for position in judgments if verdicts[position].value is None]
    return missing if len(missing) > MAX_UNLABELED * len(judgments) else []


EXPECTED = (
    Expectation(
        "question.probes",
        "category_selected_in_domain",
        PerDomain(lambda domain: _category_rule(parse_config(domain).categories)),
        text="The category of each probe is one of the domain's parameter categories.",
    ),
    Expectation(
        "question.probes",
        "no_known_errors_if_left_out",
        PerDomain(
            lambda domain: (
                WholeTable(probes_with_known_errors)
                if parse_config(domain).known_errors == "left_out"
                else None
            )
        ),
        text="No gold answer has a known error, in a domain that leaves these questions out.",
    ),
    Expectation(
        "question.probes",
        "evidence_in_conversation",
        AcrossTables(("question.probes", "utterance.turns"), probes_with_missing_evidence),
        text="Each evidence message of a probe is a message of its conversation.",
    ),
    Expectation(
        "question.probes",
        "answerable_probes_have_evidence",
        EachRow(lambda probe: bool(probe.reason or probe.category == "5" or probe.evidence), tolerance=0.01),
        "warn",
        text="At most 1 percent of the probes of categories 1 to 4 cite no message.",
    ),
    Expectation(
        "score.verdicts",
        "judgments_without_label_at_most_1_percent",
        WholeTable(verdicts_without_label),
        "warn",
        text="At most 1 percent of the judgments have no value.",
    ),
)

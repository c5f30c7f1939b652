"""Checks of MemoryBench's feedback: only training cases have feedback, and the action model clips no probability.

What code alone determines, such as the rounds of a dialogue and the random actions, is tested in the test suite.
"""

from collections.abc import Sequence
from functools import partial

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.benchmarks.memorybench.users.actions import round_actions
from memflow.checks.rules import (
    AcrossTables,
    Expectation,
    PerDomain,
)
from memflow.records import FeedbackRound, Probe

_TABLES = ("feedback.sessions", "question.probes")


def _find_test_cases(rows: Sequence[FeedbackRound], probes: Sequence[Probe]) -> list[int]:
    train = {probe.probe_id for probe in probes if probe.split == "train"}
    return [at for at, row in enumerate(rows) if row.case_id not in train]


def _find_clipped_probabilities(
    domain: Domain, rows: Sequence[FeedbackRound], probes: Sequence[Probe]
) -> list[int]:
    """Return the positions of rounds that violate the check `like_plus_dislike_probability_at_most_1`."""
    known = {probe.probe_id for probe in probes}
    positions = [at for at, row in enumerate(rows) if row.case_id in known and row.dataset in TASKS]
    actions = round_actions(domain, [rows[at] for at in positions], probes)
    return [at for at, of_round in zip(positions, actions, strict=True) if of_round and not of_round.fits]


EXPECTED = (
    Expectation(
        "feedback.sessions", "feedback_on_training_cases_only", AcrossTables(_TABLES, _find_test_cases)
    ),
    Expectation(
        "feedback.sessions",
        "like_plus_dislike_probability_at_most_1",
        PerDomain(lambda domain: AcrossTables(_TABLES, partial(_find_clipped_probabilities, domain))),
        "warn",
    ),
)
"""MemoryBench's checks of the feedback stage."""

"""Checks of MemoryBench's feedback. Rules about dialogues are errors; rates of random user actions are warnings."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.feedback import ANSWERS
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.benchmarks.memorybench.users.action_model import MAX_SATISFACTION, MIN_SATISFACTION
from memflow.benchmarks.memorybench.users.actions import RoundActions, round_actions
from memflow.benchmarks.memorybench.users.reactions import METRIC_SCORED
from memflow.checks.rules import (
    AcrossTables,
    Between,
    EachRow,
    Expectation,
    PerDomain,
    Rule,
    Severity,
    WholeTable,
    of_benchmark,
)
from memflow.records import FeedbackRound, Probe

SIGMAS = 4
"""Allowed standard errors of action counts; exceeded by chance once in 16,000 times."""

Rounds = Sequence[FeedbackRound]


_TABLES = ("feedback.sessions", "question.probes")


def _per_domain(find_violations: Callable[[Domain, Rounds, Sequence[Probe]], Collection[int]]) -> PerDomain:
    return PerDomain(lambda domain: AcrossTables(_TABLES, partial(find_violations, domain)))


def _has_no_feedback_if_failed(row: FeedbackRound) -> bool:
    reaction = (row.score, row.satisfaction, row.felt, row.critique)
    acted = row.liked or row.disliked or row.copied
    return row.reason is None or (all(each is None for each in reaction) and not acted and not row.ended)


def _has_critique_or_end(row: FeedbackRound) -> bool:
    return row.satisfaction is None or row.ended or row.critique is not None


def _is_long_if_copied(row: FeedbackRound) -> bool:
    return not row.copied or row.dataset not in TASKS or TASKS[row.dataset].long_output


def _find_rounds_after_end(rows: Rounds) -> list[int]:
    """Return the positions of rounds that follow the end of the dialogue or a failed round."""
    last = {row.case_id: row.round for row in rows if row.ended or row.reason is not None}
    return [at for at, row in enumerate(rows) if row.round > last.get(row.case_id, row.round)]


def _find_test_cases(rows: Rounds, probes: Sequence[Probe]) -> list[int]:
    train = {probe.probe_id for probe in probes if probe.split == "train"}
    return [at for at, row in enumerate(rows) if row.case_id not in train]


def _find_wrong_score_fields(rows: Rounds, probes: Sequence[Probe]) -> list[int]:
    """Return the positions of reactions that have a score without a metric that computes the score, or vice versa."""
    metrics = {probe.probe_id: probe.metric for probe in probes}
    return [
        at
        for at, row in enumerate(rows)
        if row.satisfaction is not None
        and (row.score is not None) != (metrics.get(row.case_id) in METRIC_SCORED)
    ]


def _actions_by_position(domain: Domain, rows: Rounds, probes: Sequence[Probe]) -> dict[int, RoundActions]:
    """Return actions by row position. Rows of unknown cases or data sets are skipped."""
    known = {probe.probe_id for probe in probes}
    known_rows = [at for at, row in enumerate(rows) if row.case_id in known and row.dataset in TASKS]
    found = round_actions(domain, [rows[at] for at in known_rows], probes)
    return {at: one for at, one in zip(known_rows, found, strict=True) if one is not None}


def _find_clipped_probabilities(domain: Domain, rows: Rounds, probes: Sequence[Probe]) -> list[int]:
    """Return the positions of rounds that violate the check `like_plus_dislike_probability_at_most_1`."""
    return [at for at, one in _actions_by_position(domain, rows, probes).items() if not one.fits]


def _find_unlikely_action_counts(domain: Domain, rows: Rounds, probes: Sequence[Probe]) -> list[int]:
    """Return the positions of rounds with an action that is too frequent, or without an action that is too rare.

    The expected number of an action is the sum of its probabilities.
    """
    found: set[int] = set()
    chances = [(at, one.chances) for at, one in _actions_by_position(domain, rows, probes).items()]
    for pressed, probable in (
        ([row.liked for row in rows], [(at, one.like) for at, one in chances]),
        ([row.disliked for row in rows], [(at, one.dislike) for at, one in chances]),
        ([row.copied for row in rows], [(at, one.copy) for at, one in chances]),
    ):
        wanted = sum(p for _, p in probable)
        # One more than the standard error allows: of few rows the number drawn is far from normal.
        bound = SIGMAS * sum(p * (1 - p) for _, p in probable) ** 0.5 + 1
        drawn = sum(pressed[at] for at, _ in probable)
        if abs(drawn - wanted) > bound:
            found.update(at for at, _ in probable if pressed[at] == (drawn > wanted))
    return sorted(found)


def _find_extra_answers(rows: Rounds) -> list[int]:
    asked = Counter(row.case_id for row in rows)
    return [at for at, row in enumerate(rows) if asked[row.case_id] > ANSWERS]


_RULES: dict[Severity, dict[str, Rule]] = {
    "error": {
        "noisy_satisfaction_between_1_and_10": Between("felt", MIN_SATISFACTION, MAX_SATISFACTION),
        "failed_rounds_have_no_feedback": EachRow(_has_no_feedback_if_failed),
        "rounds_have_critique_unless_dialogue_ends": EachRow(_has_critique_or_end),
        "copied_answers_are_from_long_output_tasks": EachRow(_is_long_if_copied),
        "at_most_3_answers_per_dialogue": WholeTable(_find_extra_answers),
        "third_answer_has_no_feedback": EachRow(
            lambda row: row.round < ANSWERS - 1 or row.satisfaction is None
        ),
        "no_rounds_after_end_of_dialogue": WholeTable(_find_rounds_after_end),
        "feedback_on_training_cases_only": AcrossTables(_TABLES, _find_test_cases),
        "only_metric_scored_cases_have_score": AcrossTables(_TABLES, _find_wrong_score_fields),
    },
    "warn": {
        "like_plus_dislike_probability_at_most_1": _per_domain(_find_clipped_probabilities),
        "action_rates_match_action_model": _per_domain(_find_unlikely_action_counts),
    },
}

EXPECTED = of_benchmark(
    "memorybench",
    (
        Expectation("feedback.sessions", name, rule, severity)
        for severity, rules in _RULES.items()
        for name, rule in rules.items()
    ),
)
"""MemoryBench's checks of the feedback stage."""

"""What must hold of MemoryBench's feedback, as data. Rules that hold of every benchmark's are memflow/expectations';
those of what was played, played.py's.

What the dialogue and the path of a case prescribe is an error and blocks. How often users press is drawn, so it warns.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.feedback import ANSWERS
from memflow.benchmarks.memorybench.tasks.catalogue import TASKS
from memflow.benchmarks.memorybench.users.actions import LEAST, MOST
from memflow.benchmarks.memorybench.users.presses import Pressing, pressings
from memflow.benchmarks.memorybench.users.reactions import MEASURED
from memflow.checks.rules import (
    AcrossTables,
    Between,
    EachRow,
    Expectation,
    PerDomain,
    Rule,
    WholeTable,
    of_benchmark,
)
from memflow.records import FeedbackRound, Probe

SIGMAS = 4
"""Standard errors within which drawn likes and dislikes stay: left by chance once in 16,000 times."""

Rounds = Sequence[FeedbackRound]


def _feedback(find_violations: Callable[[Domain, Rounds, Sequence[Probe]], Collection[int]]) -> PerDomain:
    def rule(domain: Domain) -> Rule:
        return AcrossTables(
            ("feedback.sessions", "question.probes"),
            lambda rows, probes: find_violations(domain, rows, probes),
        )

    return PerDomain(rule)


def _knows_nothing(row: FeedbackRound) -> bool:
    told = (row.score, row.satisfaction, row.felt, row.critique)
    pressed = row.liked or row.disliked or row.copied
    return row.reason is None or (all(one is None for one in told) and not pressed and not row.ended)


def _goes_on_or_ends(row: FeedbackRound) -> bool:
    return row.satisfaction is None or row.ended or row.critique is not None


def _is_short_or_not_copied(row: FeedbackRound) -> bool:
    return not row.copied or row.dataset not in TASKS or TASKS[row.dataset].long_output


def _after_the_end(rows: Rounds) -> list[int]:
    """Rounds of a case after the one in which its user ended it, or in which something failed."""
    last = {row.case_id: row.round for row in rows if row.ended or row.reason is not None}
    return [at for at, row in enumerate(rows) if row.round > last.get(row.case_id, row.round)]


def _of_test(rows: Rounds, probes: Sequence[Probe]) -> list[int]:
    train = {probe.probe_id for probe in probes if probe.split == "train"}
    return [at for at, row in enumerate(rows) if row.case_id not in train]


def _not_as_measured(domain: Domain, rows: Rounds, probes: Sequence[Probe]) -> list[int]:
    """Reactions with a score that no metric gives, or without the score that one does."""
    metrics = {probe.probe_id: probe.metric for probe in probes}
    return [
        at
        for at, row in enumerate(rows)
        if row.satisfaction is not None and (row.score is not None) != (metrics.get(row.case_id) in MEASURED)
    ]


def _pressings(domain: Domain, rows: Rounds, probes: Sequence[Probe]) -> dict[int, Pressing]:
    """By position; of rows whose case and data set are unknown, other expectations tell."""
    known = {probe.probe_id for probe in probes}
    held = [at for at, row in enumerate(rows) if row.case_id in known and row.dataset in TASKS]
    found = pressings(domain, [rows[at] for at in held], probes)
    return {at: one for at, one in zip(held, found, strict=True) if one is not None}


def _cut_off(domain: Domain, rows: Rounds, probes: Sequence[Probe]) -> list[int]:
    """Rows whose P(like) + P(dislike) would pass 1, so that the wanted rates cannot come out."""
    return [at for at, one in _pressings(domain, rows, probes).items() if not one.fits]


def _too_often_or_too_rarely(domain: Domain, rows: Rounds, probes: Sequence[Probe]) -> list[int]:
    """Rows of an action that was drawn more often, or less, than chance lets it be.

    The expected number is the target rate's, but for noise in satisfaction and for what is cut off. Where more was
    drawn those with it are at fault, where less those without.
    """
    found: set[int] = set()
    chances = [(at, one.chances) for at, one in _pressings(domain, rows, probes).items()]
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


def _one_answer_too_many(rows: Rounds) -> list[int]:
    asked = Counter(row.case_id for row in rows)
    return [at for at, row in enumerate(rows) if asked[row.case_id] > ANSWERS]


_MUST: dict[str, Rule] = {
    "failures_are_no_satisfied_users": EachRow(_knows_nothing),
    "users_who_go_on_say_something": EachRow(_goes_on_or_ends),
    "short_answers_are_not_copied": EachRow(_is_short_or_not_copied),
    "dialogues_have_three_answers_at_most": WholeTable(_one_answer_too_many),
    "the_last_of_three_answers_has_no_feedback": EachRow(
        lambda row: row.round < ANSWERS - 1 or row.satisfaction is None
    ),
    "nothing_is_said_after_the_end": WholeTable(_after_the_end),
    "feedback_is_on_training_cases": _feedback(lambda domain, rows, probes: _of_test(rows, probes)),
    "scores_are_of_cases_that_a_metric_settles": _feedback(_not_as_measured),
}
"""Sentence to rule, for what blocks."""

_SHOULD: dict[str, PerDomain] = {
    "likes_and_dislikes_are_possible_at_their_rates": _feedback(_cut_off),
    "users_press_as_often_as_they_should": _feedback(_too_often_or_too_rarely),
}
"""Sentence to rule, for what warns."""

EXPECTED = of_benchmark(
    "memorybench",
    (
        Expectation("feedback.sessions", "noise_stays_on_the_scale", Between("felt", LEAST, MOST)),
        *(Expectation("feedback.sessions", name, rule) for name, rule in _MUST.items()),
        *(Expectation("feedback.sessions", name, rule, "warn") for name, rule in _SHOULD.items()),
    ),
)
"""MemoryBench's own expectations."""

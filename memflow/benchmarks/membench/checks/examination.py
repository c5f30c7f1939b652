"""Blocking checks of generated questions.

An examiner recomputes the answers from the messages, without the plans. Classifiers answer without the messages.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from memflow.benchmarks.membench.config import generated
from memflow.benchmarks.membench.examination.examiner import examine
from memflow.benchmarks.membench.examination.predictability import (
    SIGNIFICANCE,
    predictable_answers,
    predictable_options,
)
from memflow.benchmarks.membench.kinds import EMOTION
from memflow.benchmarks.membench.turns import scenario_of
from memflow.checks.rules import (
    AcrossTables,
    Findings,
    PerDomain,
    Rule,
    WholeTable,
    expect,
)
from memflow.records import Probe, Turn

NAMED_REASONS = 3
"""Maximum number of reasons for missing examinations that the note of the check names."""


def find_wrong_golds(probes: Sequence[Probe], turns: Sequence[Turn]) -> Findings:
    """Return the probes with a wrong gold, several right options or insufficient evidence, each with the reason."""
    outcomes = [
        (at, each)
        for at, (probe, each) in enumerate(zip(probes, examine(probes, turns), strict=True))
        if probe.reason is None
    ]
    found = Findings({at: each.reason for at, each in outcomes if each.outcome == "wrong"})
    unread = Counter(each.reason for _, each in outcomes if each.outcome == "not examined")
    missing = unread.total()
    share = f" ({missing / len(outcomes):.1%})" if missing else ""
    reasons = "".join(f"; {count} because {reason}" for reason, count in unread.most_common(NAMED_REASONS))
    found.note = f"{len(outcomes) - missing} of {len(outcomes)} probes examined, {missing} not examined{share}{reasons}"
    return found


def find_predictable_moods(probes: Sequence[Probe]) -> Findings:
    """Return all questions about moods if their words predict the moods better than chance; otherwise nothing."""
    moods = {
        at: probe
        for at, probe in enumerate(probes)
        if probe.reason is None and scenario_of(probe.episode_id) == EMOTION
    }
    predicted = predictable_answers(list(moods.values()))
    return _predicted(moods, *predicted, "moods predicted from the words of the questions")


def find_predictable_options(probes: Sequence[Probe]) -> Findings:
    """Return all questions if the look of their options predicts the right ones better than chance; else nothing."""
    valid = {at: probe for at, probe in enumerate(probes) if probe.reason is None}
    predicted = predictable_options(list(valid.values()))
    return _predicted(valid, *predicted, "answers predicted from length, number and likeness of the options")


def _predicted(probes: Mapping[int, Probe], share: float, probability: float, what: str) -> Findings:
    text = f"{share:.1%} of {len(probes)} {what} (p = {probability:.2g})"
    found = Findings(dict.fromkeys(probes, text) if probability < SIGNIFICANCE else ())
    found.note = text
    return found


_RULES: dict[str, Rule] = {
    "gold_equals_answer_recomputed_from_messages": AcrossTables(
        ("question.probes", "utterance.turns"), find_wrong_golds
    ),
    "mood_not_predictable_from_question": WholeTable(find_predictable_moods),
    "answer_not_predictable_from_options": WholeTable(find_predictable_options),
}


def _if_generated(rule: Rule) -> PerDomain:
    """Return a rule that applies only to domains with generated data."""
    return PerDomain(lambda domain: rule if generated(domain) else None)


EXPECTED = expect("question.probes", {name: _if_generated(rule) for name, rule in _RULES.items()})
"""Checks of golds, and of what questions and options reveal."""
